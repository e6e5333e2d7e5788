/**
 * Resolves a target without a master, from the buckets: who is enrolled, and for targets that ask for facts, what each of them
 * says of itself. Slower than a master, who has all of it in memory; and groups are in the masters' configuration only.
 */
import { buckets } from "../buckets.ts";
import { ZesterError } from "../errors.ts";
import { LOOK_UPS_MAX, LOOK_UPS_TOGETHER_MAX } from "../limits.ts";
import type { Store } from "../ports.ts";
import { decodeEnrollment, type EnrollmentRecord } from "../wire/enrollment.ts";
import { decodeFactsRecord } from "../wire/facts.ts";
import type { Matched, Resolution } from "./ask.ts";
import { explainTarget, whyMatches } from "./explain.ts";
import { type TargetExpr, usesFacts } from "./expr.ts";
import { matchTarget } from "./match.ts";
import { namedIds } from "./named_ids.ts";
import { parseTarget, type TargetGroups } from "./parse.ts";
import { FactIndex, type PeelIndex, peelIndexOf } from "./peel_index.ts";

export interface LookUpPorts {
  readonly store: Store;
  /** Ids of all peels that are or were enrolled. */
  listPeels(): Promise<readonly string[]>;
}

/** Who matches, each with the record that makes it part of the fleet. */
export interface LookedUp {
  /** Sorted. */
  readonly peels: readonly Matched[];
  readonly records: ReadonlyMap<string, EnrollmentRecord>;
}

/** Who matches according to the store, for an operator whose question no master answered. */
export async function lookUpTarget(text: string, ports: LookUpPorts): Promise<Resolution> {
  const { peels } = await lookUpPeels(text, ports);
  return { peels, warning: "no master answers; this is from the store, and may be out of date" };
}

/** The same with their records. Throws `nobody_matches` with what each term found. */
export async function lookUpPeels(text: string, ports: LookUpPorts): Promise<LookedUp> {
  const target = parseTarget(text, { groups: NO_GROUPS });
  const known = namedIds(target) ?? await ports.listPeels();
  const needsFacts = usesFacts(target.root);
  // Without facts the ids alone decide, so only those that match have to be looked at.
  const candidates = needsFacts ? known : matchTarget(target, indexOf(known));
  if (candidates.length > LOOK_UPS_MAX) throw tooMany(candidates.length);
  const records = await recordsOf(candidates, ports.store);
  const members = [...records.keys()];
  const index = indexOf(members, needsFacts ? await factsOf(members, ports.store) : undefined);
  const matched = matchTarget(target, index);
  if (matched.length === 0) throw nobody(target, needsFacts ? index : indexOf(known));
  return {
    peels: matched.map((peelId) => ({ peelId, reasons: whyMatches(target, peelId, index) })),
    records,
  };
}

/** Whatever group is asked for: it is not that it does not exist, but that nobody is there to say what it means. */
class NoGroups extends Map<string, string> {
  override get(name: string): never {
    throw new ZesterError("no_responders", `no master answers to say what group N@${name} means`, {
      fix: "write out what the group stands for, or start a master",
    });
  }
}

const NO_GROUPS: TargetGroups = new NoGroups();

function indexOf(ids: readonly string[], facts = new FactIndex()): PeelIndex {
  const sorted = [...ids].sort();
  const all = new Set(sorted);
  return peelIndexOf({ ids: () => sorted, has: (id) => all.has(id) }, facts);
}

function tooMany(count: number): ZesterError {
  const message = `no master answers, and ${count} peels are too many to look up one by one`;
  return new ZesterError("no_responders", message, {
    fix: `start a master, or narrow the target to ${LOOK_UPS_MAX} peels`,
  });
}

function nobody(target: TargetExpr, index: PeelIndex): ZesterError {
  const { message, fix } = explainTarget(target, index);
  return new ZesterError("nobody_matches", message, fix === undefined ? {} : { fix });
}

/** Records of those who are part of the fleet: the index names the one in force, which says whether it still holds. */
async function recordsOf(
  ids: readonly string[],
  store: Store,
): Promise<Map<string, EnrollmentRecord>> {
  const enrollments = store.bucket(buckets.enrollments.name);
  return await readAll(ids, async (id) => {
    const inForce = await enrollments.get(`peel.${id}`);
    if (inForce === null) return null;
    const entry = await enrollments.get(new TextDecoder().decode(inForce.value));
    if (entry === null) return null;
    const record = decodeEnrollment(entry.value);
    const isMember = record.state === "issued" || record.state === "active";
    return record.peelId === id && isMember ? record : null;
  });
}

async function factsOf(ids: readonly string[], store: Store): Promise<FactIndex> {
  const bucket = store.bucket(buckets.facts.name);
  const found = await readAll(ids, async (id) => {
    const entry = await bucket.get(id);
    if (entry === null) return null;
    const { peelId, facts } = decodeFactsRecord(entry.value);
    return peelId === id ? facts : null;
  });
  const index = new FactIndex();
  for (const [id, facts] of found) index.put(id, facts);
  return index;
}

/** Reads something of each, some at a time; those that have nothing are left out. */
async function readAll<T>(
  ids: readonly string[],
  read: (id: string) => Promise<T | null>,
): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (let at = 0; at < ids.length; at += LOOK_UPS_TOGETHER_MAX) {
    const some = ids.slice(at, at + LOOK_UPS_TOGETHER_MAX);
    const values = await Promise.all(some.map(read));
    values.forEach((value, index) => value !== null && found.set(some[index]!, value));
  }
  return found;
}
