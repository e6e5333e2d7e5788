/** Every identifier: how it is made, what it may look like, and how a name becomes one. */
import { fromBase62, toBase62 } from "./base62.ts";
import { ZesterError } from "./errors.ts";
import { PEEL_ID_LENGTH_MAX } from "./limits.ts";
import type { Hash, Random } from "./ports.ts";

// ---- KSUIDs --------------------------------------------------------------------------------------------------

/** A KSUID: 4 bytes of seconds since 14 May 2014, then 16 random ones, as 27 digits in base 62. */
const KSUID_LENGTH = 27;
const KSUID_RANDOM_BYTES = 16;
const KSUID_RANDOM_BITS = 128n;
const KSUID_EPOCH_SECONDS = 1_400_000_000;
const KSUID_SECONDS_MAX = 2 ** 32 - 1;
/** The greatest number of 20 bytes; texts above it have the right letters and no meaning. */
const KSUID_MAX = "aWgEPTl1tmebfsQzFP4bxwgy80V";

/**
 * A new KSUID, sorted by second. A clock before 2014 (a machine that has not set it yet) gives the first second: such ids
 * are still unique, they only sort first.
 */
export function newKsuid(nowMs: number, random: Random): string {
  const seconds = Math.floor(nowMs / 1000) - KSUID_EPOCH_SECONDS;
  const stamp = BigInt(Math.min(Math.max(seconds, 0), KSUID_SECONDS_MAX));
  const payload = BigInt(`0x${random.bytes(KSUID_RANDOM_BYTES).toHex()}`);
  return toBase62(stamp << KSUID_RANDOM_BITS | payload, KSUID_LENGTH);
}

/** Whether the text is a KSUID. */
export function isKsuid(text: string): boolean {
  return /^[0-9A-Za-z]{27}$/.test(text) && text <= KSUID_MAX;
}

/** The time and the random bytes in a KSUID; throws `bad_id` for anything else. */
export function parseKsuid(text: string): { timeMs: number; payload: Uint8Array } {
  const value = isKsuid(text) ? fromBase62(text) : null;
  if (value === null) throw badId(text, "is not a KSUID (27 letters and digits)");
  const seconds = Number(value >> KSUID_RANDOM_BITS) + KSUID_EPOCH_SECONDS;
  const payload = BigInt.asUintN(Number(KSUID_RANDOM_BITS), value).toString(16);
  return {
    timeMs: seconds * 1000,
    payload: Uint8Array.fromHex(payload.padStart(KSUID_RANDOM_BYTES * 2, "0")),
  };
}

// ---- ids made of KSUIDs --------------------------------------------------------------------------------------

/** What each kind of id begins with. */
export const ID_PREFIX = {
  master: "master-",
  enrollment: "enr-",
  challenge: "chl-",
} as const;

export type IdKind = keyof typeof ID_PREFIX;

function newId(kind: IdKind, nowMs: number, random: Random): string {
  return `${ID_PREFIX[kind]}${newKsuid(nowMs, random)}`;
}

/** Whether the text is an id of this kind. */
export function isId(kind: IdKind, text: string): boolean {
  const prefix = ID_PREFIX[kind];
  return text.startsWith(prefix) && isKsuid(text.slice(prefix.length));
}

/** A master's id: new at each start, so that a restarted master is not taken for the one that held a lease. */
export function newMasterId(nowMs: number, random: Random): string {
  return newId("master", nowMs, random);
}

/** The id of an enrollment record. */
export function newEnrollmentId(nowMs: number, random: Random): string {
  return newId("enrollment", nowMs, random);
}

/** The id of a challenge of the enrollment protocol. */
export function newChallengeId(nowMs: number, random: Random): string {
  return newId("challenge", nowMs, random);
}

// ---- jobs and events -----------------------------------------------------------------------------------------

const REACTION_PREFIX = "rxn-";
const REACTION_HEX_LENGTH = 32;

/** A new job id. */
export function newJid(nowMs: number, random: Random): string {
  return newKsuid(nowMs, random);
}

/** Whether the text is the id of a job: a KSUID, or the id of a reaction. */
export function isJid(text: string): boolean {
  return isKsuid(text) || isReactionJid(text);
}

/** Whether the text is the id of a reaction's job, which only masters may make. */
export function isReactionJid(text: string): boolean {
  return /^rxn-[0-9a-f]{32}$/.test(text);
}

/**
 * The one id of a reaction: the same parts give the same id on every master, so a reaction that is tried twice is one job.
 * Each part goes in with its length before it: no other list of parts has the same bytes.
 */
export function reactionJid(parts: readonly string[], hash: Hash): string {
  const encoder = new TextEncoder();
  const encoded = parts.map((part) => encoder.encode(part));
  const bytes = encoded.flatMap((part) => [...uint32(part.length), ...part]);
  const digest = hash.sha256(Uint8Array.from(bytes)).toHex();
  return `${REACTION_PREFIX}${digest.slice(0, REACTION_HEX_LENGTH)}`;
}

function uint32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

/** A fresh event id, which sorts by time. */
export function newEventId(nowMs: number, random: Random): string {
  return newKsuid(nowMs, random);
}

/** Whether the text is the id of an event: a KSUID, or a digest for one that follows from another. */
export function isEventId(text: string): boolean {
  return isKsuid(text) || /^[0-9a-f]{64}$/.test(text);
}

// ---- peels and operators -------------------------------------------------------------------------------------

const NAME_SHAPE = /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/;

/** Whether the text is a peel id in the form that subjects and records use. No dot, no leading underscore. */
export function isPeelId(text: string): boolean {
  return text.length <= PEEL_ID_LENGTH_MAX && NAME_SHAPE.test(text);
}

/** Whether the text may name a master on the bus. */
export function isMasterId(text: string): boolean {
  return isPeelId(text);
}

/** Whether the text is the name of an operator. The same shape: both are one token of a subject. */
export function isOperatorName(text: string): boolean {
  return isPeelId(text);
}

/** The peel id that an operator means: `web-01.example.com` and `web-01_example_com` are the same peel. */
export function parsePeelId(text: string): string {
  const id = text.replaceAll(".", "_");
  if (isPeelId(id)) return id;
  throw badId(text, "is not a peel id", NAME_FIX);
}

/** The name as it is, or `bad_id`. */
export function parseOperatorName(text: string): string {
  if (isOperatorName(text)) return text;
  throw badId(text, "is not an operator name", NAME_FIX);
}

/** What people read: dots where the id has underscores, the inverse of `parsePeelId` because host names have none. */
export function displayPeelId(id: string): string {
  return id.replaceAll("_", ".");
}

/** A peel id from any name, such as a host name: dots become underscores, what else does not fit becomes a hyphen. */
export function sanitizePeelId(name: string): string {
  const bytes = Array.from(new TextEncoder().encode(name), (byte) => String.fromCharCode(byte));
  const id = bytes.map(sanitizeByte).join("").replace(/^[-_]+/, "").slice(0, PEEL_ID_LENGTH_MAX);
  if (id === "") throw badId(name, "has nothing that a peel id could be made of", NAME_FIX);
  return id;
}

function sanitizeByte(character: string): string {
  if (character === ".") return "_";
  return /[a-zA-Z0-9_-]/.test(character) ? character : "-";
}

/** A peel id from the configuration. An underscore is refused: it would be shown as a dot and mean another host. */
export function configuredPeelId(text: string): string {
  if (!text.includes("_")) return sanitizePeelId(text);
  throw badId(
    text,
    "cannot be configured as a peel id: an underscore stands for a dot",
    "write a dot or a hyphen instead of each underscore",
  );
}

const NAME_FIX =
  `use letters, digits, hyphens and dots, beginning with a letter or digit, at most ${PEEL_ID_LENGTH_MAX}`;

function badId(text: string, problem: string, fix?: string): ZesterError {
  const shown = JSON.stringify(text.slice(0, PEEL_ID_LENGTH_MAX));
  return new ZesterError("bad_id", `${shown} ${problem}`, fix === undefined ? {} : { fix });
}
