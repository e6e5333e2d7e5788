/** A master, its peels and an operator in this process, over whatever ports a test has: the engine, or a real server. */
import { buckets, streams } from "../../core/buckets.ts";
import { type ClientPorts, dispatchAndFollow, type FollowEvent } from "../../core/client.ts";
import { encodePublicNkey } from "../../core/crypto/nkey.ts";
import { newEnrollmentId, newKsuid, newMasterId } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { SILENT_LOG } from "../../core/log.ts";
import { type FakeMetrics, fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import {
  type Bus,
  type Clock,
  NO_FAIL_POINTS,
  type Random,
  type Store,
  type StoreAdmin,
} from "../../core/ports.ts";
import type { Role } from "../../core/subjects.ts";
import { encodeEnrollment } from "../../core/wire/enrollment.ts";
import type { ExecRequest } from "../../core/wire/exec.ts";
import { type Job, newJob } from "../../core/wire/job.ts";
import { type MasterServices, startServices } from "../../master/services.ts";
import { emptyJournal, openJournal } from "../../peel/accept/journal.ts";
import { acceptCommands } from "../../peel/accept/service.ts";
import { execute } from "../../peel/exec/service.ts";
import { COMMAND_SIGNER, testSigner, testTrust } from "./identities.ts";
import { memoryFiles } from "./memory_files.ts";

export interface TestPorts {
  readonly bus: Bus;
  readonly store: Store;
  readonly admin: StoreAdmin;
  close(): void | Promise<void>;
}

export type Connect = (role: Role, identity: string) => Promise<TestPorts>;

export interface TestPeel {
  readonly id: string;
  readonly metrics: FakeMetrics;
  /** What it ran, in order. */
  readonly ran: ExecRequest[];
  readonly ports: TestPorts;
}

export interface TestFleet {
  readonly master: {
    readonly metrics: FakeMetrics;
    readonly ports: TestPorts;
    readonly services: MasterServices;
  };
  readonly peels: readonly TestPeel[];
  readonly client: ClientPorts;
  /** Dispatches as the operator `alice` and collects what is said about it. */
  run(
    target: string,
    name: string,
    options?: { jid?: string; timeoutMs?: number },
  ): Promise<FollowEvent[]>;
  stop(): Promise<void>;
}

export interface TestFleetOptions {
  readonly connect: Connect;
  readonly clock: Clock;
  readonly random: Random;
  /** Peels that are enrolled and never started. */
  readonly silent?: readonly string[];
}

/** Starts a fleet with these peels. */
export async function startTestFleet(
  peelIds: readonly string[],
  { connect, clock, random, silent = [] }: TestFleetOptions,
): Promise<TestFleet> {
  const trust = testTrust(["alice"]);
  const enrolled = [...peelIds, ...silent];
  await prepareStore(await connect("bootstrap", "bootstrap"), enrolled, { clock, random });
  const stops: (() => void | Promise<void>)[] = [];
  const master = await startMaster(await connect("master", "m1"));
  const peels: TestPeel[] = [];
  for (const id of peelIds) peels.push(await startPeel(id, await connect("peel", id)));
  const operator = await connect("operator", "alice");
  stops.push(() => operator.close());
  const client: ClientPorts = {
    operator: "alice",
    bus: operator.bus,
    clock,
    voice: voiceOf({ signer: testSigner("alice"), generation: 1 }, operator.bus, clock),
    keyring: keyringOf(() => trust),
  };

  async function startMaster(ports: TestPorts): Promise<TestFleet["master"]> {
    const metrics = fakeMetrics();
    const services = startServices({
      masterId: newMasterId(clock.now(), random),
      bus: ports.bus,
      store: ports.store,
      clock,
      random,
      signer: COMMAND_SIGNER,
      trust: () => trust,
      metrics,
      log: SILENT_LOG,
      failPoints: NO_FAIL_POINTS,
    });
    await until(() => services.peels.ready && services.jobs.alive.unfit() === null, "the master");
    stops.push(async () => {
      await services.stop();
      await ports.close();
    });
    return { metrics, ports, services };
  }

  async function startPeel(id: string, ports: TestPorts): Promise<TestPeel> {
    const metrics = fakeMetrics();
    const ran: ExecRequest[] = [];
    const files = memoryFiles();
    files.content.set("journal", emptyJournal());
    const acceptor = acceptCommands({
      peelId: id,
      generation: 1,
      bus: ports.bus,
      store: ports.store,
      clock,
      voice: voiceOf({ signer: testSigner(id), generation: 1 }, ports.bus, clock),
      keyring: keyringOf(() => trust),
      journal: await openJournal("journal", files, clock),
      metrics,
      log: SILENT_LOG,
      execute(request) {
        ran.push(request);
        return execute(request, { clock, peelId: id, timeoutMs: 10_000 });
      },
    });
    await ports.bus.flush(5_000);
    stops.push(async () => {
      await acceptor.stop();
      await ports.close();
    });
    return { id, metrics, ran, ports };
  }

  return {
    master,
    peels,
    client,
    async run(target, name, { jid = newKsuid(clock.now(), random), timeoutMs = 5_000 } = {}) {
      const events: FollowEvent[] = [];
      await dispatchAndFollow(
        testJob(jid, target, name, timeoutMs, clock),
        (event) => events.push(event),
        client,
      );
      return events;
    },
    async stop() {
      for (const stop of stops.reverse()) await stop();
    },
  };
}

/** A job as the CLI makes it. */
export function testJob(
  jid: string,
  target: string,
  name: string,
  timeoutMs: number,
  clock: Clock,
): Job {
  return newJob(
    { jid, function: name, args: {}, targetExpr: target, timeoutMs },
    clock.now(),
  );
}

async function prepareStore(
  ports: TestPorts,
  peelIds: readonly string[],
  { clock, random }: { clock: Clock; random: Random },
): Promise<void> {
  for (const spec of Object.values(buckets)) await ports.admin.ensureBucket(spec);
  for (const spec of Object.values(streams)) await ports.admin.ensureStream(spec);
  for (const peelId of peelIds) {
    const id = newEnrollmentId(clock.now(), random);
    const record = encodeEnrollment({
      id,
      peelId,
      publicKey: encodePublicNkey("user", testSigner(peelId).publicKey),
      curvePublicKey: "",
      state: "active",
      generation: 1,
      metadata: {},
      createdAtMs: clock.now(),
      updatedAtMs: clock.now(),
    });
    const enrollments = ports.store.bucket(buckets.enrollments.name);
    await enrollments.put(id, record);
    await enrollments.put(`peel.${peelId}`, new TextEncoder().encode(id));
  }
  await ports.close();
}

/** Waits, by turns of the event loop, until something holds. */
export async function until(holds: () => boolean, what = "it"): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`${what} did not come to hold`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
