/** The enrolled peels, and which of them were heard from lately. */
import { ZesterError } from "../../core/errors.ts";
import { displayPeelId } from "../../core/ids.ts";
import { FACT_FUNCTIONS_MAX, FACT_POLICY_ROW_LENGTH_MAX } from "../../core/limits.ts";
import { nearest } from "../../core/nearest.ts";
import type { PeelRow } from "../../core/wire/query.ts";
import { rowLimit } from "./page.ts";
import type { Answerer, QueryPorts } from "./ports.ts";

export const answerPeels: Answerer<"peels"> = ({ limit, after = "" }, ports) => {
  const ids = ports.peelIds().filter((peel) => peel > after);
  const page = ids.slice(0, rowLimit(limit));
  const next = page.length < ids.length ? page.at(-1) : undefined;
  return Promise.resolve({
    kind: "peels",
    peels: page.map((peel) => rowOf(peel, ports)),
    ...(next === undefined ? {} : { next }),
  });
};

function rowOf(peel: string, ports: QueryPorts): PeelRow {
  const { presence, lastSeenMs, version } = ports.seen(peel);
  const facts = ports.facts?.(peel) ?? {};
  const word = (key: string) =>
    typeof facts[key] === "string" ? facts[key].slice(0, WORD_LENGTH) : undefined;
  return { peel, presence, lastSeenMs, version, os: word("os"), arch: word("arch") };
}

/** Peels choose their facts: a row stays a row. */
const WORD_LENGTH = 64;

/** What a peel says that it may and can do beyond the usual. */
function abilitiesOf(
  facts: Readonly<Record<string, unknown>> = {},
): Pick<PeelRow, "policy" | "customFunctions"> {
  const texts = (key: string) => {
    const value = facts[key];
    if (value === undefined) return undefined;
    return (Array.isArray(value) ? value : [value]).slice(0, FACT_FUNCTIONS_MAX)
      .map((each) => String(each).slice(0, FACT_POLICY_ROW_LENGTH_MAX));
  };
  return { policy: texts("policy"), customFunctions: texts("custom_functions") };
}

/** One peel, or `not_found` with the one that was probably meant. */
export const answerPeel: Answerer<"peel"> = ({ peel = "" }, ports) => {
  const ids = ports.peelIds();
  if (ids.includes(peel)) {
    const row = { ...rowOf(peel, ports), ...abilitiesOf(ports.facts?.(peel)) };
    return Promise.resolve({ kind: "peels", peels: [row] });
  }
  const near = nearest(peel, ids);
  const fix = near === null ? "zester peel list" : `did you mean ${displayPeelId(near)}?`;
  throw new ZesterError("peel_unknown", `no peel ${displayPeelId(peel)} is enrolled`, { fix });
};
