/**
 * Which functions the targets of a job can run, as far as a master can tell: those that are shipped with this version, and
 * those that peels report from their state trees. A function that nobody has is refused before anything is stored. Pure.
 */
import { CATALOG } from "../../core/module/catalog.ts";
import { nearest } from "../../core/nearest.ts";
import { printable } from "../../core/printable.ts";
import { VERSION } from "../../core/version.ts";
import type { Refusal } from "./plan.ts";

type FactsOf = (peel: string) => Readonly<Record<string, unknown>> | undefined;

const SHIPPED: ReadonlySet<string> = new Set(CATALOG.map(({ name }) => name));

/** Why none of the targets can run it; null when one of them can, or may. */
export function functionProblem(
  name: string,
  targets: readonly string[],
  factsOf: FactsOf,
): Refusal | null {
  if (SHIPPED.has(name)) return null;
  const custom = new Set<string>();
  for (const peel of targets) {
    const reported = customFunctions(factsOf(peel));
    if (reported === null || reported.includes(name)) return null;
    reported.forEach((each) => custom.add(each));
  }
  const near = nearest(name, [...SHIPPED, ...custom]);
  return {
    code: "unknown_function",
    message: `there is no function ${printable(name)} on ${whom(targets)}`,
    fix: near === null
      ? "zester doc lists the functions; a module of the state tree is known soon after it is there"
      : `did you mean \`${printable(near)}\`?`,
  };
}

/**
 * Names of the functions in the peel's state tree; null when that cannot be told: it has not said yet, or it is of another
 * version and may be shipped with functions that this master never heard of.
 */
function customFunctions(facts: ReturnType<FactsOf>): readonly string[] | null {
  const names = facts?.["custom_functions"];
  if (!Array.isArray(names) || facts?.["zester_version"] !== VERSION) return null;
  return names.filter((each) => typeof each === "string");
}

function whom(targets: readonly string[]): string {
  return targets.length === 1 ? "this peel" : "any of these peels";
}
