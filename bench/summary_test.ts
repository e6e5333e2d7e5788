import assert from "node:assert/strict";
import { ratioOf, renderResult, renderSeconds, spreadOf, summariseSide } from "./summary.ts";

const spreads: [values: number[], median: number, min: number, max: number][] = [
  [[3, 1, 2], 2, 1, 3],
  [[4, 1, 3, 2], 2.5, 1, 4],
  [[7], 7, 7, 7],
  [[], NaN, NaN, NaN],
];
for (const [values, median, min, max] of spreads) {
  Deno.test(`spreadOf() gives ${median} for [${values}]`, () => {
    assert.deepEqual(spreadOf(values), { median, min, max });
  });
}

const times: [seconds: number, text: string][] = [
  [2.345, "2.35 s"],
  [0.01234, "12.3 ms"],
  [0.0000456, "45.6 µs"],
  [NaN, "–"],
];
for (const [seconds, text] of times) {
  Deno.test(`renderSeconds() writes ${seconds} as ${text}`, () => {
    assert.equal(renderSeconds(seconds), text);
  });
}

Deno.test("renderResult() shows both sides, the ratio and whether the aim was met", () => {
  const floor = summariseSide("empty", [{ seconds: 0.1, cpuSeconds: 0.05 }]);
  const subject = summariseSide("zester", [{ seconds: 0.2, cpuSeconds: 0.1 }]);
  const ratio = ratioOf(subject, floor);
  assert.deepEqual(ratio, { seconds: 2, cpuSeconds: 2 });
  const common = {
    scenario: "s",
    what: "w",
    repeats: 1,
    floor,
    subject,
    ratio,
    notes: ["of note"],
  };
  const aim = { ratio: 1.5, of: "cpuSeconds" as const, met: false };
  const text = renderResult({ ...common, aim });
  assert.match(text, /empty +100 ms .*\n +zester +200 ms .*\n +ratio +time 2.00 {2}CPU 2.00/);
  assert.match(text, /aim: 1.5 in CPU time: MISSED\)\n {2}of note$/);
  assert.doesNotMatch(renderResult(common), /aim/);
});
