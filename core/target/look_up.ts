/**
 * Resolves a target without a master, from the buckets. Operators may read single keys and may not list them, so this works for
 * targets that name their peels (`L@a,b`, one id, or either of them together with other terms), and for no others.
 */
import { buckets } from "../buckets.ts";
import { ZesterError } from "../errors.ts";
import { LOOK_UPS_MAX, LOOK_UPS_TOGETHER_MAX } from "../limits.ts";
import type { Store } from "../ports.ts";
import { printable } from "../printable.ts";
import { decodeEnrollment } from "../wire/enrollment.ts";
import { decodeFactsRecord } from "../wire/facts.ts";
import type { Resolution } from "./ask.ts";
import { explainTarget, whyMatches } from "./explain.ts";
import { matchTarget } from "./match.ts";
import { namedIds } from "./named_ids.ts";
import { parseTarget } from "./parse.ts";
import { FactIndex, peelIndexOf } from "./peel_index.ts";

/** Who matches; `unanswered` is why the masters did not say, and is thrown if this cannot say either. */
export async function lookUpTarget(
  text: string,
  store: Store,
  unanswered: ZesterError,
): Promise<Resolution> {
  const target = parseTarget(text);
  const ids = namedIds(target);
  if (ids === undefined || ids.length > LOOK_UPS_MAX) throw onlyNamed(unanswered);
  const facts = new FactIndex();
  const members: string[] = [];
  for (let at = 0; at < ids.length; at += LOOK_UPS_TOGETHER_MAX) {
    const some = ids.slice(at, at + LOOK_UPS_TOGETHER_MAX);
    await Promise.all(some.map(async (id) => {
      if (!await isMember(id, store)) return;
      members.push(id);
      const known = await factsOf(id, store);
      if (known !== null) facts.put(id, known);
    }));
  }
  const index = peelIndexOf({ ids: () => members, has: (id) => members.includes(id) }, facts);
  const peels = matchTarget(target, index)
    .map((peelId) => ({ peelId, reasons: whyMatches(target, peelId, index) }));
  if (peels.length === 0) {
    const message = members.length === 0
      ? `nobody matches  ${printable(text)}\nnone of the peels named is enrolled`
      : explainTarget(target, index).message;
    throw new ZesterError("nobody_matches", message, { cause: unanswered });
  }
  return { peels, warning: "no master answers; this is what the store holds of the peels named" };
}

function onlyNamed(unanswered: ZesterError): ZesterError {
  return new ZesterError(
    unanswered.code,
    "no master answers, and the target does not name its peels",
    {
      cause: unanswered,
      fix: "start a master, or check that this context names the right fleet\n" +
        `or name the peels, at most ${LOOK_UPS_MAX}: L@a,b`,
    },
  );
}

/** The index names the record in force; the record says whether the peel is part of the fleet. */
async function isMember(id: string, store: Store): Promise<boolean> {
  const enrollments = store.bucket(buckets.enrollments.name);
  const inForce = await enrollments.get(`peel.${id}`);
  if (inForce === null) return false;
  const entry = await enrollments.get(new TextDecoder().decode(inForce.value));
  if (entry === null) return false;
  const { peelId, state } = decodeEnrollment(entry.value);
  return peelId === id && (state === "issued" || state === "active");
}

async function factsOf(id: string, store: Store): Promise<Record<string, unknown> | null> {
  const entry = await store.bucket(buckets.facts.name).get(id);
  if (entry === null) return null;
  const { peelId, facts } = decodeFactsRecord(entry.value);
  return peelId === id ? facts : null;
}
