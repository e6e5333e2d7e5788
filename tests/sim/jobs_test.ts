import assert from "node:assert/strict";
import { jobsScenario } from "./jobs_scenario.ts";
import { assertJobsWell } from "./jobs_seeds.ts";
import { simulate } from "./simulate.ts";

Deno.test("simulate() finds no job that is lost, doubled or misreported in seeds 1 to 250", async () => {
  await assertJobsWell({ from: 1, seeds: 250 });
});

Deno.test("simulate() repeats a run of jobs exactly from its seed", async () => {
  for (const seed of [3, 25, 59]) {
    const first = await simulate({ seed, scenario: jobsScenario() });
    const second = await simulate({ seed, scenario: jobsScenario() });
    assert.equal(second.hash, first.hash);
  }
});
