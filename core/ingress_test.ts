import assert from "node:assert/strict";
import fc from "fast-check";
import { COMMAND_SIGNER, testPeelKey, testSigner, testTrust } from "../tests/fakes/identities.ts";
import { type Inbound, ingest, type IngressReason, replyRule } from "./ingress.ts";
import { keyringOf } from "./keyring.ts";
import { CLOCK_SKEW_MS, PAYLOAD_BYTES_MAX } from "./limits.ts";
import { type Identity, sealed, type SealOptions } from "./outgoing.ts";
import type { HeaderField } from "./ports.ts";
import { SIGNATURE_HEADER } from "./signature.ts";
import { REPLY_DOMAIN, type Subject, subjects } from "./subjects.ts";

const NOW = 1_700_000_000_000;
const PAYLOAD = new TextEncoder().encode("payload");
const MASTER: Identity = { signer: COMMAND_SIGNER, generation: 1 };
const PEEL: Identity = { signer: testSigner("web-01"), generation: 1 };
const ALICE: Identity = { signer: testSigner("alice"), generation: 1 };
const trust = testTrust(["alice"]);
const keyring = keyringOf(() => trust, (peel) => peel === "web-01" ? testPeelKey(peel) : undefined);

function message(
  identity: Identity,
  rule: Subject,
  subject: string,
  options: SealOptions & {
    at?: number;
    headers?: HeaderField[];
    status?: number;
    payload?: Uint8Array;
  } = {},
): Inbound {
  const { at = NOW, headers = [], status, payload = PAYLOAD, ...seal } = options;
  const signed = sealed(identity, { domain: rule.domain ?? "", subject }, payload, at, seal);
  return { subject, headers: [...signed, ...headers], status, data: payload };
}

const command = "zester.cmd.web-01";
const expectCommand = {
  rule: subjects.command,
  own: { peel: "web-01" },
  audience: 3,
  keyring,
  nowMs: NOW,
};
const good = () => message(MASTER, subjects.command, command, { audience: 3 });

function verdict(
  given: Inbound,
  expected: Parameters<typeof ingest>[1] = expectCommand as never,
): string {
  const door = ingest(given, expected);
  return door.ok ? "accepted" : door.reason;
}

Deno.test("ingest() accepts a command of the fleet's key on this peel's subject", () => {
  const door = ingest(good(), expectCommand);
  assert.ok(door.ok);
  assert.deepEqual({ ...door.fields }, { peel: "web-01" });
  assert.equal(door.sender.role, "master");
});

const refusals: [name: string, given: Inbound, reason: IngressReason][] = [
  ["a stored message that the server sent on", {
    ...good(),
    headers: [...good().headers, ["Nats-Stream", "x"]],
  }, "spoof"],
  ["any other Nats- header, in any case", {
    ...good(),
    headers: [...good().headers, ["nAtS-Trace-Dest", "x"]],
  }, "spoof"],
  ["a status line", { ...good(), status: 404 }, "spoof"],
  [
    "another peel's command",
    message(MASTER, subjects.command, "zester.cmd.web-02", { audience: 3 }),
    "misaddressed",
  ],
  ["a command moved to this peel", {
    ...message(MASTER, subjects.command, "zester.cmd.web-02", { audience: 3 }),
    subject: command,
  }, "bad_signature"],
  [
    "a subject of another kind",
    message(MASTER, subjects.notice, "zester.notice.states"),
    "misaddressed",
  ],
  ["no signature", { ...good(), headers: [] }, "unsigned"],
  ["two signatures", { ...good(), headers: [...good().headers, ...good().headers] }, "unsigned"],
  [
    "an older form of the signature",
    { ...good(), headers: [[SIGNATURE_HEADER, "v0 x"]] },
    "unsigned",
  ],
  [
    "a key that nobody knows",
    message({ signer: testSigner("x"), generation: 1 }, subjects.command, command, { audience: 3 }),
    "unknown_key",
  ],
  [
    "a peel that signs commands",
    message(PEEL, subjects.command, command, { audience: 3 }),
    "unknown_key",
  ],
  [
    "an operator that signs commands",
    message(ALICE, subjects.command, command, { audience: 3 }),
    "unknown_key",
  ],
  ["a changed payload", { ...good(), data: new TextEncoder().encode("payloae") }, "bad_signature"],
  [
    "a signature of another domain",
    message(MASTER, { ...subjects.command, domain: "zester/notice/v1" }, command, { audience: 3 }),
    "bad_signature",
  ],
  [
    "another generation of this peel",
    message(MASTER, subjects.command, command, { audience: 2 }),
    "stale_generation",
  ],
  [
    "another generation of the sender",
    message({ ...MASTER, generation: 2 }, subjects.command, command, { audience: 3 }),
    "stale_generation",
  ],
  [
    "what expired",
    message(MASTER, subjects.command, command, {
      audience: 3,
      at: NOW - 200_000,
      expiresMs: NOW - CLOCK_SKEW_MS - 1,
    }),
    "expired",
  ],
  [
    "what comes from the future",
    message(MASTER, subjects.command, command, { audience: 3, at: NOW + CLOCK_SKEW_MS + 1 }),
    "clock_skew",
  ],
  [
    "a lifetime without end",
    message(MASTER, subjects.command, command, { audience: 3, expiresMs: NOW + 1e12 }),
    "expired",
  ],
  [
    "a first issue after the issue",
    message(MASTER, subjects.command, command, { audience: 3, firstIssuedMs: NOW + 1 }),
    "expired",
  ],
  [
    "more than a payload may be",
    { ...good(), data: new Uint8Array(PAYLOAD_BYTES_MAX + 1) },
    "payload_too_large",
  ],
];
for (const [name, given, reason] of refusals) {
  Deno.test(`ingest() refuses ${name} as ${reason}`, () => assert.equal(verdict(given), reason));
}

Deno.test("ingest() tolerates a minute of clock difference either way, and its error says clock beyond", () => {
  const late = message(MASTER, subjects.command, command, {
    audience: 3,
    at: NOW - 90_000,
    expiresMs: NOW - CLOCK_SKEW_MS,
  });
  const early = message(MASTER, subjects.command, command, {
    audience: 3,
    at: NOW + CLOCK_SKEW_MS,
  });
  assert.equal(verdict(late), "accepted");
  assert.equal(verdict(early), "accepted");
  const future = message(MASTER, subjects.command, command, { audience: 3, at: NOW + 90_000 });
  const door = ingest(future, expectCommand);
  assert.ok(!door.ok && door.detail.includes("clock"));
});

Deno.test("ingest() keeps a publisher's message id", () => {
  assert.equal(
    verdict({ ...good(), headers: [...good().headers, ["Nats-Msg-Id", "x"]] }),
    "accepted",
  );
});

Deno.test("ingest() takes a return only from the peel that its subject names", () => {
  const jid = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
  const expected = { rule: subjects.return, keyring, nowMs: NOW } as never;
  const own = `zester.job.${jid}.return.web-01`;
  assert.equal(verdict(message(PEEL, subjects.return, own), expected), "accepted");
  const foreign = `zester.job.${jid}.return.web-02`;
  assert.equal(verdict(message(PEEL, subjects.return, foreign), expected), "unknown_key");
  assert.equal(verdict(message(MASTER, subjects.return, own), expected), "unknown_key");
});

Deno.test("ingest() takes a dispatch only from the operator that its subject names", () => {
  const expected = { rule: subjects.dispatch, keyring, nowMs: NOW } as never;
  assert.equal(
    verdict(message(ALICE, subjects.dispatch, "zester.dispatch.alice"), expected),
    "accepted",
  );
  assert.equal(
    verdict(message(ALICE, subjects.dispatch, "zester.dispatch.bob"), expected),
    "unknown_key",
  );
});

Deno.test("replyRule() accepts a master's answer in one inbox only", () => {
  const inbox = "_INBOX.operator.alice.abc";
  const rule = replyRule(inbox);
  const given = message(MASTER, { ...rule, domain: REPLY_DOMAIN }, inbox);
  assert.equal(verdict(given, { rule, keyring, nowMs: NOW } as never), "accepted");
  const other = replyRule("_INBOX.operator.alice.other");
  assert.equal(verdict(given, { rule: other, keyring, nowMs: NOW } as never), "misaddressed");
});

Deno.test("ingest() refuses a message with any one byte of payload or header changed", () => {
  const base = good();
  const header = base.headers[0]?.[1] ?? "";
  fc.assert(fc.property(fc.nat(header.length - 1), fc.integer({ min: 1, max: 127 }), (at, by) => {
    const code = (header.charCodeAt(at) ^ by) & 0x7f;
    const changed = header.slice(0, at) + String.fromCharCode(code) + header.slice(at + 1);
    return verdict({ ...base, headers: [[SIGNATURE_HEADER, changed]] }) !== "accepted";
  }));
  fc.assert(fc.property(fc.nat(PAYLOAD.length - 1), fc.integer({ min: 1, max: 255 }), (at, by) => {
    const data = PAYLOAD.slice();
    data[at] = (data[at] ?? 0) ^ by;
    return verdict({ ...base, data }) === "bad_signature";
  }));
});

Deno.test("ingest() never throws, whatever comes", () => {
  const anything = fc.record({
    subject: fc.string(),
    headers: fc.array(fc.tuple(fc.string(), fc.string())),
    status: fc.option(fc.integer(), { nil: undefined }),
    data: fc.uint8Array(),
  });
  fc.assert(fc.property(anything, (given) => verdict(given) !== "accepted"));
});
