import assert from "node:assert/strict";
import fc from "fast-check";
import { COMMAND_SIGNER, testPeelKey, testSigner, testTrust } from "../tests/fakes/identities.ts";
import { ManualClock } from "../tests/fakes/manual_clock.ts";
import { type Inbound, ingest } from "./ingress.ts";
import { ingressGuard, newsFilter, type Share, sharesOf, unitsOf } from "./ingress_guard.ts";
import { keyringOf } from "./keyring.ts";
import {
  EXECUTION_QUEUE_MAX,
  INGRESS_LOG_MS,
  INGRESS_LOG_SENDERS_MAX,
  INGRESS_UNIT_BYTES,
  PEEL_INGRESS_UNITS_MAX,
  PEEL_INGRESS_UNITS_PER_SECOND,
  RETURN_BYTES_MAX,
  RETURNS_IN_FLIGHT_MAX,
  SMALL_PAYLOAD_BYTES_MAX,
} from "./limits.ts";
import { sealed } from "./outgoing.ts";
import { type Subject, subjects } from "./subjects.ts";

const SHARE: Share = { unitsMax: 10, unitsPerSecond: 2, sendersMax: 3 };

Deno.test("sharesOf() takes a burst, then what fills again with time, never more than the burst", () => {
  const shares = sharesOf(SHARE);
  const taken = (nowMs: number, times: number) =>
    Array.from({ length: times }, () => shares.take("a", 1, nowMs)).filter(Boolean).length;
  assert.equal(taken(0, 20), 10);
  assert.equal(taken(499, 20), 0);
  assert.equal(taken(500, 20), 1);
  assert.equal(taken(1_500, 20), 2);
  assert.equal(taken(3_600_000, 20), 10);
});

Deno.test("sharesOf() charges a large message for its size, and takes none that is larger than what is left", () => {
  const shares = sharesOf(SHARE);
  assert.ok(shares.take("a", 8, 0));
  assert.ok(!shares.take("a", 3, 0));
  assert.ok(shares.take("a", 2, 0), "what was refused cost nothing");
});

Deno.test("sharesOf() lets one sender take nothing from another, and remembers no more of them than it may", () => {
  const shares = sharesOf(SHARE);
  while (shares.take("flood", 1, 0));
  assert.ok(shares.take("good", 10, 0));
  for (let n = 0; n < 100; n++) shares.take(`made-up-${n}`, 1, 0);
  assert.equal(shares.size, SHARE.sendersMax);
});

Deno.test("ingressGuard() knows a sender that has used up its share by its name, in its own role only", () => {
  const clock = new ManualClock();
  const guard = ingressGuard(clock);
  while (guard.admits({ role: "peel", identity: "alice" }, 0));
  while (guard.admits({ role: "direct", identity: "web-01" }, 0));
  assert.ok(guard.isSpent(["peel"], "alice"));
  assert.ok(!guard.isSpent(["operator"], "alice"));
  assert.ok(!guard.isSpent(["master", "direct"], "web-01"), "the peel that is commanded");
  clock.advance(1_000);
  assert.ok(!guard.isSpent(["peel"], "alice"));
});

Deno.test("sharesOf() never gives a sender more than its burst and its rate in any run of messages", () => {
  const steps = fc.array(fc.tuple(fc.nat(2_000), fc.integer({ min: 1, max: 5 })), {
    maxLength: 200,
  });
  fc.assert(fc.property(steps, (given) => {
    const shares = sharesOf(SHARE);
    let [nowMs, used] = [0, 0];
    for (const [waitMs, units] of given) {
      nowMs += waitMs;
      if (shares.take("a", units, nowMs)) used += units;
      assert.ok(used <= SHARE.unitsMax + nowMs / 1_000 * SHARE.unitsPerSecond + 1e-6);
    }
  }));
});

const bursts: [name: string, units: number][] = [
  [
    "an outbox of large returns after a reconnect",
    RETURNS_IN_FLIGHT_MAX * unitsOf(RETURN_BYTES_MAX),
  ],
  ["acks and returns of a full queue, each sent twice", 4 * EXECUTION_QUEUE_MAX],
  ["acks and returns of a thousand small jobs", 2_000],
];
for (const [name, units] of bursts) {
  Deno.test(`ingressGuard() has room for ${name}`, () => {
    assert.ok(units <= PEEL_INGRESS_UNITS_MAX, `${units} units`);
  });
}

Deno.test("newsFilter() tells of each name once in a while, and of so many names only", () => {
  const isNews = newsFilter();
  assert.deepEqual([isNews("a", 0), isNews("a", 1), isNews("b", 2)], [true, false, true]);
  for (let n = 0; n < 10 * INGRESS_LOG_SENDERS_MAX; n++) isNews(`made-up-${n}`, 3);
  assert.ok(!isNews("c", 4));
  assert.ok(isNews("a", INGRESS_LOG_MS));
});

// ---- at the door ---------------------------------------------------------------------------------------------

const trust = testTrust(["alice"]);

function lab() {
  const clock = new ManualClock();
  const verified: string[] = [];
  const keyring = keyringOf(() => trust, (peel) => {
    const key = testPeelKey(peel);
    const verify = (...given: Parameters<typeof key.verifier.verify>) => {
      verified.push(peel);
      return key.verifier.verify(...given);
    };
    return { ...key, verifier: { ...key.verifier, verify } };
  }, ingressGuard(clock));
  const door = (message: Inbound, rule: Subject = subjects.heartbeat) =>
    ingest(message, { rule, keyring, nowMs: clock.now() });
  return { clock, verified, door };
}

function beat(peel: string, nowMs: number, signer = testSigner(peel)): Inbound {
  const subject = subjects.heartbeat.of({ peel });
  const data = Uint8Array.of(1);
  const context = { domain: subjects.heartbeat.domain ?? "", subject };
  return { subject, data, headers: sealed({ signer, generation: 1 }, context, data, nowMs) };
}

function forged(message: Inbound): Inbound {
  return { ...message, data: Uint8Array.of(2) };
}

Deno.test("ingest() verifies no more of a flood than its sender's share, and all of a good neighbour", () => {
  const { clock, verified, door } = lab();
  const reasons = new Map<string, number>();
  let lines = 0;
  const bad = forged(beat("evil", clock.now()));
  for (let second = 0; second < 10; second++) {
    for (let n = 0; n < 5_000; n++) {
      const given = door(bad);
      assert.ok(!given.ok);
      reasons.set(given.reason, (reasons.get(given.reason) ?? 0) + 1);
      if (given.isNews) lines++;
    }
    assert.ok(door(beat("good", clock.now())).ok, `second ${second}`);
    clock.advance(1_000);
  }
  const share = PEEL_INGRESS_UNITS_MAX + 9 * PEEL_INGRESS_UNITS_PER_SECOND;
  assert.equal(verified.filter((peel) => peel === "evil").length, share);
  assert.deepEqual([...reasons], [["bad_signature", share], ["flooding", 50_000 - share]]);
  assert.equal(lines, 1);
  clock.advance(60_000);
  assert.ok(door(beat("evil", clock.now())).ok, "and it is heard again when it behaves");
});

Deno.test("ingest() charges a peel only for what names its own key: a server's answers in its name cost it nothing", () => {
  const { clock, verified, door } = lab();
  const own = beat("victim", clock.now());
  const redirected: Inbound[] = [
    { ...own, headers: [] },
    { ...own, headers: [...own.headers, ["Nats-Stream", "x"]] },
    { ...own, status: 404 },
    beat("victim", clock.now(), testSigner("evil")),
  ];
  for (let n = 0; n < PEEL_INGRESS_UNITS_MAX; n++) redirected.forEach((each) => door(each));
  assert.deepEqual(verified, []);
  assert.ok(door(own).ok);
});

Deno.test("ingest() looks at every message of a stream and of a master, however many", () => {
  const { clock, door } = lab();
  const stored = { ...beat("web-01", clock.now()), storedMs: clock.now() };
  const cancel = subjects.jobCancel.of({ jid: "0ujtsYcgvSTl8PAuAdqWYSMnLOv" });
  const data = new Uint8Array();
  const context = { domain: subjects.jobCancel.domain ?? "", subject: cancel };
  const identity = { signer: COMMAND_SIGNER, generation: 1 };
  const headers = sealed(identity, context, data, clock.now());
  for (let n = 0; n <= PEEL_INGRESS_UNITS_MAX; n++) {
    if (!door(stored).ok || !door({ subject: cancel, data, headers }, subjects.jobCancel).ok) {
      assert.fail(`number ${n} was refused`);
    }
  }
});

const caps: [rule: Subject, bytesMax: number][] = [
  [subjects.heartbeat, SMALL_PAYLOAD_BYTES_MAX],
  [subjects.ack, SMALL_PAYLOAD_BYTES_MAX],
  [subjects.jobCancel, SMALL_PAYLOAD_BYTES_MAX],
];
for (const [rule, bytesMax] of caps) {
  Deno.test(`ingest() refuses more than ${bytesMax} bytes on ${rule.pattern} before it looks at anything else`, () => {
    const { verified, door } = lab();
    const subject = rule.of({ peel: "evil", jid: "0ujtsYcgvSTl8PAuAdqWYSMnLOv" } as never);
    const given = door({ subject, headers: [], data: new Uint8Array(bytesMax + 1) }, rule);
    assert.equal(given.ok ? "" : given.reason, "payload_too_large");
    assert.deepEqual(verified, []);
  });
}

Deno.test("unitsOf() counts a message once, and again for every part that takes as long to hash", () => {
  assert.deepEqual([0, INGRESS_UNIT_BYTES - 1, INGRESS_UNIT_BYTES].map(unitsOf), [1, 1, 2]);
});
