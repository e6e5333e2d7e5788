/**
 * Every metric, declared once. What a daemon exposes, what code may touch and with which labels all come from this
 * table. Label values must come from closed sets: a label that a peel could choose would grow without end.
 */
import type { Registry } from "prom-client";

/** The programs that expose metrics. */
export type Component = "master" | "peel";

interface MetricSpec {
  readonly name: `zester_${string}`;
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram. */
  readonly buckets?: readonly number[];
  readonly components: readonly Component[];
}

/** The table. A metric that nobody touches fails a test. */
export const METRICS = {
  buildInfo: {
    name: "zester_build_info",
    type: "gauge",
    help: "Always 1; the label says which version runs.",
    labels: ["version"],
    components: ["master", "peel"],
  },
  residentBytes: {
    name: "zester_resident_bytes",
    type: "gauge",
    help: "Memory of this process that is in RAM.",
    labels: [],
    components: ["master", "peel"],
  },
  cpuSeconds: {
    name: "zester_cpu_seconds",
    type: "gauge",
    help: "CPU time that this process has used.",
    labels: [],
    components: ["master", "peel"],
  },
  ingressRefused: {
    name: "zester_ingress_refused_total",
    type: "counter",
    help: "Messages dropped before they had any effect, by reason.",
    labels: ["reason"],
    components: ["master", "peel"],
  },
  natsDisconnects: {
    name: "zester_nats_disconnects_total",
    type: "counter",
    help: "Times the connection to NATS was lost.",
    labels: [],
    components: ["master", "peel"],
  },
  natsReconnects: {
    name: "zester_nats_reconnects_total",
    type: "counter",
    help: "Times the connection to NATS came back.",
    labels: [],
    components: ["master", "peel"],
  },
  dispatch: {
    name: "zester_dispatch_total",
    type: "counter",
    help: "Dispatch requests, by what became of them.",
    labels: ["result"],
    components: ["master"],
  },
  returns: {
    name: "zester_returns_total",
    type: "counter",
    help: "Returns taken from peels, by result.",
    labels: ["result"],
    components: ["master"],
  },
  factsSync: {
    name: "zester_facts_sync_total",
    type: "counter",
    help: "Facts of peels that are stored: these, or newer ones that were there already.",
    labels: [],
    components: ["master"],
  },
  factsSyncErrors: {
    name: "zester_facts_sync_errors_total",
    type: "counter",
    help:
      "Facts of peels that were not stored: refused, too many at once, or the store did not answer.",
    labels: [],
    components: ["master"],
  },
  targetResolves: {
    name: "zester_target_resolves_total",
    type: "counter",
    help: "Questions who matches a target, by what became of them.",
    labels: ["result"],
    components: ["master"],
  },
  targetingSeconds: {
    name: "zester_targeting_resolution_duration_seconds",
    type: "histogram",
    help: "Time to find who matches a target, for dispatches and for questions.",
    labels: [],
    buckets: [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1],
    components: ["master"],
  },
  connectedPeels: {
    name: "zester_connected_peels",
    type: "gauge",
    help: "Peels with a recent heartbeat.",
    labels: [],
    components: ["master"],
  },
  jobs: {
    name: "zester_jobs_total",
    type: "counter",
    help: "Jobs that ended here, by how.",
    labels: ["status"],
    components: ["master"],
  },
  jobSeconds: {
    name: "zester_job_duration_seconds",
    type: "histogram",
    help: "Time from the request to the end of a job.",
    labels: [],
    buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300],
    components: ["master"],
  },
  jobReclaims: {
    name: "zester_job_reclaims_total",
    type: "counter",
    help: "Jobs taken over from masters that are gone.",
    labels: [],
    components: ["master"],
  },
  jobActive: {
    name: "zester_job_active",
    type: "gauge",
    help: "Jobs that this master is following.",
    labels: [],
    components: ["master"],
  },
  exec: {
    name: "zester_exec_total",
    type: "counter",
    help: "Exec requests, by what became of them.",
    labels: ["result"],
    components: ["peel"],
  },
  peelFactsSeconds: {
    name: "zester_peel_facts_collect_duration_seconds",
    type: "histogram",
    help: "Time that this peel took to look at itself.",
    labels: [],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    components: ["peel"],
  },
  peelConnected: {
    name: "zester_peel_connected",
    type: "gauge",
    help: "1 while this peel is connected to NATS.",
    labels: [],
    components: ["peel"],
  },
  peelUptimeSeconds: {
    name: "zester_peel_uptime_seconds",
    type: "gauge",
    help: "Time since this peel started.",
    labels: [],
    components: ["peel"],
  },
} as const satisfies Record<string, MetricSpec>;

export type MetricKey = keyof typeof METRICS;
type Spec<K extends MetricKey> = typeof METRICS[K];

type LabelArguments<K extends MetricKey> = Spec<K>["labels"] extends readonly [] ? []
  : [labels: Readonly<Record<Spec<K>["labels"][number], string>>];

interface Counter<K extends MetricKey> {
  inc(...change: [...LabelArguments<K>, by?: number]): void;
}
interface Gauge<K extends MetricKey> {
  set(...change: [...LabelArguments<K>, value: number]): void;
}
interface Histogram<K extends MetricKey> {
  observe(...change: [...LabelArguments<K>, value: number]): void;
}
type Instrument<K extends MetricKey> = Spec<K>["type"] extends "counter" ? Counter<K>
  : Spec<K>["type"] extends "gauge" ? Gauge<K>
  : Histogram<K>;

/** One typed instrument per metric: `metrics.ingressRefused.inc({ reason })`. */
export type Metrics = { readonly [K in MetricKey]: Instrument<K> };

/** Metrics as a scraper reads them. */
export interface Exposition {
  contentType: string;
  text(): Promise<string>;
}

/** What the process costs right now. */
export interface ProcessUsage {
  residentBytes: number;
  cpuSeconds: number;
}

export interface MetricsOptions {
  version: string;
  usage: () => ProcessUsage;
}

type Labels = Readonly<Record<string, string>>;
type Recorder = (key: MetricKey, labels: Labels, value: number) => void;

/** Real metrics. All keys can be touched; only those of the component are exposed. */
export async function createMetrics(
  component: Component,
  { version, usage }: MetricsOptions,
): Promise<Metrics & { readonly exposition: Exposition }> {
  const { default: prom } = await import("prom-client");
  const registry = new prom.Registry();
  const record = promRecorder(prom, registry, component);
  const metrics = instruments(record);
  metrics.buildInfo.set({ version }, 1);
  return { ...metrics, exposition: expose(registry, metrics, usage) };
}

function expose(registry: Registry, metrics: Metrics, usage: () => ProcessUsage): Exposition {
  return {
    contentType: registry.contentType,
    text() {
      const { residentBytes, cpuSeconds } = usage();
      metrics.residentBytes.set(residentBytes);
      metrics.cpuSeconds.set(cpuSeconds);
      return registry.metrics();
    },
  };
}

function promRecorder(
  prom: typeof import("prom-client"),
  registry: Registry,
  component: Component,
): Recorder {
  const recorders = new Map<MetricKey, (labels: Labels, value: number) => void>();
  for (const [key, spec] of specs()) {
    if (!spec.components.includes(component)) continue;
    recorders.set(key, promInstrument(prom, registry, spec));
  }
  return (key, labels, value) => recorders.get(key)?.(labels, value);
}

function promInstrument(
  prom: typeof import("prom-client"),
  registry: Registry,
  { name, help, type, labels, buckets = [] }: MetricSpec,
): (labels: Labels, value: number) => void {
  const common = { name, help, labelNames: [...labels], registers: [registry] };
  switch (type) {
    case "counter": {
      const counter = new prom.Counter(common);
      return (labels, by) => counter.inc(labels, by);
    }
    case "gauge": {
      const gauge = new prom.Gauge(common);
      return (labels, value) => gauge.set(labels, value);
    }
    case "histogram": {
      const histogram = new prom.Histogram({ ...common, buckets: [...buckets] });
      return (labels, value) => histogram.observe(labels, value);
    }
  }
}

/** Metrics in memory, for tests and the simulation. */
export interface FakeMetrics extends Metrics {
  /** Sum of a counter, last value of a gauge, sum of a histogram; 0 when untouched. */
  value(key: MetricKey, labels?: Labels): number;
}

/** Makes metrics that count in memory and expose nothing. */
export function fakeMetrics(): FakeMetrics {
  const values = new Map<string, number>();
  const seriesOf = (key: MetricKey, labels: Labels) =>
    JSON.stringify([key, Object.entries(labels).sort()]);
  const record: Recorder = (key, labels, value) => {
    const series = seriesOf(key, labels);
    const before = METRICS[key].type === "gauge" ? 0 : values.get(series) ?? 0;
    values.set(series, before + value);
  };
  const value = (key: MetricKey, labels: Labels = {}) => values.get(seriesOf(key, labels)) ?? 0;
  return { ...instruments(record), value };
}

function instruments(record: Recorder): Metrics {
  const made = specs().map(([key]) => {
    const take = (...change: (Labels | number | undefined)[]) => {
      const labels = typeof change[0] === "object" ? change[0] : {};
      const value = change.find((part) => typeof part === "number") ?? 1;
      record(key, labels, value);
    };
    return [key, { inc: take, set: take, observe: take }];
  });
  return Object.fromEntries(made);
}

function specs(): [MetricKey, MetricSpec][] {
  return Object.entries(METRICS) as [MetricKey, MetricSpec][];
}
