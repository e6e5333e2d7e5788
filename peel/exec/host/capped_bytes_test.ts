import assert from "node:assert/strict";
import fc from "fast-check";
import { CappedBytes } from "./capped_bytes.ts";

Deno.test("CappedBytes keeps the beginning and counts the rest, however it comes in pieces", () => {
  const pieces = fc.array(fc.uint8Array({ maxLength: 6_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(pieces, fc.nat(20_000), fc.nat(20_000), (given, max, expected) => {
      const bytes = new CappedBytes(max, expected);
      given.forEach((piece) => bytes.add(piece));
      const all = given.flatMap((piece) => [...piece]);
      assert.deepEqual([...bytes.bytes()], all.slice(0, max));
      assert.equal(bytes.dropped, Math.max(0, all.length - max));
    }),
    { numRuns: 50 },
  );
});

const texts: [name: string, max: number, want: string][] = [
  ["all of it", 5, "aüb\ufffd"],
  ["a character cut in two", 2, "a"],
  ["nothing", 0, ""],
];
for (const [name, max, want] of texts) {
  Deno.test(`CappedBytes.text() gives ${name}`, () => {
    const bytes = new CappedBytes(max);
    bytes.add(new Uint8Array([0x61, 0xc3, 0xbc, 0x62, 0xff]));
    assert.equal(bytes.text(), want);
  });
}
