import assert from "node:assert/strict";
import fc from "fast-check";
import type { LogRecord } from "./jetstream/types.ts";
import {
  decodeBody,
  decodeFrameHead,
  decodeLogHead,
  encodeLogHead,
  findMarker,
  FRAME_HEAD_BYTES,
  FrameBuilder,
  isIntact,
  isTornLogHead,
  LOG_HEAD_BYTES,
} from "./log.ts";

const MARKER = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]);

const plain = { noNullPrototype: true };

const record: fc.Arbitrary<LogRecord> = fc.oneof(
  fc.record({
    type: fc.constant("stored" as const),
    stream: fc.string(),
    sequence: fc.maxSafeNat(),
    subject: fc.string(),
    headers: fc.array(fc.tuple(fc.string(), fc.string())),
    data: fc.uint8Array(),
    timeMs: fc.double({ noNaN: true, noDefaultInfinity: true }).map((ms) => ms + 0), // no -0: time has none
  }, plain),
  fc.record({ type: fc.constant("stream_delete" as const), stream: fc.string() }, plain),
  fc.record({
    type: fc.constant("removed" as const),
    stream: fc.string(),
    sequences: fc.array(fc.maxSafeNat()),
  }, plain),
);

function frameOf(records: readonly LogRecord[]): Uint8Array {
  const builder = new FrameBuilder(MARKER);
  for (const each of records) builder.add(each);
  return builder.finish();
}

function readBack(frame: Uint8Array): LogRecord[] | null {
  const head = decodeFrameHead(frame, MARKER);
  if (head === null) return null;
  const body = frame.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + head.length);
  return isIntact(head, body) ? decodeBody(body) : null;
}

Deno.test("decodeBody() reads back the records that FrameBuilder framed", () => {
  fc.assert(fc.property(fc.array(record, { minLength: 1 }), (records) => {
    assert.deepEqual(readBack(frameOf(records)), records);
  }));
});

Deno.test("isIntact() sees every flipped bit of a frame", () => {
  const frame = frameOf([{ type: "stream_delete", stream: "orders" }]);
  for (let bit = 0; bit < 8 * frame.length; bit++) {
    const flipped = frame.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.equal(readBack(flipped), null, `bit ${bit}`);
  }
});

Deno.test("FrameBuilder.finish() starts a new frame and leaves the finished one alone", () => {
  const builder = new FrameBuilder(MARKER);
  builder.add({ type: "stream_delete", stream: "a" });
  const first = builder.finish();
  assert.equal(builder.isEmpty, true);
  builder.add({ type: "stream_delete", stream: "b" });
  builder.finish();
  assert.deepEqual(readBack(first), [{ type: "stream_delete", stream: "a" }]);
});

Deno.test("decodeBody() gives data that does not keep the frame in memory", () => {
  const data = new Uint8Array([7]);
  const frame = frameOf([{
    type: "stored",
    stream: "s",
    sequence: 1,
    subject: "a",
    headers: [],
    data,
    timeMs: 0,
  }]);
  const [back] = readBack(frame) ?? [];
  assert.ok(back?.type === "stored");
  assert.equal(back.data.buffer.byteLength, 1);
});

Deno.test("decodeLogHead() gives the marker of encodeLogHead() and refuses every flipped bit", () => {
  const head = encodeLogHead(MARKER);
  assert.deepEqual(decodeLogHead(head), MARKER);
  for (let bit = 0; bit < 8 * head.length; bit++) {
    const flipped = head.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.throws(() => decodeLogHead(flipped), { code: "store_damaged" });
  }
});

Deno.test("isTornLogHead() takes every beginning of a head and nothing else", () => {
  const head = encodeLogHead(MARKER);
  for (let length = 0; length < LOG_HEAD_BYTES; length++) {
    assert.equal(isTornLogHead(head.subarray(0, length)), true);
  }
  assert.equal(isTornLogHead(head), false);
  assert.equal(isTornLogHead(new TextEncoder().encode("#!/bin/sh")), false);
});

Deno.test("findMarker() finds the first whole marker at or after a place", () => {
  const bytes = new Uint8Array([1, 2, 3, 1, ...MARKER, 9, ...MARKER, 1, 2]);
  assert.equal(findMarker(bytes, 0, MARKER), 4);
  assert.equal(findMarker(bytes, 5, MARKER), 13);
  assert.equal(findMarker(bytes, 14, MARKER), -1);
});
