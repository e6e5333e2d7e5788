import assert from "node:assert/strict";
import { plantedJobBugs } from "./jobs_planted.ts";
import { simulate, simulateMany } from "./simulate.ts";

const SEEDS_TO_CATCH = 200;

for (const { bug, scenario } of plantedJobBugs) {
  Deno.test(`simulate() catches a fleet that ${bug}`, async () => {
    const { failed } = await simulateMany(scenario, { seeds: SEEDS_TO_CATCH });
    assert.ok(failed !== null, `not caught within ${SEEDS_TO_CATCH} seeds`);
    const again = await simulate({ seed: failed.seed, scenario });
    assert.equal(again.failure, failed.failure, "the seed must show the same violation again");
  });
}
