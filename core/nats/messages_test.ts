import assert from "node:assert/strict";
import { parseJson } from "./api.ts";
import { fieldsOf, headersOf, parseAckSubject, parseHeaderBlock } from "./messages.ts";

const INFO = {
  deliveries: 2,
  sequence: 9007199254740993n,
  consumerSequence: 7n,
  storedMs: 1_700_000_000_123,
  pending: 5,
};

const REPLIES: [name: string, reply: string | undefined, want: typeof INFO | null][] = [
  ["the short form", "$JS.ACK.s.c.2.9007199254740993.7.1700000000123456789.5", INFO],
  ["the long form", "$JS.ACK.d.acc.s.c.2.9007199254740993.7.1700000000123456789.5", INFO],
  ["a token at the end", "$JS.ACK.d.acc.s.c.2.9007199254740993.7.1700000000123456789.5.tok", INFO],
  ["another subject", "_INBOX.a.b", null],
  ["too few tokens", "$JS.ACK.s.c.1", null],
  ["no reply", undefined, null],
];

for (const [name, reply, want] of REPLIES) {
  Deno.test(`parseAckSubject() reads ${name}`, () =>
    assert.deepEqual(parseAckSubject(reply), want));
}

Deno.test("headersOf() and fieldsOf() keep names, order and every value", () => {
  const fields = [["Zester-Sig", "a"], ["x-lower", "1"], ["x-lower", "2"]] as const;
  assert.deepEqual(fieldsOf(headersOf(fields)), fields);
  assert.equal(headersOf([]), undefined);
  assert.throws(() => headersOf([["A", "b\r\nC: d"]]));
});

Deno.test("parseHeaderBlock() reads the block of a stored message", () => {
  const block = new TextEncoder().encode("NATS/1.0\r\nA: 1\r\nA: 2\r\nB:x:y\r\n\r\n");
  assert.deepEqual(parseHeaderBlock(block), [["A", "1"], ["A", "2"], ["B", "x:y"]]);
  assert.deepEqual(parseHeaderBlock(new Uint8Array()), []);
});

Deno.test("parseJson() keeps integers above 2^53 exact", () => {
  assert.deepEqual(parseJson('{"seq":9007199254740993,"n":5,"f":1.5,"s":"9007199254740993"}'), {
    seq: 9007199254740993n,
    n: 5,
    f: 1.5,
    s: "9007199254740993",
  });
});
