import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createMetrics, fakeMetrics, type MetricKey, METRICS } from "./metrics.ts";

const OPTIONS = { version: "1.2.3", usage: () => ({ residentBytes: 5, cpuSeconds: 0.25 }) };
const ROOT = join(import.meta.dirname!, "..");

function sourcesUnder(folder: string): string {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" });
  const sources = files.filter((file) => file.endsWith(".ts") && !file.endsWith("_test.ts"));
  return sources.map((file) => readFileSync(join(ROOT, folder, file), "utf8")).join("\n");
}

/** Metrics of a component that neither its own code nor core touches. */
function untouched(sources: Readonly<Record<string, string>>): string[] {
  return Object.entries(METRICS).flatMap(([key, { components }]) => {
    const touches = new RegExp(`\\.${key}\\.(inc|set|observe)\\(`);
    return components.filter((component) => !touches.test(sources[component] + sources["core"]!))
      .map((component) => `${component}: ${key}`);
  });
}

Deno.test("METRICS declares no metric that its component never touches", () => {
  const folders = ["core", "master", "peel"];
  const sources = Object.fromEntries(folders.map((folder) => [folder, sourcesUnder(folder)]));
  assert.deepEqual(untouched(sources), []);
});

Deno.test("METRICS: the check for untouched metrics can fail", () => {
  const found = untouched({ core: "", master: "metrics.dispatch.inc({ result })", peel: "" });
  assert.ok(found.includes("peel: exec"));
  assert.ok(!found.includes("master: dispatch"));
});

Deno.test("METRICS: names are unique, and only counters end in _total", () => {
  const specs = Object.values(METRICS);
  assert.equal(new Set(specs.map(({ name }) => name)).size, specs.length);
  for (const { name, type } of specs) {
    assert.equal(name.endsWith("_total"), type === "counter", name);
  }
});

/** What the specification of the control plane lists about jobs, targets, facts and connections. */
const specified: [name: string, type: string, labels: string[], buckets?: [number, number]][] = [
  ["connected_peels", "gauge", []],
  ["jobs_total", "counter", ["status"]],
  ["job_reclaims_total", "counter", []],
  ["job_active", "gauge", []],
  ["facts_sync_total", "counter", []],
  ["facts_sync_errors_total", "counter", []],
  ["targeting_resolution_duration_seconds", "histogram", [], [0.0001, 0.1]],
  ["nats_reconnects_total", "counter", []],
  ["nats_disconnects_total", "counter", []],
  ["peel_connected", "gauge", []],
  ["peel_facts_collect_duration_seconds", "histogram", [], [0.01, 5]],
  ["peel_uptime_seconds", "gauge", []],
];
for (const [name, type, labels, bounds] of specified) {
  Deno.test(`METRICS has zester_${name} as it is specified`, () => {
    const found = Object.values(METRICS).find((each) => each.name === `zester_${name}`);
    assert.ok(found);
    assert.deepEqual([found.type, found.labels], [type, labels]);
    const buckets: readonly number[] = "buckets" in found ? found.buckets : [];
    assert.deepEqual([buckets[0], buckets.at(-1)], bounds ?? [undefined, undefined]);
  });
}

Deno.test("METRICS: the buckets of zester_job_duration_seconds are those specified", () => {
  const { buckets } = METRICS.jobSeconds;
  assert.deepEqual([...buckets], [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]);
});

Deno.test("createMetrics() exposes what was counted, in the text format of Prometheus", async () => {
  const metrics = await createMetrics("master", OPTIONS);
  metrics.ingressRefused.inc({ reason: "spoof" });
  metrics.ingressRefused.inc({ reason: "spoof" }, 2);
  metrics.connectedPeels.set(7);
  const text = await metrics.exposition.text();
  assert.match(metrics.exposition.contentType, /^text\/plain; version=0\.0\.4/);
  for (
    const line of [
      "# TYPE zester_ingress_refused_total counter",
      'zester_ingress_refused_total{reason="spoof"} 3',
      "zester_connected_peels 7",
      'zester_build_info{version="1.2.3"} 1',
      "zester_resident_bytes 5",
      "zester_cpu_seconds 0.25",
    ]
  ) assert.ok(text.split("\n").includes(line), line);
});

Deno.test("createMetrics() exposes nothing of another component", async () => {
  const metrics = await createMetrics("peel", OPTIONS);
  metrics.connectedPeels.set(7);
  metrics.exec.inc({ result: "ok" });
  const text = await metrics.exposition.text();
  assert.doesNotMatch(text, /zester_connected_peels/);
  assert.match(text, /zester_exec_total\{result="ok"\} 1/);
});

Deno.test("createMetrics() makes independent sets, so that tests do not share counts", async () => {
  const [one, two] = [await createMetrics("peel", OPTIONS), await createMetrics("peel", OPTIONS)];
  one.natsReconnects.inc();
  assert.match(await two.exposition.text(), /zester_nats_reconnects_total 0/);
});

const fakes: [name: string, key: MetricKey, labels: Record<string, string>, want: number][] = [
  ["sums a counter per label", "exec", { result: "ok" }, 3],
  ["keeps labels apart", "exec", { result: "failed" }, 1],
  ["keeps the last value of a gauge", "jobActive", {}, 2],
  ["is 0 where nothing was touched", "natsDisconnects", {}, 0],
];
for (const [name, key, labels, want] of fakes) {
  Deno.test(`fakeMetrics() ${name}`, () => {
    const metrics = fakeMetrics();
    metrics.exec.inc({ result: "ok" });
    metrics.exec.inc({ result: "ok" }, 2);
    metrics.exec.inc({ result: "failed" });
    metrics.jobActive.set(5);
    metrics.jobActive.set(2);
    assert.equal(metrics.value(key, labels), want);
  });
}
