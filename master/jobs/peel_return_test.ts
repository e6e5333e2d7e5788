import assert from "node:assert/strict";
import { encode as pack } from "@msgpack/msgpack";
import { DECODE_ITEMS_MAX, PAYLOAD_BYTES_MAX } from "../../core/limits.ts";
import { decodeFollow, encodeFollow } from "../../core/wire/follow.ts";
import { decodePeelReturn } from "./peel_return.ts";

const JID = "2ZZZZZZZZZZZZZZZZZZZZZZZZZZ";

function packed(change: object, results: readonly object[]): Uint8Array {
  const head = { jid: JID, peel_id: "evil", success: false };
  const duration = { duration: 0, timestamp: new Date(0) };
  return pack({ v: 1, ...head, ...duration, ...change, return_data: { ...head, results } });
}

const bare = { name: "", changed: false, duration: 0 };
/** As many parts as a decoder takes, in few bytes. */
const manyParts = Object.fromEntries(
  Array.from({ length: DECODE_ITEMS_MAX / 2 - 100 }, (_, at) => [at.toString(36), ""]),
);
const long = "x".repeat(PAYLOAD_BYTES_MAX - 400);

const cases: [name: string, bytes: Uint8Array, isWhole: boolean][] = [
  ["keeps a plain one", packed({}, [{ ...bare, name: "a" }]), true],
  ["keeps a large one", packed({}, [{ ...bare, details: { stdout: "x".repeat(500_000) } }]), true],
  ["shortens one that swells", packed({}, Array.from({ length: 26_000 }, () => bare)), false],
  ["shortens one of many parts", packed({}, [{ ...bare, details: manyParts }]), false],
  ["shortens a long name", packed({}, [{ ...bare, name: long }]), false],
  ["shortens a long error", packed({ error: long }, [bare]), false],
];
for (const [name, bytes, isWhole] of cases) {
  Deno.test(`decodePeelReturn() ${name}, and an operator can read it in any case`, () => {
    const given = decodePeelReturn(bytes);
    const event = { kind: "returns" as const, v: 1, jid: JID, returns: [given] };
    const read = decodeFollow(encodeFollow(event));
    assert.ok(read.kind === "returns" && read.returns[0]?.success === false);
    const [result] = given.returnData?.results ?? [];
    assert.equal(!/too large to keep/.test(result?.details["result"] ?? ""), isWhole);
  });
}

Deno.test("decodePeelReturn() leaves it to masters to call a peel unreachable", () => {
  assert.equal(decodePeelReturn(packed({ unreachable: true }, [])).unreachable, undefined);
});
