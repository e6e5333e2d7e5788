/**
 * The one door for inbound `zester.>` messages, live or from a stream, on masters and peels alike.
 *
 * Why it exists: whoever may make one direct get chooses its reply subject, and the server itself then delivers stored bytes
 * to any subject. So a subject proves nothing. Here a message is refused if a server sent it (status line, `Nats-*`
 * headers), if it is not on the very subject expected, too large for it, or if its signature is missing, foreign, stale or
 * expired. Only what passes is decoded.
 *
 * The order is part of the defence. What is cheap comes first; whoever sends more than its share is turned away right before
 * the first step that costs something, and from then on at its subject. Only what names a sender's own key counts against that
 * sender, so that nobody can spend the share of another by having a server deliver answers in its name.
 */
import { formatDuration } from "./duration.ts";
import { assertNever, type ErrorCode } from "./errors.ts";
import { CLOCK_SKEW_MS, PAYLOAD_BYTES_MAX, SIGNATURE_LIFETIME_MS_MAX } from "./limits.ts";
import type { HeaderField } from "./ports.ts";
import type { IngressGuard } from "./ingress_guard.ts";
import type { Verifier } from "./crypto/ed25519.ts";
import {
  type ParsedSignature,
  parseSignature,
  SIGNATURE_HEADER,
  signedBytes,
} from "./signature.ts";
import { type Fields, REPLY_DOMAIN, type Role, type Subject } from "./subjects.ts";

/** A message as far as the door looks at it: live ones and stored ones both have this. */
export interface Inbound {
  readonly subject: string;
  readonly headers: readonly HeaderField[];
  readonly status?: number | undefined;
  readonly data: Uint8Array;
  /** Set on one that was read from a stream: those are bounded by the stream, and count against nobody's share. */
  readonly storedMs?: number;
}

/** Who signed, as the keyring knows it. */
export interface Sender {
  readonly role: Role;
  /** Peel id, operator name, or `_master`. */
  readonly identity: string;
  readonly generation: number;
  /** Operators: what they may do. */
  readonly grantedRole?: string | undefined;
  readonly verifier: Verifier;
}

/** Finds the key that may sign here: enrollment records for peels, the trust document for the others. */
export interface Keyring {
  (wanted: {
    roles: readonly Role[];
    /** Peel or operator named by the subject, where it names one. */
    identity: string | undefined;
    keyId: string;
    nowMs: number;
  }): Sender | null;
  /** How much of each sender is looked at; everything, without one. */
  readonly guard?: IngressGuard;
}

export interface Expectation<P extends string> {
  /** The rule that the subject must follow. */
  readonly rule: Subject<P>;
  /** Fields that must have these values, such as one's own peel id. */
  readonly own?: Partial<Record<string, string>>;
  /** The receiver's own generation; a message for another one is refused. */
  readonly audience?: number;
  readonly keyring: Keyring;
  readonly nowMs: number;
}

export type IngressReason = Extract<
  ErrorCode,
  | "spoof"
  | "unsigned"
  | "bad_signature"
  | "unknown_key"
  | "stale_generation"
  | "expired"
  | "clock_skew"
  | "misaddressed"
  | "payload_too_large"
  | "flooding"
>;

export interface Accepted<P extends string> {
  readonly ok: true;
  readonly fields: Fields<P>;
  readonly sender: Sender;
  readonly claims: ParsedSignature;
  readonly payload: Uint8Array;
}

export interface Refused {
  readonly ok: false;
  readonly reason: IngressReason;
  /** A sentence for the log. */
  readonly detail: string;
  /** Whether it is worth a line in the log: one in a while for each sender is. */
  readonly isNews: boolean;
  /** Who it is from, if that is certain: its signature is good, only its time or its generation is not. */
  readonly sender?: Sender;
}

/** Lets a message in with its verified sender, or says why not. Never throws, never decodes the payload. */
export function ingest<P extends string>(
  message: Inbound,
  expected: Expectation<P>,
): Accepted<P> | Refused {
  const fields = expected.rule.parse(message.subject);
  const { guard } = expected.keyring;
  const name = namedIn(fields) ?? "";
  if (isSpent(message, fields, expected)) {
    return guard?.isNews(name) ? flooding(name) : FLOODING_STILL;
  }
  const door = examine(message, fields, expected);
  return door.ok || guard === undefined ? door : { ...door, isNews: guard.isNews(name) };
}

function flooding(name: string): Refused {
  return refuse("flooding", `${name} sends more than anybody has reason to`);
}

/** One for all: there may be hundreds of thousands in a second. */
const FLOODING_STILL: Refused = { ok: false, reason: "flooding", detail: "", isNews: false };

function examine<P extends string>(
  message: Inbound,
  fields: Fields<P> | null,
  expected: Expectation<P>,
): Accepted<P> | Refused {
  const spoof = serverMade(message);
  if (spoof !== null) return refuse("spoof", spoof);
  const { bytesMax = PAYLOAD_BYTES_MAX } = expected.rule;
  if (message.data.length > bytesMax) {
    return refuse("payload_too_large", `${message.data.length} bytes, at most ${bytesMax}`);
  }
  if (fields === null || !hasOwn(fields, expected.own)) {
    return refuse(
      "misaddressed",
      `subject ${quoted(message.subject)} is not ${expected.rule.pattern} of this receiver`,
    );
  }
  const claims = signatureOf(message.headers);
  if (claims === null) return refuse("unsigned", `no valid ${SIGNATURE_HEADER} header`);
  const sender = expected.keyring({
    roles: expected.rule.pub,
    identity: namedIn(fields),
    keyId: claims.keyId,
    nowMs: expected.nowMs,
  });
  if (sender === null) {
    return refuse("unknown_key", `key ${claims.keyId} may not sign ${expected.rule.pattern}`);
  }
  if (!isAdmitted(sender, message, expected.keyring.guard)) {
    return flooding(sender.identity);
  }
  const context = { domain: expected.rule.domain ?? "", subject: message.subject };
  if (!sender.verifier.verify(signedBytes(context, claims, message.data), claims.signature)) {
    return refuse(
      "bad_signature",
      `signature of ${sender.identity} does not fit subject, domain and payload`,
    );
  }
  const stale = staleness(claims, sender, expected);
  if (stale !== null) return { ...stale, sender };
  return { ok: true, fields, sender, claims, payload: message.data };
}

/** A sender whose share is used up is known by its subject alone: the rest of its message is not even read. */
function isSpent<P extends string>(
  { storedMs }: Inbound,
  fields: Fields<P> | null,
  { rule, keyring: { guard } }: Expectation<P>,
): boolean {
  const name = namedIn(fields);
  if (guard === undefined || name === undefined || storedMs !== undefined) return false;
  return guard.isSpent(rule.pub, name);
}

function isAdmitted(
  { role, identity }: Sender,
  { data, storedMs }: Inbound,
  guard: IngressGuard | undefined,
): boolean {
  return guard === undefined || storedMs !== undefined ||
    guard.admits({ role, identity }, data.length);
}

/** A publisher may set the message id; a server notes the account of origin where a message crosses into another. */
const HARMLESS_HEADERS: ReadonlySet<string> = new Set(["nats-msg-id", "nats-request-info"]);

/** What only a server adds: a status line, or another `Nats-*` header than the harmless ones. */
function serverMade({ headers, status }: Inbound): string | null {
  if (status !== undefined && status !== 0) return `status line ${status}`;
  const header = headers.find(([name]) =>
    /^nats-/i.test(name) && !HARMLESS_HEADERS.has(name.toLowerCase())
  );
  return header ? `header ${quoted(header[0])}` : null;
}

function hasOwn(fields: object, own: Partial<Record<string, string>> = {}): boolean {
  return Object.entries(own).every(([name, value]) =>
    (fields as Record<string, unknown>)[name] === value
  );
}

/** The identity that the subject names. No subject names two. */
function namedIn(fields: object | null): string | undefined {
  const { peel, operator } = (fields ?? {}) as { peel?: string; operator?: string };
  return peel ?? operator;
}

/** Two headers would let two readers see two signatures: exactly one. */
function signatureOf(headers: readonly HeaderField[]): ParsedSignature | null {
  const found = headers.filter(([name]) => name.toLowerCase() === SIGNATURE_HEADER.toLowerCase());
  return found.length === 1 && found[0] ? parseSignature(found[0][1]) : null;
}

function staleness<P extends string>(
  claims: ParsedSignature,
  sender: Sender,
  { audience, nowMs }: Expectation<P>,
): Refused | null {
  if (claims.generation !== sender.generation) {
    return refuse(
      "stale_generation",
      `signed as generation ${claims.generation}, in force is ${sender.generation}`,
    );
  }
  if (audience !== undefined && claims.audience !== audience) {
    return refuse(
      "stale_generation",
      `made for generation ${claims.audience} of this receiver, which is ${audience}`,
    );
  }
  const timing = judgeTimes(claims, nowMs);
  switch (timing.verdict) {
    case "valid":
      return null;
    case "future":
      return refuse(
        "clock_skew",
        `issued ${
          formatDuration(timing.byMs)
        } in the future: the clock here or at the sender is wrong`,
      );
    case "expired":
      return refuse(
        "expired",
        `expired ${
          formatDuration(timing.byMs)
        } ago: it was held up or repeated, or the clock here or at ` +
          "the sender is wrong",
      );
    case "nonsense":
      return refuse("expired", "the signature's times contradict each other");
    default:
      return assertNever(timing.verdict);
  }
}

/** Judges the signed times against a clock that may be off by `CLOCK_SKEW_MS` in either direction. */
export function judgeTimes(
  claims: Pick<ParsedSignature, "issuedMs" | "firstIssuedMs" | "expiresMs">,
  nowMs: number,
): { verdict: "valid" | "future" | "expired" | "nonsense"; byMs: number } {
  const { issuedMs, firstIssuedMs, expiresMs } = claims;
  const lifetimeMs = expiresMs - firstIssuedMs;
  if (firstIssuedMs > issuedMs || issuedMs > expiresMs || lifetimeMs > SIGNATURE_LIFETIME_MS_MAX) {
    return { verdict: "nonsense", byMs: 0 };
  }
  if (issuedMs > nowMs + CLOCK_SKEW_MS) return { verdict: "future", byMs: issuedMs - nowMs };
  if (nowMs > expiresMs + CLOCK_SKEW_MS) return { verdict: "expired", byMs: nowMs - expiresMs };
  return { verdict: "valid", byMs: 0 };
}

function refuse(reason: IngressReason, detail: string): Refused {
  return { ok: false, reason, detail, isNews: true };
}

/** Untrusted text in a log line: cut and escaped. */
function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 200));
}

/** The rule that answers in one's own inbox follow: signed by a master, on exactly this subject. */
export function replyRule(inbox: string): Subject<"reply"> {
  return {
    ...inboxRule(inbox),
    pub: ["master"],
    parse: (subject) => subject === inbox ? {} : null,
  };
}

/** The same for direct mode: signed by this peel. */
export function directReplyRule(inbox: string, peel: string): Subject<"{peel}"> {
  return {
    ...inboxRule(inbox),
    pattern: "{peel}",
    pub: ["peel"],
    payload: "ExecResponse",
    parse: (subject) => (subject === inbox ? { peel } : null),
  };
}

function inboxRule(inbox: string): Omit<Subject<"reply">, "pub" | "parse"> {
  return {
    pattern: "reply",
    sub: ["operator", "direct", "peel"],
    kind: "core",
    domain: REPLY_DOMAIN,
    payload: "Follow",
    note: "",
    of: () => inbox,
    filter: () => inbox,
  };
}
