/** Masters with their jobs over the engine, on a clock that a test moves, with peels that answer as they are told to. */
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets, streams } from "../../core/buckets.ts";
import { newJid, newMasterId } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { memoryLog } from "../../core/log.ts";
import { type FakeMetrics, fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import {
  type Bus,
  type Clock,
  type FailPoints,
  NO_FAIL_POINTS,
  type Store,
} from "../../core/ports.ts";
import { builtInRoles } from "../../core/roles.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeFollow, type FollowEvent } from "../../core/wire/follow.ts";
import { decodeJobEvent, type JobEvent } from "../../core/wire/job_event.ts";
import { encodeJob, type Job, newJob } from "../../core/wire/job.ts";
import { type Jobs, startJobs } from "../../master/jobs/service.ts";
import { jobStore } from "../../master/jobs/store.ts";
import { type FakePeel, fakePeel } from "./fake_peel.ts";
import { COMMAND_SIGNER, testPeelKey, testSigner, testTrust } from "./identities.ts";
import { ManualClock, seededRandom } from "./manual_clock.ts";

export interface LabMaster {
  readonly id: string;
  readonly jobs: Jobs;
  readonly metrics: FakeMetrics;
  readonly log: ReturnType<typeof memoryLog>;
  /** As kill -9: it says and does nothing any more. */
  die(): void;
}

export interface LabMasterOptions {
  readonly failPoints?: FailPoints;
  /** Stands between this master and the store. */
  store?(store: Store): Store;
  /** Stands between this master and the bus. */
  bus?(bus: Bus): Bus;
}

export type JobsLab = Awaited<ReturnType<typeof jobsLab>>;

/** Sets it up. Every job is for `targets`; the first three of them answer. */
export async function jobsLab(targets: readonly string[] = ["a", "b", "c"]) {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const engine = createEngine({ clock, random });
  const outside = enginePorts(engine, { role: "bootstrap", identity: "lab", clock });
  for (const spec of Object.values(buckets)) await outside.admin.ensureBucket(spec);
  for (const spec of Object.values(streams)) await outside.admin.ensureStream(spec);
  const trust = testTrust(["alice"]);
  const peels = Object.fromEntries(
    targets.slice(0, 3).map((id): [string, FakePeel] => {
      const { bus } = enginePorts(engine, { role: "peel", identity: id, clock });
      return [id, fakePeel(id, bus, clock)];
    }),
  );
  const operator = enginePorts(engine, { role: "operator", identity: "alice", clock });
  const records = jobStore(outside.store, clock, random);

  function master(options: LabMasterOptions = {}): LabMaster {
    const id = newMasterId(clock.now(), random);
    const ports = enginePorts(engine, { role: "master", identity: id, clock });
    const life = { isOver: false };
    const bus = options.bus?.(ports.bus) ?? ports.bus;
    const metrics = fakeMetrics();
    const log = memoryLog();
    const jobs = startJobs({
      masterId: id,
      bus,
      store: options.store?.(ports.store) ?? ports.store,
      clock: clockOf(life, clock),
      random,
      voice: voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, bus, clock),
      keyring: keyringOf(() => trust, (peel) => testPeelKey(peel)),
      authorizer: builtInRoles,
      metrics,
      log,
      failPoints: options.failPoints ?? NO_FAIL_POINTS,
      peelKey: (peel) => testPeelKey(peel),
      isOnline: () => true,
      resolve: () => ({ targets }),
      followElsewhere: () => {},
    });
    const die = () => {
      life.isOver = true;
      ports.close();
    };
    return { id, jobs, metrics, log, die };
  }

  /** Asks for a job as the operator does; `clockOffMs` is how far the operator's clock is off. */
  function dispatch(
    change: Partial<Job> = {},
    clockOffMs = 0,
  ): { jid: string; told: FollowEvent[] } {
    const jid = change.jid ?? newJid(clock.now(), random);
    const asked = { jid, function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 0 };
    const payload = encodeJob({ ...newJob(asked, clock.now() + clockOffMs), ...change });
    const inbox = operator.bus.inbox();
    const told: FollowEvent[] = [];
    operator.bus.subscribe(inbox, (message) => told.push(decodeFollow(message.data)));
    const subject = subjects.dispatch.of({ operator: "alice" });
    voiceOf({ signer: testSigner("alice"), generation: 1 }, operator.bus, clock)
      .say(subjects.dispatch, subject, payload, { reply: inbox });
    return { jid, told };
  }

  /** Cancels as a master does that was asked to: the wish is stored, then told to everybody. */
  async function cancel(jid: string, by = "alice"): Promise<void> {
    await records.requestCancel(jid, by);
    voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, outside.bus, clock)
      .say(subjects.jobCancel, subjects.jobCancel.of({ jid }), new Uint8Array());
  }

  return {
    clock,
    store: outside.store,
    peels,
    cancel,
    /** The records of jobs, written and read past all masters. */
    records,
    master,
    dispatch,
    behave(behaviour: FakePeel["behaviour"]): void {
      for (const peel of Object.values(peels)) peel.behaviour = behaviour;
    },
    /** Lifecycle events of a job in the stream, oldest first: how it was dispatched and how it ended. */
    async events(jid: string): Promise<{ subject: string; event: JobEvent }[]> {
      const stream = outside.store.stream(streams.jobEvents.name);
      const { firstSequence, lastSequence } = await stream.info();
      const found: { subject: string; event: JobEvent }[] = [];
      for (let at = firstSequence; at <= lastSequence; at++) {
        const message = await stream.get(at);
        const [, , of, verb, ...more] = message?.subject.split(".") ?? [];
        if (message === null || of !== jid || more.length > 0 || verb === "cancel") continue;
        found.push({ subject: message.subject, event: decodeJobEvent(message.data) });
      }
      return found;
    },
    /** Lets time pass in steps of at most `stepMs`. */
    later: (ms: number, stepMs = 250) => clock.advanceSettling(ms, Math.min(ms, stepMs)),
  };
}

/** A clock whose timers stop for good when a life is over. */
function clockOf(life: { readonly isOver: boolean }, clock: Clock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: (ms, callback) => clock.after(ms, () => void (life.isOver || callback())),
    every: (ms, callback) => clock.every(ms, () => void (life.isOver || callback())),
    async sleep(ms, signal) {
      await clock.sleep(ms, signal);
      if (life.isOver) await new Promise(() => {});
    },
  };
}
