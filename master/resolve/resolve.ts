/** Who matches a target: the one answer that dispatch, the resolve service and everything else on a master share. */
import { type ErrorCode, isZesterError } from "../../core/errors.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Clock } from "../../core/ports.ts";
import { explainTarget } from "../../core/target/explain.ts";
import { type TargetExpr, usesFacts } from "../../core/target/expr.ts";
import { matchTarget } from "../../core/target/match.ts";
import { parseTarget, type TargetGroups } from "../../core/target/parse.ts";
import { type PeelIndex, peelIndexOf } from "../../core/target/peel_index.ts";
import type { FactsDirectory } from "../facts/directory.ts";
import type { PeelDirectory } from "../peels/directory.ts";

export interface ResolvePorts {
  /** Who is enrolled: nobody else exists for a target. */
  readonly directory: Pick<PeelDirectory, "ready" | "ids" | "key">;
  readonly facts: Pick<FactsDirectory, "ready" | "index">;
  readonly groups: TargetGroups;
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: Pick<Metrics, "targetingSeconds">;
}

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix?: string;
}

/** Ids of those that match, sorted; or why there are none: the target is wrong, nobody matches it, or it is too early to say. */
export function resolveTarget(
  text: string,
  ports: ResolvePorts,
): { targets: string[] } | { refusal: Refusal } {
  const resolved = resolve(text, ports);
  return "refusal" in resolved ? resolved : { targets: resolved.targets };
}

type Resolved = { targets: string[]; target: TargetExpr; index: PeelIndex };

/** The same with what it was made from, for whoever has more to ask. */
export function resolve(text: string, ports: ResolvePorts): Resolved | { refusal: Refusal } {
  const { clock, metrics } = ports;
  const startedMs = clock.monotonic();
  const resolved = attempt(text, ports);
  metrics.targetingSeconds.observe((clock.monotonic() - startedMs) / 1_000);
  return resolved;
}

function attempt(text: string, ports: ResolvePorts): Resolved | { refusal: Refusal } {
  const { groups } = ports;
  try {
    const index = indexOf(ports);
    const target = parseTarget(text, { groups });
    if (!isKnown(target, ports)) return { refusal: TOO_EARLY };
    const targets = matchTarget(target, index);
    if (targets.length > 0) return { targets, target, index };
    const { message, fix } = explainTarget(target, index, { groups });
    return { refusal: refusalOf("nobody_matches", message, fix) };
  } catch (thrown) {
    if (!isZesterError(thrown, "bad_target")) throw thrown;
    return { refusal: refusalOf(thrown.code, thrown.message, thrown.fix) };
  }
}

const TOO_EARLY: Refusal = {
  code: "busy",
  message: "this master has just started and has not read yet what it needs to say who matches",
  fix: "ask again in a moment",
};

/** Without facts, `not G@env:prod` would be everybody. */
function isKnown({ root }: TargetExpr, { directory, facts }: ResolvePorts): boolean {
  return directory.ready && (facts.ready || !usesFacts(root));
}

function indexOf({ directory, facts }: ResolvePorts): PeelIndex {
  const has = (id: string) => directory.key(id) !== undefined;
  return peelIndexOf({ ids: () => directory.ids(), has }, facts.index);
}

function refusalOf(code: ErrorCode, message: string, fix: string | undefined): Refusal {
  return fix === undefined ? { code, message } : { code, message, fix };
}
