/** A repeatable sample: the same seed and the same candidates give the same choice, on every master. */
import { sha256 } from "../../core/crypto/ed25519.ts";
import { amountOf } from "../watch/amount.ts";

/** As many of the candidates as `limit` says (`5`, `10%`; all without), in their own order. */
export function sample(
  candidates: readonly string[],
  limit: string | undefined,
  seed: string,
): readonly string[] {
  if (limit === undefined) return candidates;
  const count = Math.max(1, amountOf(limit, candidates.length));
  if (count >= candidates.length) return candidates;
  const text = new TextEncoder();
  const drawn = candidates
    .map((candidate) => ({ candidate, draw: sha256(text.encode(`${seed}\0${candidate}`)).toHex() }))
    .sort((left, right) => left.draw < right.draw ? -1 : 1)
    .slice(0, count)
    .map(({ candidate }) => candidate);
  const chosen = new Set(drawn);
  return candidates.filter((candidate) => chosen.has(candidate));
}
