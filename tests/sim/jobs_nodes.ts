/** The programs of a run of jobs: masters and peels with their real services, and an operator with the real client. */
import { buckets, streams } from "../../core/buckets.ts";
import {
  cancelJob,
  type ClientPorts,
  dispatchAndFollow,
  type FollowEvent,
} from "../../core/client.ts";
import { newJid, newMasterId } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { SILENT_LOG } from "../../core/log.ts";
import { fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import type { Bus, Clock, Files, Signer, Store } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import { decodeExecRequest, type ExecRequest, type ExecResponse } from "../../core/wire/exec.ts";
import { newJob } from "../../core/wire/job.ts";
import { encodeReturn } from "../../core/wire/return.ts";
import { startServices } from "../../master/services.ts";
import { emptyJournal, type Journal, openJournal } from "../../peel/accept/journal.ts";
import { acceptCommands, type Acceptor } from "../../peel/accept/service.ts";
import { startHeartbeat } from "../../peel/heartbeat.ts";
import { COMMAND_SIGNER, testSigner, testTrust } from "../fakes/identities.ts";
import { cheapSigner, cheapTrust } from "./cheap_keys.ts";
import type { JobsHistory } from "./jobs_history.ts";
import { LOOKS, OPERATOR, PEELS, type PlannedJob } from "./jobs_workload.ts";
import type { NodePorts, Program } from "./world.ts";

/** Broken ports of masters and peels, for planted bugs. */
export interface JobsVariant {
  readonly masterStore?: (inner: Store, clock: Clock) => Store;
  readonly masterBus?: (inner: Bus, history: JobsHistory) => Bus;
  readonly peelFiles?: (inner: Files) => Files;
  readonly journal?: (inner: Journal) => Journal;
}

// Masters know the keys of peels from their enrollment, so those are real; all others are cheap.
const trust = cheapTrust(testTrust([OPERATOR]));
const masterSigner = cheapSigner(COMMAND_SIGNER);
const operatorSigner = cheapSigner(testSigner(OPERATOR));
const peelSigners = new Map(PEELS.map((peel) => [peel, testSigner(peel)]));

/** The key of a peel; making it anew at each start would cost more than using it. */
export function peelSigner(peelId: string): Signer {
  return peelSigners.get(peelId) ?? testSigner(peelId);
}

// ---- masters -------------------------------------------------------------------------------------------------

export function startMaster(
  node: NodePorts,
  history: JobsHistory,
  variant: JobsVariant,
): Program {
  const masterId = newMasterId(node.clock.now(), node.random);
  const store = notingLooks(node.store, (live) => {
    history.add({ on: "looked", master: masterId, live });
  });
  const services = startServices({
    ...node,
    masterId,
    bus: noting(variant.masterBus?.(node.bus, history) ?? node.bus, (subject, data) => {
      const peel = subjects.command.parse(subject)?.peel;
      if (peel === undefined) return;
      const { jid, epoch } = decodeExecRequest(data);
      history.add({ on: "commanded", jid, epoch, peel, master: masterId });
    }),
    store: variant.masterStore?.(store, node.clock) ?? store,
    signer: masterSigner,
    trust: () => trust,
    metrics: fakeMetrics(),
    log: SILENT_LOG,
  });
  node.onConnected(() => services.connected());
  return { stop: () => services.stop() };
}

/** A store that tells which masters were seen in it. */
function notingLooks(inner: Store, note: (live: ReadonlySet<string>) => void): Store {
  return {
    ...inner,
    bucket(name) {
      const bucket = inner.bucket(name);
      if (name !== buckets.masterHeartbeat.name) return bucket;
      return withMethods(bucket, {
        async keys(prefix) {
          const keys = await bucket.keys(prefix);
          note(new Set(keys));
          return keys;
        },
      });
    },
  };
}

/** A bus that tells what is published on it. */
function noting(inner: Bus, note: (subject: string, data: Uint8Array) => void): Bus {
  return {
    publish(subject, data, options) {
      note(subject, data);
      inner.publish(subject, data, options);
    },
    subscribe: (subject, handler, options) => inner.subscribe(subject, handler, options),
    request: (subject, data, options) => inner.request(subject, data, options),
    flush: (timeoutMs) => inner.flush(timeoutMs),
    inbox: () => inner.inbox(),
    get connected() {
      return inner.connected;
    },
  };
}

// ---- peels ---------------------------------------------------------------------------------------------------

/** How long a function takes on a peel, at most: long enough to be cut off by anything. */
const WORK_MS_MAX = { short: 5_000, long: 60_000 };
const FAILURE_CHANCE = 0.1;
const JOURNAL = "journal";
const STRAY_EVERY_MS = 5_000;

export interface SimPeel extends Program {
  /** Nothing runs, and the stream has every return. */
  isIdle(): boolean;
}

/** A peel with its real journal and acceptor; its functions only take time. */
export function startPeel(
  node: NodePorts,
  history: JobsHistory,
  variant: JobsVariant,
): SimPeel {
  const { name: peelId, bus, clock } = node;
  const voice = voiceOf({ signer: peelSigner(peelId), generation: 1 }, bus, clock);
  let acceptor: Acceptor | undefined;
  async function begin(): Promise<void> {
    const files = diskFiles(node.disk);
    if (!node.disk.has(JOURNAL)) node.disk.set(JOURNAL, emptyJournal());
    const journal = noteTombstones(
      await openJournal(JOURNAL, variant.peelFiles?.(files) ?? files, clock),
      (jid) => history.add({ on: "tombstone", jid, peel: peelId }),
    );
    acceptor = acceptCommands({
      ...node,
      peelId,
      generation: 1,
      voice,
      keyring: keyringOf(() => trust),
      journal: variant.journal?.(journal) ?? journal,
      metrics: fakeMetrics(),
      log: SILENT_LOG,
      isReadOnly: (name) => Promise.resolve(name === LOOKS),
      execute: (request, signal) => work(request, signal, node, history),
    });
    if (BEATING.has(peelId)) startHeartbeat({ peelId, version: "sim", bus, clock, voice });
    node.onConnected(() => acceptor?.wake());
    if (isStray(peelId)) clock.every(STRAY_EVERY_MS, () => void answerForOthers());
  }
  /** Answers a job that was never for it, as a peel that was broken into may. */
  async function answerForOthers(): Promise<void> {
    const jid = history.strangeJob(peelId, node.random.float());
    if (jid === undefined || !bus.connected) return;
    const timestampMs = clock.now();
    const ack = encodeAck({ jid, peelId, timestampMs });
    voice.say(subjects.ack, subjects.ack.of({ jid, peel: peelId }), ack);
    const given = { jid, peelId, success: true, returnData: null, durationMs: 1, timestampMs };
    const subject = subjects.return.of({ jid, peel: peelId });
    const payload = encodeReturn(given);
    const headers = voice.headers(subjects.return, subject, payload);
    await node.store.stream(streams.jobEvents.name).append(subject, payload, { headers });
    history.world.saw("stranger answered");
  }
  void begin();
  return {
    stop: () => acceptor?.stop() ?? Promise.resolve(),
    isIdle() {
      const { jobs = [NOT_STARTED], unstored = 0 } = acceptor?.running() ?? {};
      return jobs.length === 0 && unstored === 0;
    },
  };
}

const NOT_STARTED = {};
/** Who is there is only shown, and decides nothing about a job: a few say it, since each word of it costs a run dear. */
const BEATING = new Set(PEELS.slice(0, 4));

/** Two of the twenty. */
function isStray(peelId: string): boolean {
  return peelId === "p7" || peelId === "p13";
}

/** The journal as it is, and a word about each cancel that it has on disk. */
function noteTombstones(journal: Journal, note: (jid: string) => void): Journal {
  return withMethods(journal, {
    async cancel(jid, issuedMs) {
      await journal.cancel(jid, issuedMs);
      note(jid);
    },
  });
}

/** The same object with some methods replaced; what it computes anew each time stays so. */
export function withMethods<T extends object>(inner: T, changes: Partial<T>): T {
  return Object.assign(Object.create(inner), changes);
}

async function work(
  { jid, epoch }: ExecRequest,
  signal: AbortSignal,
  node: NodePorts,
  history: JobsHistory,
): Promise<ExecResponse> {
  const peelId = node.name;
  history.add({ on: "ran", jid, epoch, peel: peelId });
  node.report(`runs ${jid}`);
  const workMs = node.random.float() * WORK_MS_MAX[history.asked.get(jid)?.work ?? "short"];
  const isInterrupted = await node.clock.sleep(workMs, signal).then(() => false, () => true);
  const failed = { peelId, jid, success: false, results: [] };
  if (isInterrupted) return { ...failed, error: "interrupted: stopped" };
  const success = node.random.float() >= FAILURE_CHANCE;
  history.add({ on: "finished", jid, peel: peelId, success });
  return success ? { ...failed, success } : { ...failed, error: "it did not work" };
}

/** Files that are there at once or not at all, which is what the port promises. */
function diskFiles(disk: Map<string, Uint8Array>): Files {
  const write = (path: string, bytes: Uint8Array): Promise<void> => {
    disk.set(path, bytes);
    return Promise.resolve();
  };
  return {
    read: (path) => Promise.resolve(disk.get(path) ?? null),
    replace: write,
    appendDurably(path, bytes) {
      const before = disk.get(path) ?? new Uint8Array();
      const joined = new Uint8Array(before.length + bytes.length);
      joined.set(before);
      joined.set(bytes, before.length);
      return write(path, joined);
    },
    makeFolder: () => Promise.resolve(),
    remove(path) {
      disk.delete(path);
      return Promise.resolve();
    },
  };
}

// ---- the operator --------------------------------------------------------------------------------------------

/** How often the operator tries before giving a job, or its cancel, up; and how long it waits in between. */
const TRIES = 4;
const RETRY_MS_MAX = 8_000;

/** Dispatches the planned jobs at their time, cancels some, and notes what it is told. A crash makes it try again. */
export function startOperator(node: NodePorts, history: JobsHistory): Program {
  const { bus, clock, random } = node;
  const voice = voiceOf({ signer: operatorSigner, generation: 1 }, bus, clock);
  const ports = { ...node, operator: OPERATOR, voice, keyring: keyringOf(() => trust) };
  async function pause(): Promise<void> {
    do await clock.sleep(random.float() * RETRY_MS_MAX); while (!bus.connected);
  }

  async function dispatch(planned: PlannedJob): Promise<void> {
    const jid = planned.jid ??= newJid(clock.now(), random);
    history.asked.set(jid, planned);
    const { cancelAfterMs } = planned;
    if (cancelAfterMs !== null && !planned.isCancelSent) {
      clock.after(cancelAfterMs, () => void cancel(planned, jid));
    }
    for (let tries = 0; tries < TRIES && !planned.isOver; tries++) {
      planned.isOver = await dispatchOnce(planned, jid);
      if (!planned.isOver) await pause();
    }
    planned.isOver = true;
  }

  async function dispatchOnce(planned: PlannedJob, jid: string): Promise<boolean> {
    const { asked } = planned;
    planned.tries++;
    node.report(`dispatches ${jid} to ${asked.targetExpr}`);
    try {
      const job = newJob({ ...asked, jid }, clock.now());
      await dispatchAndFollow(job, (event) => note(planned, event, history), ports);
      return true;
    } catch (thrown) {
      history.world.saw("operator left in the dark");
      node.report(`is left in the dark about ${jid}: ${thrown}`);
      return false;
    }
  }

  async function cancel(planned: PlannedJob, jid: string): Promise<void> {
    planned.isCancelSent = true;
    for (let tries = 0; tries < TRIES; tries++) {
      if (await cancelOnce(jid, node, ports, history)) return;
      await pause();
    }
  }

  for (const planned of history.planned) {
    if (planned.isOver) continue;
    clock.after(planned.atMs - history.nowMs, () => void dispatch(planned));
  }
  return {};
}

async function cancelOnce(
  jid: string,
  node: NodePorts,
  ports: ClientPorts,
  history: JobsHistory,
): Promise<boolean> {
  node.report(`cancels ${jid}`);
  try {
    const { status } = await cancelJob(jid, ports);
    node.report(`is told that the cancel of ${jid} was taken while it was ${status}`);
    history.add({ on: "cancelAnswered", jid, status });
    return true;
  } catch (thrown) {
    node.report(`knows nothing about its cancel of ${jid}: ${thrown}`);
    return false;
  }
}

function note({ jid, tries }: PlannedJob, event: FollowEvent, history: JobsHistory): void {
  if (jid === null) return;
  switch (event.kind) {
    case "accepted":
      return history.add({ on: "accepted", jid, targets: event.targets });
    case "returns":
      return history.add({ on: "returns", jid, returns: event.returns });
    case "done": {
      const { status, returnCount, successCount } = event;
      return history.add({ on: "done", jid, status, returnCount, successCount });
    }
    case "refused":
      // That another request of the same job was taken before is not what is refused.
      return tries === 1
        ? history.add({ on: "refused", jid, code: event.code })
        : history.world.saw("operator left in the dark");
  }
}
