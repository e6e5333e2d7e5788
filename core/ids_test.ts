import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { isZesterError } from "./errors.ts";
import {
  configuredPeelId,
  displayPeelId,
  isEventId,
  isId,
  isJid,
  isKsuid,
  isOperatorName,
  isPeelId,
  isReactionJid,
  newChallengeId,
  newEnrollmentId,
  newJid,
  newKsuid,
  newMasterId,
  parseKsuid,
  parseOperatorName,
  parsePeelId,
  reactionJid,
  sanitizePeelId,
} from "./ids.ts";
import type { Hash, Random } from "./ports.ts";
import { subjects } from "./subjects.ts";

const NOW_MS = Date.parse("2026-03-01T12:00:00Z");
const IDS = { numRuns: 10_000 };
const hash: Hash = {
  sha256: (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest()),
};

/** Gives the same bytes every time. */
function fixedRandom(hex: string): Random {
  return { bytes: () => Uint8Array.fromHex(hex), float: () => 0 };
}

/** Gives other bytes each time. */
function countingRandom(): Random {
  let calls = 0;
  return {
    bytes(length) {
      const bytes = new Uint8Array(length);
      new DataView(bytes.buffer).setUint32(0, calls++);
      return bytes;
    },
    float: () => 0,
  };
}

// From the readme of segmentio/ksuid, and the two ends of the range.
const vectors: [text: string, iso: string, payload: string][] = [
  ["0ujtsYcgvSTl8PAuAdqWYSMnLOv", "2017-10-10T04:00:47Z", "B5A1CD34B5F99D1154FB6853345C9735"],
  ["0ujzPyRiIAffKhBux4PvQdDqMHY", "2017-10-10T04:46:20Z", "73FC1AA3B2446246D6E89FCD909E8FE8"],
  ["000000000000000000000000000", "2014-05-13T16:53:20Z", "00000000000000000000000000000000"],
  ["aWgEPTl1tmebfsQzFP4bxwgy80V", "2150-06-19T23:21:35Z", "FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF"],
];

for (const [text, iso, payload] of vectors) {
  Deno.test(`parseKsuid() and newKsuid() agree on ${text}`, () => {
    const parsed = parseKsuid(text);
    assert.equal(new Date(parsed.timeMs).toISOString(), iso.replace("Z", ".000Z"));
    assert.equal(parsed.payload.toHex(), payload.toLowerCase());
    assert.equal(newKsuid(Date.parse(iso), fixedRandom(payload)), text);
  });
}

const notKsuids = [
  "",
  "0ujtsYcgvSTl8PAuAdqWYSMnLO",
  "0ujtsYcgvSTl8PAuAdqWYSMnLOvv",
  "0ujtsYcgvSTl8PAuAdqWYSMnLO-",
  "0ujtsYcgvSTl8PAuAdqWYSMnLO\n",
  "aWgEPTl1tmebfsQzFP4bxwgy80W",
  "zzzzzzzzzzzzzzzzzzzzzzzzzzz",
];

for (const text of notKsuids) {
  Deno.test(`isKsuid() refuses ${JSON.stringify(text)}`, () => {
    assert.equal(isKsuid(text), false);
    assert.equal(isJid(text), false);
    assert.throws(() => parseKsuid(text), (error) => isZesterError(error, "bad_id"));
  });
}

Deno.test("newKsuid() sorts by second, whatever the random bytes are", () => {
  const time = fc.integer({ min: 1_400_000_000, max: 4_000_000_000 });
  const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
  fc.assert(
    fc.property(time, time, bytes, bytes, (a, b, randomA, randomB) => {
      fc.pre(a !== b);
      const [idA, idB] = [[a, randomA] as const, [b, randomB] as const].map(([seconds, random]) =>
        newKsuid(seconds * 1000, { bytes: () => random, float: () => 0 })
      );
      assert.equal(idA! < idB!, a < b);
      assert.deepEqual(parseKsuid(idA!), { timeMs: a * 1000, payload: randomA });
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("newKsuid() gives valid and different ids when the clock is outside of its range", () => {
  const random = countingRandom();
  const ids = [-1, 0, 1_000_000_000_000, 1e15].map((nowMs) => newKsuid(nowMs, random));
  assert.equal(new Set(ids).size, ids.length);
  assert(ids.every(isKsuid));
});

Deno.test("newMasterId(), newEnrollmentId() and newChallengeId() have their prefix and no other's", () => {
  const random = countingRandom();
  const made = {
    master: newMasterId(NOW_MS, random),
    enrollment: newEnrollmentId(NOW_MS, random),
    challenge: newChallengeId(NOW_MS, random),
  };
  for (const kind of ["master", "enrollment", "challenge"] as const) {
    assert(isId(kind, made[kind]));
    assert(isPeelId(made[kind]), "is one token of a subject");
    for (const other of Object.values(made)) assert.equal(isId(kind, other), other === made[kind]);
    assert.equal(isId(kind, made[kind].slice(0, -1)), false);
  }
});

Deno.test("newJid() gives a job id that is not a reaction's", () => {
  const jid = newJid(NOW_MS, countingRandom());
  assert(isJid(jid));
  assert.equal(isReactionJid(jid), false);
});

Deno.test("reactionJid() is the same for the same parts", () => {
  const jid = reactionJid(["web-01", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "reactor.a", "b"], hash);
  assert.equal(jid, reactionJid(["web-01", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", "reactor.a", "b"], hash));
  assert(isJid(jid) && isReactionJid(jid) && !isKsuid(jid));
});

Deno.test("reactionJid() is different for parts that only read the same when joined", () => {
  const lists = [["ab", "c"], ["a", "bc"], ["abc"], ["abc", ""], ["", "abc"], ["a\0b", "c"], []];
  const jids = lists.map((parts) => reactionJid(parts, hash));
  assert.equal(new Set(jids).size, lists.length);
});

Deno.test("isReactionJid() and isEventId() refuse other shapes", () => {
  for (
    const text of ["rxn-", `rxn-${"A".repeat(32)}`, `rxn-${"a".repeat(33)}`, `x${"a".repeat(31)}`]
  ) {
    assert.equal(isReactionJid(text), false, text);
  }
  assert(isEventId("a".repeat(64)) && isEventId("0ujtsYcgvSTl8PAuAdqWYSMnLOv"));
  assert.equal(isEventId("a".repeat(63)), false);
  assert.equal(isEventId(`rxn-${"a".repeat(32)}`), false);
});

const peelIds: [text: string, valid: boolean][] = [
  ["web-01", true],
  ["web-01_example_com", true],
  ["A", true],
  ["0", true],
  ["a".repeat(128), true],
  ["a".repeat(129), false],
  ["", false],
  ["_master", false],
  ["_admin", false],
  ["-web", false],
  ["web.01", false],
  ["web 01", false],
  ["web\n", false],
  ["web\r\nPUB x 0", false],
  ["*", false],
  [">", false],
  ["wéb", false],
  ["web\0", false],
];

for (const [text, valid] of peelIds) {
  const shown = JSON.stringify(text.slice(0, 30));
  Deno.test(`isPeelId() ${valid ? "takes" : "refuses"} ${shown} (${text.length})`, () => {
    assert.equal(isPeelId(text), valid);
    assert.equal(isOperatorName(text), valid);
    if (valid) assert.equal(parseOperatorName(text), text);
    else assert.throws(() => parseOperatorName(text), (error) => isZesterError(error, "bad_id"));
  });
}

Deno.test("parsePeelId() takes both forms and says what is wrong with others", () => {
  assert.equal(parsePeelId("web-01.example.com"), "web-01_example_com");
  assert.equal(parsePeelId("web-01_example_com"), "web-01_example_com");
  for (const text of ["", ".web", "_web", "a b", "web*", "a".repeat(129)]) {
    assert.throws(
      () => parsePeelId(text),
      (error) =>
        isZesterError(error, "bad_id") && /not a peel id/.test(error.message) && !!error.fix,
    );
  }
});

const sanitized: [name: string, id: string][] = [
  ["web-01.example.com", "web-01_example_com"],
  ["Web 01", "Web-01"],
  ["_master", "master"],
  ["--__.a", "a"],
  ["é", "no id"],
  ["aé", "a--"],
  ["a/../b", "a-__-b"],
  ["...", "no id"],
  ["", "no id"],
  ["x".repeat(300), "x".repeat(128)],
];

for (const [name, id] of sanitized) {
  Deno.test(`sanitizePeelId() makes ${JSON.stringify(id.slice(0, 30))} of ${name.slice(0, 30)}`, () => {
    if (id === "no id") {
      assert.throws(() => sanitizePeelId(name), (error) => isZesterError(error, "bad_id"));
    } else {
      assert.equal(sanitizePeelId(name), id);
    }
  });
}

Deno.test("configuredPeelId() refuses an underscore, which would be shown as a dot", () => {
  assert.equal(configuredPeelId("web-01.example.com"), "web-01_example_com");
  assert.equal(configuredPeelId("web 01"), "web-01");
  assert.throws(
    () => configuredPeelId("web_01"),
    (error) => isZesterError(error, "bad_id") && /underscore/.test(error.message) && !!error.fix,
  );
});

const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 160 }),
  fc.string({
    unit: fc.constantFrom("a", "Z", "0", "-", "_", ".", "*", ">", " ", "\r", "\n", "\0", "/"),
  }),
);

Deno.test("sanitizePeelId() makes a peel id of 10,000 names, or says bad_id", () => {
  fc.assert(
    fc.property(anyText, (name) => {
      try {
        const id = sanitizePeelId(name);
        assert(isPeelId(id));
        assert.equal(sanitizePeelId(id), id);
      } catch (error) {
        assert(isZesterError(error, "bad_id"), `${error}`);
      }
    }),
    IDS,
  );
});

Deno.test("parsePeelId() undoes displayPeelId() for 10,000 ids", () => {
  const id = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}$/);
  fc.assert(
    fc.property(id, (text) => {
      assert(isPeelId(text));
      assert.equal(parsePeelId(displayPeelId(text)), text);
      assert.equal(parsePeelId(text), text);
    }),
    IDS,
  );
});

Deno.test("isPeelId() takes exactly what the subjects take, for 10,000 texts: an id never spans two tokens", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      assert.equal(subjects.command.parse(`zester.cmd.${text}`) !== null, isPeelId(text));
    }),
    IDS,
  );
});
