import assert from "node:assert/strict";
import type { Job } from "../../core/wire/job.ts";
import guide from "../../tests/fixtures/jobs/job_show.json" with { type: "json" };
import { jobData, jobRowData, jobViewData } from "./job_data.ts";

const TARGETS = ["web-01", "web-02"];
const JOB: Job = {
  jid: "2hPx1FNsSgJMqVn5bLSTXeBQMpO",
  function: "state.apply",
  args: { state: "webserver" },
  stateId: "webserver",
  targets: TARGETS,
  targetExpr: "web*",
  timeoutMs: 300_000,
  status: "complete",
  createdMs: Date.UTC(2026, 1, 10, 14, 30),
  updatedMs: Date.UTC(2026, 1, 10, 14, 30, 45),
  deadlineMs: Date.UTC(2026, 1, 10, 14, 35),
  user: "alice",
  owner: "2hPwQm3TxUvW8YnZrAb6NcDeFgH",
  epoch: 7n,
  returnCount: 2,
  successCount: 2,
};
const targets = TARGETS.map((peel) => ({ peel, acked: true, late: false }));

const forms: [name: string, data: Record<string, unknown>][] = [
  ["jobData()", jobData(JOB, TARGETS, 2)],
  ["jobRowData()", jobRowData({ job: JOB, targetCount: 2 })],
  ["jobViewData()", jobViewData({ job: JOB, targets })],
];
for (const [name, data] of forms) {
  Deno.test(`${name} has every field of the guide's example, with its value`, () => {
    const shown = JSON.parse(JSON.stringify(data));
    for (const [field, value] of Object.entries(guide)) {
      assert.deepEqual(shown[field], value, field);
    }
  });
}

Deno.test("jobData() has the other fields of the guide's table, where they have a value", () => {
  const job: Job = { ...JOB, reclaimCount: 1, metadata: { failed_reason: "x" } };
  const { timeout, epoch, reclaim_count, metadata } = jobData(job, TARGETS, 2);
  assert.deepEqual([timeout, epoch, reclaim_count], [300_000_000_000, 7, 1], "in nanoseconds");
  assert.deepEqual(metadata, { failed_reason: "x" });
});

Deno.test("jobData() of a job under way counts no returns yet", () => {
  const { returnCount: _, successCount: __, ...running } = JOB;
  const data = jobData({ ...running, status: "running" }, TARGETS, 2);
  assert.deepEqual([data["return_count"], data["success_count"]], [0, 0]);
});
