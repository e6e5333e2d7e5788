import assert from "node:assert/strict";
import { cpuOfEndedChildren } from "./cpu.ts";
import { measure, sample } from "./harness.ts";

Deno.test("measure() interleaves floor and subject after one unmeasured round", async () => {
  const order: string[] = [];
  const side = (name: string, seconds: number) => ({
    name,
    run: () => {
      order.push(name);
      return Promise.resolve({ seconds, cpuSeconds: 2 * seconds });
    },
  });
  const scenario = { name: "n", what: "w", floor: side("f", 1), subject: side("s", 3) };
  const result = await measure(scenario, { repeats: 2 });
  assert.equal(order.join(""), "fsfsfs");
  assert.deepEqual(result.ratio, { seconds: 3, cpuSeconds: 3 });
  assert.equal(result.aim, undefined);
});

Deno.test("measure() leaves out as many rounds as the scenario says", async () => {
  let round = 0;
  const side = { name: "x", run: () => Promise.resolve({ seconds: ++round, cpuSeconds: 1 }) };
  const scenario = { name: "n", what: "w", floor: side, subject: side, warmups: 3 };
  const { floor } = await measure(scenario, { repeats: 1 });
  assert.equal(floor.seconds.min, 7);
});

for (const [ratio, met] of [[3, true], [2.9, false]] as const) {
  Deno.test(`measure() says that an aim of ${ratio} is ${met ? "met" : "missed"} by 3`, async () => {
    const side = (seconds: number) => ({
      name: "x",
      run: () => Promise.resolve({ seconds, cpuSeconds: 1 }),
    });
    const aim = { ratio, of: "seconds" as const };
    const scenario = { name: "n", what: "w", floor: side(1), subject: side(3), aim };
    assert.equal((await measure(scenario, { repeats: 1 })).aim?.met, met);
  });
}

Deno.test({
  name: "sample() counts the CPU time of children that have ended",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const spin = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
    const { seconds, cpuSeconds } = await sample(async () => {
      await new Deno.Command("sh", { args: ["-c", spin] }).output();
    }, cpuOfEndedChildren);
    assert.ok(cpuSeconds > 0, `${cpuSeconds} s of CPU`);
    assert.ok(cpuSeconds <= seconds + 0.05, `${cpuSeconds} s of CPU in ${seconds} s`);
  },
});
