/**
 * What really happened to the jobs of a run: what the store took, what peels ran, what the operator was told. Every event is
 * shown to the checkers first, so that they see it beside all that was before it.
 */
import { buckets } from "../../core/buckets.ts";
import { decodeJob, isTerminal, type Job, type JobStatus } from "../../core/wire/job.ts";
import { decodeReturn, type Return } from "../../core/wire/return.ts";
import type { PlannedJob } from "./jobs_workload.ts";
import type { World } from "./world.ts";

export type JobsEvent =
  /** The store took a record, or forgot or took an entry of the index. */
  | { on: "stored"; jid: string; job: Job; revision: bigint }
  | { on: "indexed" | "unindexed"; jid: string }
  /** The store took the wish to cancel a job. */
  | { on: "wished"; jid: string }
  /** The store took a return. */
  | { on: "kept"; jid: string; given: Return }
  /** A master has read which masters are there. */
  | { on: "looked"; master: string; live: ReadonlySet<string> }
  /** A master tells a peel to run a job. */
  | { on: "commanded"; jid: string; epoch: bigint; peel: string; master: string }
  | { on: "ran"; jid: string; epoch: bigint; peel: string }
  | { on: "finished"; jid: string; peel: string; success: boolean }
  /** A peel has it on disk that a job was canceled. */
  | { on: "tombstone"; jid: string; peel: string }
  /** What the operator is told. */
  | { on: "accepted"; jid: string; targets: readonly string[] }
  | { on: "returns"; jid: string; returns: readonly Return[] }
  | { on: "done"; jid: string; status: JobStatus; returnCount: number; successCount: number }
  | { on: "refused"; jid: string; code: string }
  | { on: "cancelAnswered"; jid: string; status: JobStatus };

/** A record as the store took it. */
export interface Revision {
  readonly job: Job;
  readonly revision: bigint;
  readonly atMs: number;
}

/** Holds a run to one promise. */
export interface JobsChecker {
  /** The invariant, as the specification numbers it, and what it says. */
  readonly name: string;
  /** Throws if an event should not have been. */
  see(event: JobsEvent, history: JobsHistory): void;
  /** Throws if the run as a whole is wrong. */
  atEnd?(history: JobsHistory): void;
}

export class JobsHistory {
  readonly world: World;
  /** The jobs that the operator means to dispatch, and those it has an id for. */
  readonly planned: readonly PlannedJob[];
  readonly asked = new Map<string, PlannedJob>();
  /** Every revision of each record, by jid. */
  readonly records = new Map<string, Revision[]>();
  /** Jobs that have a record without an end. */
  readonly open = new Set<string>();
  readonly indexed = new Set<string>();
  /** Which peels began each job, and what came of it where it came to an end. */
  readonly runs = new Map<string, Set<string>>();
  readonly finished = new Map<string, Map<string, boolean>>();
  /** Returns in the store, by jid and peel. */
  readonly kept = new Map<string, Map<string, Return>>();
  /** When the wish to cancel a job was first stored. */
  readonly wishedMs = new Map<string, number>();
  readonly tombstones = new Map<string, Set<string>>();
  readonly #checkers: readonly JobsChecker[];
  #violation: string | undefined;

  constructor(
    world: World,
    { planned, checkers }: {
      planned: readonly PlannedJob[];
      checkers: readonly JobsChecker[];
    },
  ) {
    this.world = world;
    this.planned = planned;
    this.#checkers = checkers;
  }

  get nowMs(): number {
    return this.world.nowMs;
  }

  /** Throws what was violated first. Where it is found, services might catch it. */
  check(): void {
    if (this.#violation !== undefined) throw new Error(this.#violation);
  }

  last(jid: string): Revision | undefined {
    return this.records.get(jid)?.at(-1);
  }

  runsOf(jid: string): ReadonlySet<string> {
    return this.runs.get(jid) ?? NOBODY;
  }

  /** How many of these peels did the job with success. */
  successes(jid: string): number {
    return [...this.finished.get(jid)?.values() ?? []].filter((success) => success).length;
  }

  add(event: JobsEvent): void {
    this.#ask((checker) => checker.see(event, this));
    this.#keep(event);
  }

  /** Looks back over the whole run. */
  checkAll(): void {
    this.#ask((checker) => checker.atEnd?.(this));
    for (const [jid, peels] of this.runs) {
      const cutOff = [...peels].filter((peel) => !this.finished.get(jid)?.has(peel));
      if (cutOff.length > 0) this.world.saw("work interrupted");
    }
    this.check();
  }

  #ask(look: (checker: JobsChecker) => void): void {
    for (const checker of this.#checkers) {
      try {
        look(checker);
      } catch (thrown) {
        this.#violation ??= `${checker.name}: ${thrown instanceof Error ? thrown.message : thrown}`;
      }
    }
  }

  #keep(event: JobsEvent): void {
    switch (event.on) {
      case "stored":
        return this.#keepRecord(event);
      case "indexed":
        return void this.indexed.add(event.jid);
      case "unindexed":
        return void this.indexed.delete(event.jid);
      case "wished":
        this.wishedMs.set(event.jid, this.wishedMs.get(event.jid) ?? this.nowMs);
        return;
      case "kept":
        return void within(this.kept, event.jid).set(event.given.peelId, event.given);
      case "ran":
        return void add(this.runs, event.jid, event.peel);
      case "finished":
        return void within(this.finished, event.jid).set(event.peel, event.success);
      case "tombstone":
        this.world.saw("tombstone kept");
        return void add(this.tombstones, event.jid, event.peel);
      case "done":
        return this.world.saw("operator told the end");
      case "cancelAnswered":
        return this.world.saw("cancel answered");
    }
  }

  #keepRecord({ jid, job, revision }: Extract<JobsEvent, { on: "stored" }>): void {
    const before = this.last(jid)?.job;
    if ((job.reclaimCount ?? 0) > (before?.reclaimCount ?? 0)) this.world.saw("job taken over");
    if (isTerminal(job.status)) this.world.saw(`job ${job.status}`);
    if (isTerminal(job.status)) this.open.delete(jid);
    else this.open.add(jid);
    const revisions = this.records.get(jid) ?? [];
    revisions.push({ job, revision, atMs: this.nowMs });
    this.records.set(jid, revisions);
  }

  /** Learns from the store itself, without faults, what it takes. */
  async watch(): Promise<void> {
    const { store } = this.world.truth;
    await store.bucket(buckets.jobs.name).watch(">", (event) => {
      if (event.kind === "replayed") return;
      const key = event.kind === "put" ? event.entry.key : event.key;
      const [first = "", jid] = key.split(".");
      if (first === "active" && jid !== undefined) {
        this.add({ on: event.kind === "put" ? "indexed" : "unindexed", jid });
      } else if (event.kind !== "put") return;
      else if (first === "cancel" && jid !== undefined) this.add({ on: "wished", jid });
      else if (jid === undefined) {
        const { value, revision } = event.entry;
        this.add({ on: "stored", jid: first, job: decodeJob(value), revision });
      }
    });
    await store.bucket(buckets.jobReturns.name).watch(">", (event) => {
      if (event.kind !== "put") return;
      const given = decodeReturn(event.entry.value);
      this.add({ on: "kept", jid: given.jid, given });
    });
  }

  /** A job under way that is not for this peel, if there is one. */
  strangeJob(peel: string, chance: number): string | undefined {
    const strange = [...this.open].filter((jid) => {
      const job = this.last(jid)?.job;
      return job?.status === "running" && !job.targets.includes(peel);
    });
    return strange[Math.floor(chance * strange.length)];
  }
}

const NOBODY: ReadonlySet<string> = new Set();

function add(sets: Map<string, Set<string>>, jid: string, peel: string): void {
  const set = sets.get(jid) ?? new Set();
  sets.set(jid, set.add(peel));
}

function within<T>(maps: Map<string, Map<string, T>>, jid: string): Map<string, T> {
  const map = maps.get(jid) ?? new Map<string, T>();
  maps.set(jid, map);
  return map;
}
