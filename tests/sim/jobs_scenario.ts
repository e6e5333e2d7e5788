/**
 * Masters, peels and an operator, all with their real code: jobs are dispatched while everything fails around them. What the
 * peels really ran is compared with what the store and the operator were told.
 */
import assert from "node:assert/strict";
import { buckets, streams } from "../../core/buckets.ts";
import { dispatchAndFollow } from "../../core/client.ts";
import { encodePublicNkey } from "../../core/crypto/nkey.ts";
import { newEnrollmentId, newJid, newMasterId } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { SILENT_LOG } from "../../core/log.ts";
import { fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import type { Files, Store } from "../../core/ports.ts";
import { encodeEnrollment } from "../../core/wire/enrollment.ts";
import type { ExecRequest, ExecResponse } from "../../core/wire/exec.ts";
import { decodeJob, isTerminal, type Job, newJob } from "../../core/wire/job.ts";
import { decodeReturn } from "../../core/wire/return.ts";
import { startServices } from "../../master/services.ts";
import { emptyJournal, openJournal } from "../../peel/accept/journal.ts";
import { acceptCommands } from "../../peel/accept/service.ts";
import { startHeartbeat } from "../../peel/heartbeat.ts";
import { COMMAND_SIGNER, testSigner, testTrust } from "../fakes/identities.ts";
import type { NodePorts, Program, Scenario, World } from "./world.ts";

const MASTERS = ["m1", "m2", "m3"] as const;
const PEELS = ["p1", "p2", "p3", "p4", "p5"] as const;
const OPERATOR = "alice";
const JOB_EVERY_MS = 12_000;
const JOB_TIMEOUT_MS = 90_000;
/** How long a function takes on a peel, at most: long enough to be cut off by anything. */
const WORK_MS_MAX = 15_000;
const JOURNAL = "journal";

/** Broken peels or masters, for planted bugs. */
export interface JobsVariant {
  /** Files of a peel, or something worse. */
  readonly files?: (inner: Files) => Files;
  readonly store?: (inner: Store) => Store;
  /** Peels take every request for a new one. */
  readonly forgetful?: boolean;
}

/** What the scenario hopes to see in some runs, besides faults. */
export const JOBS_SOMETIMES = [
  "job complete",
  "job partial",
  "job failed",
  "job taken over",
  "work interrupted",
  "operator told the end",
  "operator left in the dark",
] as const;

/** The scenario, with the real code or broken parts of it. */
export function jobsScenario(variant: JobsVariant = {}): Scenario {
  return {
    name: "jobs",
    summary: "three masters and five peels run an operator's jobs",
    chaosMs: 150_000,
    settleMs: 240_000,
    steadyMs: 5_000,
    async build(world) {
      for (const spec of Object.values(buckets)) await world.admin.ensureBucket(spec);
      for (const spec of Object.values(streams)) await world.admin.ensureStream(spec);
      await enrollPeels(world);
      const referee = new JobsReferee(world);
      await referee.watch();
      for (const name of MASTERS) {
        world.addNode({ name, role: "master", start: (node) => startMaster(node, variant) });
      }
      for (const name of PEELS) {
        world.addNode({ name, role: "peel", start: (node) => startPeel(node, referee, variant) });
      }
      world.addNode({
        name: OPERATOR,
        role: "operator",
        start: (node) => startOperator(node, referee),
      });
      return {
        afterEach: () => referee.check(),
        settled: () => referee.isSettled(),
        atEnd: () => referee.checkAll(),
      };
    },
  };
}

async function enrollPeels(world: World): Promise<void> {
  const random = world.random.fork("enrollments");
  for (const peelId of PEELS) {
    const id = newEnrollmentId(0, random);
    const record = encodeEnrollment({
      id,
      peelId,
      publicKey: encodePublicNkey("user", testSigner(peelId).publicKey),
      curvePublicKey: "",
      state: "active",
      generation: 1,
      metadata: {},
      createdAtMs: 0,
      updatedAtMs: 0,
    });
    await world.truth.store.bucket(buckets.enrollments.name).put(id, record);
  }
}

const trust = testTrust([OPERATOR]);

function startMaster(node: NodePorts, variant: JobsVariant): Program {
  const services = startServices({
    ...node,
    masterId: newMasterId(node.clock.now(), node.random),
    store: variant.store?.(node.store) ?? node.store,
    signer: COMMAND_SIGNER,
    trust: () => trust,
    metrics: fakeMetrics(),
    log: SILENT_LOG,
  });
  onReconnect(node, () => services.connected());
  return { stop: () => services.stop() };
}

/** What the connection's own signal does in production. */
function onReconnect({ bus, clock }: NodePorts, happen: () => void): void {
  let was = false;
  clock.every(1_000, () => {
    if (bus.connected && !was) happen();
    was = bus.connected;
  });
}

/** A peel with its real journal and acceptor; its functions only take time. */
function startPeel(node: NodePorts, referee: JobsReferee, variant: JobsVariant): Program {
  const { name: peelId, bus, clock } = node;
  const voice = voiceOf({ signer: testSigner(peelId), generation: 1 }, bus, clock);
  let stop = (): Promise<void> => Promise.resolve();
  async function begin(): Promise<void> {
    const files = diskFiles(node.disk);
    if (!node.disk.has(JOURNAL)) node.disk.set(JOURNAL, emptyJournal());
    const journal = await openJournal(JOURNAL, variant.files?.(files) ?? files, clock);
    const acceptor = acceptCommands({
      ...node,
      peelId,
      generation: 1,
      voice,
      keyring: keyringOf(() => trust),
      journal: variant.forgetful ? { ...journal, entry: () => undefined } : journal,
      metrics: fakeMetrics(),
      log: SILENT_LOG,
      isReadOnly: () => Promise.resolve(true),
      execute: (request, signal) => work(request, signal, node, referee),
    });
    startHeartbeat({ peelId, version: "sim", bus, clock, voice });
    onReconnect(node, () => acceptor.wake());
    stop = () => acceptor.stop();
  }
  void begin();
  return { stop: () => stop() };
}

async function work(
  request: ExecRequest,
  signal: AbortSignal,
  node: NodePorts,
  referee: JobsReferee,
): Promise<ExecResponse> {
  const { jid } = request;
  const peelId = node.name;
  referee.ran(jid, peelId);
  node.report(`runs ${jid}`);
  const interrupted = await node.clock.sleep(node.random.float() * WORK_MS_MAX, signal).then(
    () => false,
    () => true,
  );
  if (interrupted) {
    return { peelId, jid, success: false, results: [], error: "interrupted: stopped" };
  }
  referee.finished(jid, peelId);
  return { peelId, jid, success: true, results: [] };
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
    appendDurably: (path, bytes) =>
      write(path, new Uint8Array([...(disk.get(path) ?? []), ...bytes])),
    makeFolder: () => Promise.resolve(),
    remove(path) {
      disk.delete(path);
      return Promise.resolve();
    },
  };
}

/** Dispatches a job now and then, and notes what it is told. */
function startOperator(node: NodePorts, referee: JobsReferee): Program {
  const { bus, clock, random } = node;
  const voice = voiceOf({ signer: testSigner(OPERATOR), generation: 1 }, bus, clock);
  const ports = { ...node, operator: OPERATOR, voice, keyring: keyringOf(() => trust) };
  async function dispatch(): Promise<void> {
    const jid = newJid(clock.now(), random);
    const asked = {
      jid,
      function: "test.ping",
      args: {},
      targetExpr: "*",
      timeoutMs: JOB_TIMEOUT_MS,
    };
    node.report(`dispatches ${jid}`);
    try {
      await dispatchAndFollow(newJob(asked, clock.now()), (event) => {
        if (event.kind === "accepted") referee.acceptedByMaster(jid);
        if (event.kind === "done") referee.told(jid, event.status, event.successCount);
      }, ports);
    } catch (thrown) {
      referee.leftInTheDark();
      node.report(`is left in the dark about ${jid}: ${thrown}`);
    }
  }
  clock.every(JOB_EVERY_MS, () => {
    if (referee.isChaos) void dispatch();
  });
  return {};
}

/** Knows what really ran, and compares it with what was stored and told. */
class JobsReferee {
  readonly #world: World;
  readonly #runs = new Map<string, number>(); // by jid and peel
  readonly #finished = new Set<string>();
  readonly #records = new Map<string, Job>();
  readonly #returns = new Map<string, boolean>(); // by jid and peel: success
  readonly #active = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #told: { jid: string; status: string }[] = [];
  #violation: string | undefined;

  constructor(world: World) {
    this.#world = world;
  }

  get isChaos(): boolean {
    return this.#world.nowMs < 150_000;
  }

  async watch(): Promise<void> {
    const { store } = this.#world.truth;
    await store.bucket(buckets.jobs.name).watch(">", (event) => {
      if (event.kind === "replayed") return;
      const key = event.kind === "put" ? event.entry.key : event.key;
      if (key.startsWith("active.")) {
        if (event.kind === "put") this.#active.add(key);
        else this.#active.delete(key);
      }
      if (event.kind === "put" && !key.includes(".")) this.#stored(decodeJob(event.entry.value));
    });
    await store.bucket(buckets.jobReturns.name).watch(">", (event) => {
      if (event.kind !== "put") return;
      const given = decodeReturn(event.entry.value);
      this.#returns.set(`${given.jid} ${given.peelId}`, given.success);
      this.#expect(
        !given.success || this.#finished.has(`${given.jid} ${given.peelId}`),
        `a success of ${given.peelId} was stored for ${given.jid}, which it never finished`,
      );
    });
  }

  #stored(job: Job): void {
    const before = this.#records.get(job.jid);
    this.#expect(
      before === undefined || !isTerminal(before.status),
      `job ${job.jid} was ${before?.status}, then ${job.status}`,
    );
    this.#expect(
      before?.status !== "running" || job.status !== "claimed",
      `job ${job.jid} went back from running to claimed`,
    );
    if ((job.reclaimCount ?? 0) > (before?.reclaimCount ?? 0)) this.#world.saw("job taken over");
    if (job.status === "claimed" || job.status === "not_sent") {
      this.#expect(
        this.#runsOf(job.jid) === 0,
        `job ${job.jid} is ${job.status}, but a peel has run it`,
      );
    }
    if (isTerminal(job.status)) this.#world.saw(`job ${job.status}`);
    this.#records.set(job.jid, job);
  }

  #runsOf(jid: string): number {
    return PEELS.reduce((sum, peel) => sum + (this.#runs.get(`${jid} ${peel}`) ?? 0), 0);
  }

  /** Remembers the first violation: where it is found, services may catch what is thrown. */
  #expect(isTrue: boolean, otherwise: string): void {
    if (!isTrue) this.#violation ??= otherwise;
  }

  ran(jid: string, peel: string): void {
    const key = `${jid} ${peel}`;
    const times = (this.#runs.get(key) ?? 0) + 1;
    this.#runs.set(key, times);
    this.#expect(times === 1, `${peel} ran ${jid} ${times} times`);
    const status = this.#records.get(jid)?.status;
    this.#expect(
      status !== undefined && status !== "claimed",
      `${peel} ran ${jid} while its record said ${status}`,
    );
  }

  finished(jid: string, peel: string): void {
    this.#finished.add(`${jid} ${peel}`);
  }

  acceptedByMaster(jid: string): void {
    this.#accepted.add(jid);
  }

  /** What the operator is told as the end must be what is stored in the end, and no more than what happened. */
  told(jid: string, status: string, successCount: number): void {
    this.#world.saw("operator told the end");
    this.#told.push({ jid, status });
    const finished = PEELS.filter((peel) => this.#finished.has(`${jid} ${peel}`)).length;
    this.#expect(
      successCount <= finished,
      `${successCount} successes told of ${jid}, ${finished} happened`,
    );
  }

  leftInTheDark(): void {
    this.#world.saw("operator left in the dark");
  }

  check(): void {
    assert.ok(this.#violation === undefined, this.#violation);
  }

  /** Every job has ended, and nothing is left in the index. */
  isSettled(): boolean {
    const indexed = [...this.#active].some((key) => this.#records.has(key.slice("active.".length)));
    return this.#world.nodes.every((node) => node.isRunning) && !indexed &&
      [...this.#records.values()].every((job) => isTerminal(job.status)) &&
      [...this.#accepted].every((jid) => this.#records.has(jid));
  }

  checkAll(): void {
    for (const { jid, status, successCount = 0 } of this.#records.values()) {
      const stored = PEELS.filter((peel) => this.#returns.get(`${jid} ${peel}`) === true).length;
      assert.ok(
        successCount <= stored,
        `job ${jid} says ${successCount} successes, ${stored} are stored`,
      );
      if (status === "complete") {
        assert.equal(this.#runsOf(jid), PEELS.length, `job ${jid} is complete`);
      }
    }
    for (const { jid, status } of this.#told) {
      const stored = this.#records.get(jid)?.status;
      // Whoever heard all answers may say so before, or without, a master that stores it: it is what happened.
      const allDone = PEELS.every((peel) => this.#finished.has(`${jid} ${peel}`));
      if (status === "complete" && allDone) continue;
      assert.equal(
        stored,
        status,
        `the operator was told ${status} about ${jid}, stored is ${stored}`,
      );
    }
    for (const key of this.#runs.keys()) {
      if (!this.#finished.has(key)) this.#world.saw("work interrupted");
    }
  }
}
