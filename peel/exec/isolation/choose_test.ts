import assert from "node:assert/strict";
import { type Isolation, isolationOf } from "./choose.ts";

const rows: [host: Isolation, asked: unknown, want: Isolation][] = [
  ["worker", undefined, "worker"],
  ["worker", "worker", "worker"],
  ["worker", "process", "process"],
  ["process", undefined, "process"],
  ["process", "process", "process"],
  ["process", "worker", "process"],
];
for (const [host, asked, want] of rows) {
  Deno.test(`isolationOf() with ${host} on the host and ${asked} in the state is ${want}`, () => {
    assert.equal(isolationOf(host, asked), want);
  });
}

for (const asked of ["none", "", null, ["process"], "constructor"]) {
  Deno.test(`isolationOf() refuses ${JSON.stringify(asked)}`, () => {
    assert.throws(() => isolationOf("worker", asked), /neither worker nor process/);
  });
}
