import assert from "node:assert/strict";
import { defaultTimeoutMs } from "./job_timeout.ts";

const rows: [name: string, stateId: string | null | undefined, wantMs: number][] = [
  ["test.ping", null, 60_000],
  ["pkg.version", "nginx", 60_000],
  ["state.apply", "webserver", 300_000],
  ["state.apply", null, 600_000],
  ["state.apply", "", 600_000],
  ["state.highstate", undefined, 600_000],
  ["state.highstate", "highstate", 600_000],
];
for (const [name, stateId, wantMs] of rows) {
  Deno.test(`defaultTimeoutMs() of ${name} ${stateId ?? "(no state)"} is ${wantMs / 1_000} s`, () => {
    assert.equal(defaultTimeoutMs(name, stateId), wantMs);
  });
}
