import assert from "node:assert/strict";
import { type Fault, FAULTS } from "./faults.ts";
import { LEASE_SOMETIMES, leaseScenario } from "./lease_scenario.ts";
import { planted } from "./planted.ts";
import { explain, simulate, simulateMany } from "./simulate.ts";

const SEEDS = 500;
const SEEDS_TO_CATCH = 200;

Deno.test(`simulate() finds no violation by the lease helper in ${SEEDS} seeds, and meets every fault`, async () => {
  const { failed, sometimes } = await simulateMany(leaseScenario(), { seeds: SEEDS });
  assert.ok(failed === null, failed === null ? "" : explain(failed));
  const wanted = [...Object.keys(FAULTS) as Fault[], ...LEASE_SOMETIMES];
  const missing = wanted.filter((each) => !sometimes.counts.has(each));
  assert.deepEqual(missing, [], "never happened, so nothing was shown about it");
});

Deno.test("simulate() repeats a run exactly from its seed", async () => {
  for (const seed of [1, 2, 3, 77]) {
    const first = await simulate({ seed, scenario: leaseScenario(), keepTrace: true });
    const second = await simulate({ seed, scenario: leaseScenario(), keepTrace: true });
    assert.deepEqual(second.trace, first.trace);
    assert.equal(second.hash, first.hash);
    assert.equal(second.steps, first.steps);
  }
});

Deno.test("simulate() gives different runs for different seeds", async () => {
  const hashes = new Set<string>();
  for (let seed = 1; seed <= 20; seed++) {
    hashes.add((await simulate({ seed, scenario: leaseScenario() })).hash);
  }
  assert.equal(hashes.size, 20);
});

for (const { bug, scenario } of planted) {
  Deno.test(`simulate() catches a lease that ${bug}`, async () => {
    const { failed } = await simulateMany(scenario, { seeds: SEEDS_TO_CATCH });
    assert.ok(failed !== null, `not caught within ${SEEDS_TO_CATCH} seeds`);
    assert.notEqual(failed.failure, null);
    const again = await simulate({ seed: failed.seed, scenario });
    assert.equal(again.failure, failed.failure, "the seed must show the same violation again");
  });
}

Deno.test("explain() names the seed and the command that replays it", async () => {
  const { scenario } = planted[0]!;
  const { failed } = await simulateMany(scenario, { seeds: SEEDS_TO_CATCH });
  assert.ok(failed !== null);
  const text = explain(failed);
  assert.match(text, new RegExp(`seed ${failed.seed}: ${failed.failure!.slice(0, 10)}`));
  assert.match(text, new RegExp(`deno task sim --seed=${failed.seed} --scenario=lease$`));
});
