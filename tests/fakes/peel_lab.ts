/** One peel over the engine on a clock that a test moves, with a master and an operator who can say anything to it. */
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { streams } from "../../core/buckets.ts";
import { grantsFor } from "../../core/grants.ts";
import { newJid } from "../../core/ids.ts";
import { ingest } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import { type Log, SILENT_LOG } from "../../core/log.ts";
import { type FakeMetrics, fakeMetrics } from "../../core/metrics.ts";
import { type SealOptions, voiceOf } from "../../core/outgoing.ts";
import { type FailPoints, NO_FAIL_POINTS, type Store } from "../../core/ports.ts";
import { type Subject, subjects } from "../../core/subjects.ts";
import { decodeAck } from "../../core/wire/ack.ts";
import { encodeExecRequest, type ExecRequest, type ExecResponse } from "../../core/wire/exec.ts";
import { decodeReturn, type Return } from "../../core/wire/return.ts";
import { emptyJournal, type Journal, openJournal } from "../../peel/accept/journal.ts";
import { acceptCommands, type Acceptor } from "../../peel/accept/service.ts";
import { COMMAND_SIGNER, testPeelKey, testSigner, testTrust } from "./identities.ts";
import { ManualClock, seededRandom, settle } from "./manual_clock.ts";
import { memoryFiles } from "./memory_files.ts";

export const LAB_PEEL = "web-01";
/** What begins with it changes something; all else only reads. */
export const MUTATING = "change.";

/** One start of the peel's process. */
export interface PeelLife {
  readonly acceptor: Acceptor;
  readonly journal: Journal;
  readonly metrics: FakeMetrics;
  /** Ends it as `kill -9` would: nothing is said and nothing written any more. */
  crash(): void;
}

export interface LifeOptions {
  readonly failPoints?: FailPoints;
  execute?(request: ExecRequest, signal: AbortSignal, timeoutMs: number): Promise<ExecResponse>;
  readonly log?: Log;
  /** Stands between the peel and its streams. */
  store?(store: Store): Store;
}

/** Makes the lab; its journal is new and empty. */
export async function peelLab() {
  const clock = new ManualClock();
  const random = seededRandom(7);
  const engine = createEngine({ clock, random });
  const trust = testTrust(["alice"], 1e15, ["dora"]);
  const keys = keyringOf(() => trust, (peel) => testPeelKey(peel));
  const files = memoryFiles();
  files.content.set("journal", emptyJournal());
  const admin = enginePorts(engine, { role: "bootstrap", identity: "b", clock });
  for (const spec of Object.values(streams)) await admin.admin.ensureStream(spec);
  const master = enginePorts(engine, { role: "master", identity: "m1", clock });
  const acks: { jid: string; timestampMs: number }[] = [];
  const returns: Return[] = [];
  const executed: string[] = [];
  function hear<P extends string>(rule: Subject<P>, take: (payload: Uint8Array) => void): void {
    master.bus.subscribe(rule.filter(), (message) => {
      const door = ingest(message, { rule, keyring: keys, nowMs: clock.now() });
      if (!door.ok) throw new Error(`the master refuses it: ${door.detail}`);
      take(door.payload);
    });
  }
  hear(subjects.ack, (payload) => acks.push(decodeAck(payload)));
  hear(subjects.return, (payload) => returns.push(decodeReturn(payload)));

  async function start(options: LifeOptions = {}): Promise<PeelLife> {
    const identity = LAB_PEEL;
    const permissions = grantsFor("peel", identity);
    const ports = enginePorts(engine, { role: "peel", identity, clock, permissions });
    let isDead = false;
    const disk = { ...files };
    for (const name of ["replace", "appendDurably"] as const) {
      disk[name] = (...given) => isDead ? new Promise(() => {}) : files[name](...given);
    }
    const metrics = fakeMetrics();
    const journal = await openJournal("journal", disk, clock);
    const acceptor = acceptCommands({
      peelId: LAB_PEEL,
      generation: 1,
      bus: ports.bus,
      store: options.store?.(ports.store) ?? ports.store,
      clock,
      voice: voiceOf({ signer: testSigner(LAB_PEEL), generation: 1 }, ports.bus, clock),
      keyring: keyringOf(() => trust),
      journal,
      metrics,
      log: options.log ?? SILENT_LOG,
      isReadOnly: (name) => Promise.resolve(!name.startsWith(MUTATING)),
      failPoints: options.failPoints ?? NO_FAIL_POINTS,
      execute(request, ...given) {
        executed.push(request.jid);
        return options.execute?.(request, ...given) ?? Promise.resolve(responseTo(request));
      },
    });
    const crash = () => {
      isDead = true;
      ports.close();
    };
    return { acceptor, journal, metrics, crash };
  }

  function requestOf(
    jid: string,
    module = "test.ping",
    change: Partial<ExecRequest> = {},
  ): Uint8Array {
    return encodeExecRequest({ jid, module, id: "", args: {}, epoch: 5n, ...change });
  }

  return {
    clock,
    engine,
    files,
    acks,
    returns,
    /** Jids in the order in which they were run, over all lives. */
    executed,
    bus: master.bus,
    store: master.store,
    start,
    requestOf,
    jid: () => newJid(clock.now(), random),
    /** Says something to the peel as the master. */
    say(payload: Uint8Array, options: SealOptions & { reply?: string } = {}): void {
      const voice = voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, master.bus, clock);
      const subject = subjects.command.of({ peel: LAB_PEEL });
      voice.say(subjects.command, subject, payload, { audience: 1, ...options });
    },
    /** Cancels as the master. */
    cancel(jid: string, signer = COMMAND_SIGNER): void {
      const voice = voiceOf({ signer, generation: 1 }, master.bus, clock);
      voice.say(subjects.jobCancel, subjects.jobCancel.of({ jid }), new Uint8Array());
    },
    /** Lets everything run that does not wait for time. */
    async settled(): Promise<void> {
      for (let turn = 0; turn < 20; turn++) await settle();
    },
  };
}

export type PeelLab = Awaited<ReturnType<typeof peelLab>>;

/** A success without any results. */
export function responseTo({ jid }: { jid: string }): ExecResponse {
  return { peelId: LAB_PEEL, jid, success: true, results: [] };
}
