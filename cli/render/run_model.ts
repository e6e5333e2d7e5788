/** What is known of a run, from the events that came in. Decides nothing but who did what; drawing is elsewhere. */
import { displayPeelId } from "../../core/ids.ts";
import { reasonOf } from "../../core/return_reason.ts";

/** One result of a function or state, as it came back. */
export interface RunResult {
  readonly name: string;
  readonly changed: boolean;
  readonly diff: string;
  readonly durationMs: number;
  readonly details: Readonly<Record<string, string>>;
  readonly error?: string | undefined;
  readonly skipped?: boolean | undefined;
  readonly skipReason?: string | undefined;
}

/** What one peel gave back. */
export interface RunReturn {
  readonly peelId: string;
  readonly success: boolean;
  readonly error?: string | undefined;
  readonly durationMs: number;
  /** True on a return that a master made up for a peel it could not reach. */
  readonly unreachable?: boolean | undefined;
  readonly returnData?:
    | {
      readonly results: readonly RunResult[];
      /** It was a dry run: what changed would change. */
      readonly test?: boolean | undefined;
    }
    | null
    | undefined;
}

/** The events of a run that the CLI understands; what masters send fits this. */
export type RunEvent =
  | {
    readonly kind: "accepted";
    readonly jid: string;
    readonly targets: readonly string[];
    /** How many there are in all, where the list comes in parts. */
    readonly matched?: number | undefined;
    /** Null in direct mode. */
    readonly master: string | null;
    readonly user?: string | undefined;
    /** Of these targets, those that were not there at dispatch. */
    readonly offline?: readonly string[] | undefined;
    /** Of these targets, those of which the master cannot tell. */
    readonly unheard?: readonly string[] | undefined;
    /** How many peels are enrolled; with it the master knows who is offline. */
    readonly enrolled?: number | undefined;
  }
  | { readonly kind: "alive" }
  | { readonly kind: "acks"; readonly peels: readonly string[] }
  | { readonly kind: "returns"; readonly returns: readonly RunReturn[] }
  | {
    readonly kind: "done";
    readonly status: string;
    readonly missing: readonly { readonly peel: string; readonly reason: string }[];
  }
  | {
    readonly kind: "refused";
    readonly code: string;
    readonly message: string;
    readonly fix?: string | undefined;
  };

/** Why a peel is silent, as far as can be told from here; a master may know more. */
export const SILENCE = {
  no_ack: "no answer",
  no_return: "took the job, then no answer",
  unreachable: "could not be reached",
  lost: "answered, but the answer did not arrive here",
  unknown: "not known: nothing was heard of it before the run was given up",
} as const;
export type Silence = keyof typeof SILENCE;

/** What became of one peel. */
export interface Outcome {
  /** In display form. */
  readonly peel: string;
  readonly status: "ok" | "changed" | "failed" | "canceled" | "silent";
  readonly results: readonly RunResult[];
  /** What the peel, or for a silent one the master, says about it. */
  readonly error?: string;
  readonly silence?: Silence;
  readonly durationMs: number;
  /** It came after the job had ended. */
  readonly late?: boolean;
  /** It was a dry run: `changed` means "would change". */
  readonly test?: boolean;
}

export interface RunSummary {
  readonly matched: number;
  readonly ok: number;
  readonly changed: number;
  readonly failed: number;
  /** Peels that ended it because it was canceled. */
  readonly canceled: number;
  readonly silent: number;
  /** The job as a whole was canceled. */
  readonly cancelled: boolean;
  /** It was a dry run: `changed` counts who would change. */
  readonly test: boolean;
}

type Refusal = Extract<RunEvent, { kind: "refused" }>;

/** The state of one run. */
export interface Run {
  jid: string | null;
  master: string | null;
  user: string | null;
  targets: readonly string[];
  /** How many targets there will be once all parts of the list are here. */
  matched: number;
  /** Peels of the fleet; null when nobody said. */
  enrolled: number | null;
  readonly offline: Set<string>;
  /** Of whom nobody can tell whether they are there. */
  readonly unheard: Set<string>;
  status: string | null;
  /** Whether it is known to be a dry run. */
  test: boolean;
  refusal: Refusal | null;
  /** Who took the job, and when that was heard. */
  readonly acked: Map<string, number>;
  readonly outcomes: Map<string, Outcome>;
  /** Kept as outcomes come in: counting them anew at every event would cost the square of the fleet. */
  readonly counts: Record<Outcome["status"], number>;
}

/** A run of which nothing is known yet. */
export function newRun(): Run {
  return {
    jid: null,
    master: null,
    user: null,
    targets: [],
    matched: 0,
    enrolled: null,
    offline: new Set(),
    unheard: new Set(),
    status: null,
    test: false,
    refusal: null,
    acked: new Map(),
    outcomes: new Map(),
    counts: { ok: 0, changed: 0, failed: 0, canceled: 0, silent: 0 },
  };
}

/** Takes one event in; gives the outcomes that it made known. `nowMs` is a monotonic time. */
export function takeEvent(run: Run, event: RunEvent, nowMs = 0): Outcome[] {
  switch (event.kind) {
    case "accepted":
      run.jid = event.jid;
      run.master = event.master;
      run.user = event.user ?? run.user;
      run.enrolled = event.enrolled ?? run.enrolled;
      for (const peel of event.offline ?? []) run.offline.add(peel);
      for (const peel of event.unheard ?? []) run.unheard.add(peel);
      // A long list comes in parts, and another master may say it all again.
      run.targets = run.targets.length === 0
        ? event.targets
        : [...new Set([...run.targets, ...event.targets])];
      run.matched = Math.max(event.matched ?? 0, run.targets.length);
      return [];
    case "alive":
      return [];
    case "acks":
      for (const peel of event.peels) run.acked.set(peel, run.acked.get(peel) ?? nowMs);
      return [];
    case "returns":
      return event.returns.flatMap((given) => settle(run, given.peelId, outcomeOf(given)));
    case "done":
      run.status = event.status;
      return [
        ...event.missing.flatMap(({ peel, reason }) =>
          settle(run, peel, { ...silentOutcome(run, peel), error: reason })
        ),
        ...lostOutcomes(run),
      ];
    case "refused":
      run.refusal = event;
      return [];
  }
}

/** Whoever is neither here nor called missing has answered, and the answer was lost on the way: it may say anything. */
function lostOutcomes(run: Run): Outcome[] {
  return run.targets.flatMap((peel) =>
    settle(run, peel, { ...silentOutcome(run, peel), silence: "lost" })
  );
}

/** Gives up on whoever has not answered: for a run whose end will not be heard. */
export function giveUp(run: Run): Outcome[] {
  return run.targets.flatMap((peel) => {
    const outcome = silentOutcome(run, peel);
    const silence = outcome.silence === "no_ack" ? "unknown" : outcome.silence;
    return settle(run, peel, silence === undefined ? outcome : { ...outcome, silence });
  });
}

/** Targets that were there at dispatch; null when nobody said. */
export function onlineCount({ enrolled, matched, offline, unheard }: Run): number | null {
  return enrolled === null ? null : matched - offline.size - unheard.size;
}

/** The first word of a peel counts; a repeat changes nothing. Only a master's guess gives way to the peel's own word. */
function settle(run: Run, peel: string, outcome: Outcome): Outcome[] {
  const before = run.outcomes.get(peel);
  if (before !== undefined) {
    if (before.silence !== "unreachable" || outcome.status === "silent") return [];
    run.counts[before.status]--;
  }
  run.outcomes.set(peel, outcome);
  run.test ||= outcome.test ?? false;
  run.counts[outcome.status]++;
  return [outcome];
}

/** What a return says of its peel. */
export function outcomeOf(given: RunReturn): Outcome {
  const { peelId, durationMs, error } = given;
  const results = given.returnData?.results ?? [];
  const test = given.returnData?.test ? { test: true } : {};
  const common = { peel: displayPeelId(peelId), results, durationMs, ...test };
  const why = error === undefined || error === "" ? {} : { error };
  if (given.unreachable) return { ...common, ...why, status: "silent", silence: "unreachable" };
  if (!given.success || "error" in why) {
    const canceled = reasonOf(error) === "canceled";
    return { ...common, ...why, status: canceled ? "canceled" : "failed" };
  }
  return { ...common, status: results.some(({ changed }) => changed) ? "changed" : "ok" };
}

function silentOutcome({ acked }: Run, peel: string): Outcome {
  const silence = acked.has(peel) ? "no_return" : "no_ack";
  return { peel: displayPeelId(peel), status: "silent", silence, results: [], durationMs: 0 };
}

/** What it adds up to so far. */
export function summarize({ targets, counts, status, test }: Run): RunSummary {
  return { matched: targets.length, ...counts, cancelled: status === "canceled", test };
}

/** Outcomes by peel, `peel-2` before `peel-10`. */
export function sortedOutcomes(run: Run): Outcome[] {
  return [...run.outcomes.values()].sort((a, b) => comparePeels(a.peel, b.peel));
}

/** Order of peels on screen: `peel-2` before `peel-10`. */
export function comparePeels(a: string, b: string): number {
  return (collator ??= new Intl.Collator("en", { numeric: true })).compare(a, b);
}

let collator: Intl.Collator | undefined;
