import assert from "node:assert/strict";
import fc from "fast-check";
import { formatDuration, parseDuration } from "./duration.ts";

const parsed: [text: string, want: number | null][] = [
  ["0", 0],
  ["5m", 300_000],
  ["1h30m", 5_400_000],
  ["250ms", 250],
  ["1.5s", 1_500],
  ["2d", 172_800_000],
  ["1m500ms", 60_500],
  ["5", null],
  ["", null],
  ["5 m", null],
  ["-5m", null],
  ["5x", null],
  ["99999999999999d", null],
];
for (const [text, want] of parsed) {
  Deno.test(`parseDuration() of "${text}" is ${want}`, () =>
    assert.equal(parseDuration(text), want));
}

const formatted: [ms: number, want: string][] = [
  [0, "0ms"],
  [12.4, "12ms"],
  [14_210, "14.2s"],
  [59_999, "59.9s"],
  [60_000, "1m"],
  [108_000, "1m48s"],
  [11_400_000, "3h10m"],
  [187_200_000, "2d4h"],
];
for (const [ms, want] of formatted) {
  Deno.test(`formatDuration() of ${ms} is ${want}`, () => assert.equal(formatDuration(ms), want));
}

Deno.test("formatDuration() gives what parseDuration() reads, never longer than it was", () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 10 ** 12 }), (ms) => {
    const again = parseDuration(formatDuration(ms));
    assert.ok(again !== null && again <= ms);
  }));
});
