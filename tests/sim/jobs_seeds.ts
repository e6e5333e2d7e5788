/** What CI asks of the jobs scenario, in parts: test files run beside each other, and all seeds in one would take too long. */
import assert from "node:assert/strict";
import { type Fault, FAULTS } from "./faults.ts";
import { JOBS_SOMETIMES, jobsScenario } from "./jobs_scenario.ts";
import { explain, simulateMany } from "./simulate.ts";

/** Runs these seeds; fails on a violation, and if they have not met all that they should. */
export async function assertJobsWell(part: { from: number; seeds: number }): Promise<void> {
  const { failed, sometimes } = await simulateMany(jobsScenario(), part);
  assert.ok(failed === null, failed === null ? "" : explain(failed));
  const wanted = [...Object.keys(FAULTS) as Fault[], ...JOBS_SOMETIMES];
  const missing = wanted.filter((each) => !sometimes.counts.has(each));
  assert.deepEqual(missing, [], "never happened, so nothing was shown about it");
}
