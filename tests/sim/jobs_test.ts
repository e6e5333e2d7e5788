import assert from "node:assert/strict";
import { buckets } from "../../core/buckets.ts";
import type { Bucket, Store } from "../../core/ports.ts";
import { JOBS_SOMETIMES, jobsScenario, type JobsVariant } from "./jobs_scenario.ts";
import { explain, simulate, simulateMany } from "./simulate.ts";

const SEEDS = 200;
const SEEDS_TO_CATCH = 200;

Deno.test(`simulate() finds no job that is lost, doubled or misreported in ${SEEDS} seeds`, async () => {
  const { failed, sometimes } = await simulateMany(jobsScenario(), { seeds: SEEDS });
  assert.ok(failed === null, failed === null ? "" : explain(failed));
  const missing = JOBS_SOMETIMES.filter((each) => !sometimes.counts.has(each));
  assert.deepEqual(missing, [], "never happened, so nothing was shown about it");
});

Deno.test("simulate() repeats a run of jobs exactly from its seed", async () => {
  for (const seed of [3, 25, 59]) {
    const first = await simulate({ seed, scenario: jobsScenario() });
    const second = await simulate({ seed, scenario: jobsScenario() });
    assert.equal(second.hash, first.hash);
  }
});

/** Replaces methods of one bucket. */
function withBucket(
  name: string,
  change: (bucket: Bucket) => Partial<Bucket>,
): (store: Store) => Store {
  return (store) => ({
    ...store,
    bucket(each) {
      const bucket = store.bucket(each);
      if (each !== name) return bucket;
      const changes = change(bucket) as Record<PropertyKey, unknown>;
      return new Proxy(bucket, {
        get(target, key) {
          const value = changes[key] ?? Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    },
  });
}

const planted: [bug: string, variant: JobsVariant][] = [
  ["takes every request for a new one", { forgetful: true }],
  ["forgets to flush its journal", {
    files: (files) => ({ ...files, appendDurably: () => Promise.resolve() }),
  }],
  ["tells peels before the record says running", {
    store: withBucket(buckets.jobs.name, (bucket) => ({
      update(key, value, revision) {
        void bucket.update(key, value, revision).catch(() => {});
        return Promise.resolve({ outcome: "ok", revision: revision + 1n });
      },
    })),
  }],
  ["takes an unclear write of a return for done", {
    store: withBucket(buckets.jobReturns.name, (bucket) => ({
      async put(key, value) {
        const written = await bucket.put(key, value);
        return written.outcome === "unknown" ? { outcome: "ok", revision: 0n } : written;
      },
    })),
  }],
];
for (const [bug, variant] of planted) {
  Deno.test(`simulate() catches a fleet that ${bug}`, async () => {
    const scenario = jobsScenario(variant);
    const { failed } = await simulateMany(scenario, { seeds: SEEDS_TO_CATCH });
    assert.ok(failed !== null, `not caught within ${SEEDS_TO_CATCH} seeds`);
    assert.equal((await simulate({ seed: failed.seed, scenario })).failure, failed.failure);
  });
}
