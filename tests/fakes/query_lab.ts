/** A master that only answers questions, an operator, and a store that a test fills by hand, on the in-process engine. */
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets, streams } from "../../core/buckets.ts";
import type { ClientPorts } from "../../core/client.ts";
import { grantsFor } from "../../core/grants.ts";
import { newMasterId } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { SILENT_LOG } from "../../core/log.ts";
import { type FakeMetrics, fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import { type Bus, NO_FAIL_POINTS, type Store } from "../../core/ports.ts";
import { builtInRoles } from "../../core/roles.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import { encodeJob, type Job, newJob } from "../../core/wire/job.ts";
import { encodeReturn, type Return } from "../../core/wire/return.ts";
import { jobStore } from "../../master/jobs/store.ts";
import type { QueryPorts } from "../../master/query/ports.ts";
import { type QueryService, takeQueries } from "../../master/query/service.ts";
import { COMMAND_SIGNER, testPeelKey, testSigner, testTrust } from "./identities.ts";
import { ManualClock, seededRandom } from "./manual_clock.ts";

export interface QueryLab {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly metrics: FakeMetrics;
  readonly ports: QueryPorts;
  readonly service: QueryService;
  readonly client: ClientPorts;
  /** A bus of anybody else, with the permissions that go with it. */
  busOf(role: "operator" | "peel", identity: string): Bus;
  /** Stores the record of a job. */
  putJob(job: Partial<Job> & Pick<Job, "jid">): Promise<Job>;
  /** Stores a return as the job's owner does. */
  putReturn(jid: string, peelId: string, change?: Partial<Return>): Promise<void>;
  /** Publishes a return as the peel itself does: it goes to whoever listens, and into the stream. */
  sayReturn(jid: string, peelId: string, change?: Partial<Return>): void;
  sayAck(jid: string, peelId: string): void;
}

/** Sets it up with these peels enrolled; `seen` and `facts` are what the master knows of them. */
export async function queryLab(
  peelIds: readonly string[],
  known: Partial<Pick<QueryPorts, "seen" | "facts" | "authorizer">> = {},
): Promise<QueryLab> {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const engine = createEngine({ clock, random });
  const connect = (role: "master" | "operator" | "peel" | "bootstrap", identity: string) =>
    enginePorts(engine, { role, identity, clock, permissions: grantsFor(role, identity) });
  const { admin } = connect("bootstrap", "bootstrap");
  for (const spec of Object.values(buckets)) await admin.ensureBucket(spec);
  for (const spec of Object.values(streams)) await admin.ensureStream(spec);
  const trust = testTrust(["alice"]);
  const { bus, store } = connect("master", "m1");
  const metrics = fakeMetrics();
  const ports: QueryPorts = {
    masterId: newMasterId(clock.now(), random),
    bus,
    store,
    jobs: jobStore(store, clock, random),
    clock,
    voice: voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, bus, clock),
    keyring: keyringOf(
      () => trust,
      (peel) => peelIds.includes(peel) ? testPeelKey(peel) : undefined,
    ),
    authorizer: builtInRoles,
    failPoints: NO_FAIL_POINTS,
    metrics,
    log: SILENT_LOG,
    peelIds: () => [...peelIds],
    seen: () => ({ presence: "online" }),
    ...known,
  };
  const operator = connect("operator", "alice");
  const given = (jid: string, peelId: string, change: Partial<Return>): Uint8Array =>
    encodeReturn({
      jid,
      peelId,
      success: true,
      returnData: null,
      durationMs: 5,
      timestampMs: clock.now(),
      ...change,
    });
  const voiceOfPeel = (peel: string) =>
    voiceOf({ signer: testSigner(peel), generation: 1 }, connect("peel", peel).bus, clock);
  return {
    clock,
    store,
    metrics,
    ports,
    service: takeQueries(ports),
    client: {
      operator: "alice",
      bus: operator.bus,
      clock,
      voice: voiceOf({ signer: testSigner("alice"), generation: 1 }, operator.bus, clock),
      keyring: keyringOf(() => trust),
    },
    busOf: (role, identity) => connect(role, identity).bus,
    async putJob(change) {
      const asked = { function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 60_000 };
      const fresh = newJob({ ...asked, jid: change.jid }, clock.now());
      const deadlineMs = clock.now() + 60_000;
      const job: Job = { ...fresh, status: "running", user: "alice", deadlineMs, ...change };
      await store.bucket(buckets.jobs.name).put(job.jid, encodeJob(job));
      return job;
    },
    async putReturn(jid, peelId, change = {}) {
      const bytes = given(jid, peelId, change);
      await store.bucket(buckets.jobReturns.name).put(`${jid}.${peelId}`, bytes);
    },
    sayReturn(jid, peelId, change = {}) {
      const subject = subjects.return.of({ jid, peel: peelId });
      voiceOfPeel(peelId).say(subjects.return, subject, given(jid, peelId, change));
    },
    sayAck(jid, peelId) {
      const payload = encodeAck({ jid, peelId, timestampMs: clock.now() });
      const subject = subjects.ack.of({ jid, peel: peelId });
      voiceOfPeel(peelId).say(subjects.ack, subject, payload);
    },
  };
}
