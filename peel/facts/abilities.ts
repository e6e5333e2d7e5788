/** Facts about the peel itself that masters and operators ask for: the functions of its state tree, and the policy of its host. */
import {
  FACT_FUNCTIONS_MAX,
  FACT_POLICY_ROW_LENGTH_MAX,
  FACT_POLICY_ROWS_MAX,
} from "../../core/limits.ts";
import type { Policy } from "../exec/policy.ts";
import type { FactValues } from "./collect.ts";

/** What is said where no policy holds. */
export const GRANTS_ALONE = "grants alone";

export interface AbilitySources {
  /** Names of all functions, sorted. */
  names(): Promise<string[]>;
  isShipped(name: string): boolean;
  readonly policy: Policy;
}

/** `custom_functions` and `policy`. */
export async function abilityFacts(
  { names, isShipped, policy }: AbilitySources,
): Promise<FactValues> {
  const custom = (await names()).filter((name) => !isShipped(name));
  return {
    // A list that is cut would make masters refuse the rest: then none is given, and they refuse nothing.
    ...(custom.length > FACT_FUNCTIONS_MAX ? {} : { custom_functions: custom }),
    policy: policyInShort(policy),
  };
}

/** `grants alone`, or one text for each row: `deny *: write /etc/shadow, /etc/sudoers.d/**`. */
export function policyInShort(policy: Policy): string | string[] {
  const rows = (["allow", "deny"] as const).flatMap((part) => {
    const given = Object.entries(policy[part] ?? {});
    if (policy[part] !== undefined && given.length === 0) return [`${part} nothing`];
    return given.map(([module, kinds]) => cut(`${part} ${module}: ${kindsText(kinds)}`));
  });
  if (rows.length === 0) return GRANTS_ALONE;
  const more = rows.length - FACT_POLICY_ROWS_MAX;
  return more <= 0 ? rows : [...rows.slice(0, FACT_POLICY_ROWS_MAX), `and ${more} more rows`];
}

function kindsText(kinds: NonNullable<Policy["allow"]>[string]): string {
  return Object.entries(kinds).map(([kind, patterns]) => `${kind} ${patterns.join(", ")}`)
    .join("; ") || "nothing";
}

function cut(row: string): string {
  return row.length <= FACT_POLICY_ROW_LENGTH_MAX
    ? row
    : `${row.slice(0, FACT_POLICY_ROW_LENGTH_MAX - 1)}…`;
}
