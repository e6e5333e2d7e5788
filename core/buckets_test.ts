import assert from "node:assert/strict";
import { buckets, type BucketSpec, streams, type StreamSpec } from "./buckets.ts";
import { PAYLOAD_BYTES_MAX } from "./limits.ts";
import { type Subject, subjects } from "./subjects.ts";

const BUCKETS: BucketSpec[] = Object.values(buckets);
const STREAMS: StreamSpec[] = Object.values(streams);
const SUBJECTS = Object.entries(subjects) as [string, Subject][];
/** The most that the server keeps of one key. */
const HISTORY_MAX = 64;

/** Whether some subject falls under both filters. */
function overlap(left: string, right: string): boolean {
  const [a, b] = [left.split("."), right.split(".")];
  for (let at = 0; at < Math.max(a.length, b.length); at++) {
    if (a[at] === ">") return b[at] !== undefined;
    if (b[at] === ">") return a[at] !== undefined;
    if (a[at] === undefined || b[at] === undefined) return false;
    if (a[at] !== b[at] && a[at] !== "*" && b[at] !== "*") return false;
  }
  return true;
}

const overlaps: [left: string, right: string, want: boolean][] = [
  ["a.>", "a.b", true],
  ["a.>", "a", false],
  ["a.*", "a.b", true],
  ["a.*", "a.b.c", false],
  ["a.*.c", "a.b.*", true],
  ["a.b", "a.c", false],
  [">", "a.b.c", true],
];

for (const [left, right, want] of overlaps) {
  Deno.test(`overlap() of ${left} and ${right} is ${want}, either way round`, () => {
    assert.equal(overlap(left, right), want);
    assert.equal(overlap(right, left), want);
  });
}

Deno.test("buckets and streams have names of their own that are one token", () => {
  const names = [...BUCKETS, ...STREAMS].map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[a-z]+(-[a-z]+)*$/);
});

Deno.test("streams capture no subject twice", () => {
  const filters = STREAMS.flatMap((each) => each.subjects);
  for (const [index, left] of filters.entries()) {
    for (const right of filters.slice(index + 1)) assert(!overlap(left, right), `${left} ${right}`);
  }
});

for (const [name, each] of SUBJECTS) {
  const wanted = each.kind === "stream" ? 1 : 0;
  Deno.test(`subjects.${name} is captured by ${wanted} streams`, () => {
    const takers = STREAMS.filter(({ subjects }) =>
      subjects.some((filter) => overlap(filter, each.filter()))
    );
    assert.equal(takers.length, wanted, takers.map((taker) => taker.name).join(" "));
  });
}

Deno.test("every durable reads from its own stream, under a name that no other has", () => {
  const durables = STREAMS.flatMap((stream) => stream.durables.map((each) => ({ stream, each })));
  assert.equal(new Set(durables.map(({ each }) => each.name)).size, durables.length);
  for (const { stream, each } of durables) {
    assert(stream.subjects.some((filter) => overlap(filter, each.filter)), each.name);
  }
});

Deno.test("every bucket and stream is bounded, and takes no value that the bus could not carry", () => {
  for (const each of BUCKETS) {
    assert(each.valueBytesMax > 0 && each.valueBytesMax <= PAYLOAD_BYTES_MAX, each.name);
    assert(each.bytesMax >= each.valueBytesMax, each.name);
    assert(each.history >= 1 && each.history <= HISTORY_MAX, each.name);
  }
  for (const each of STREAMS) {
    assert(each.bytesMax > 0 && each.maxAgeMs > each.duplicateWindowMs, each.name);
  }
});

Deno.test("peels read no job, no return, no enrollment, and of the secrets only their own and the public ones", () => {
  const closed = ["jobs", "job-returns", "enrollments", "enroll-challenges", "leases", "facts"];
  const alsoClosed = ["master-heartbeat", "reactor-files", "master-settings"];
  for (const each of BUCKETS) {
    if ([...closed, ...alsoClosed].includes(each.name)) {
      assert.deepEqual(each.peelReads, [], each.name);
    }
  }
  assert.deepEqual(buckets.secrets.peelReads, ["{peel}", "_master_curve_pub", "_trust"]);
});
