/** The commands about jobs, peels and masters, on a fleet whose answers are written here. */
import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import type { Job } from "../../core/wire/job.ts";
import type { JobRow, JobTarget, Query, Reply } from "../../core/wire/query.ts";
import type { Return } from "../../core/wire/return.ts";
import { fakeIo } from "../../tests/fakes/cli_io.ts";
import type { Fleet } from "../app.ts";
import { jobActive } from "./job_active.ts";
import { jobCancel } from "./job_cancel.ts";
import { jobList } from "./job_list.ts";
import { jobRerun } from "./job_rerun.ts";
import { jobShow } from "./job_show.ts";
import { jobWatch } from "./job_watch.ts";
import { masterList } from "./master_list.ts";
import { peelList } from "./peel_list.ts";
import { peelShow } from "./peel_show.ts";
import type { RunRequest } from "./run.ts";

const JID = "2hPx1FNsSgJMqVn5bLSTXeBQMpO";
const OTHER = "2hPx2Kd8VnR7YmWqTz4PLsCfNjA";
const OWNER = "master-2hPwQm3TxUvW8YnZrAb6NcDeFgH";
const CREATED = Date.UTC(2026, 1, 10, 14, 30);
const NOW = CREATED + 180_000;

const JOB: Job = {
  jid: JID,
  function: "state.apply",
  args: { state: "webserver" },
  stateId: "webserver",
  targets: [],
  targetExpr: "web*",
  status: "partial",
  createdMs: CREATED,
  updatedMs: CREATED + 45_000,
  deadlineMs: CREATED + 300_000,
  timeoutMs: 300_000,
  user: "alice",
  owner: OWNER,
  epoch: 7n,
  returnCount: 2,
  successCount: 1,
};

const given = (peelId: string, change: Partial<Return> = {}): Return => ({
  jid: JID,
  peelId,
  success: true,
  returnData: null,
  durationMs: 12_300,
  timestampMs: CREATED,
  ...change,
});
const changed = { name: "file.managed", changed: true, diff: "+x", durationMs: 2, details: {} };
const TARGETS: readonly JobTarget[] = [
  {
    peel: "web-01",
    acked: true,
    late: false,
    return: given("web-01", {
      returnData: { peelId: "web-01", jid: JID, success: true, results: [changed] },
    }),
  },
  {
    peel: "web-02",
    acked: true,
    late: false,
    return: given("web-02", { success: false, error: "apt: 503" }),
  },
  { peel: "web-03", acked: true, late: true, return: given("web-03") },
  { peel: "web-04", acked: false, late: false, reason: "offline for 3h, not delivered" },
];

const PAGE = { master: OWNER, nowMs: NOW };

/** A fleet that answers from a table, two targets to a page. */
function fakeFleet(job: Job = JOB, targets = TARGETS) {
  const asked: [string, Query][] = [];
  const sent: RunRequest[] = [];
  const rows: JobRow[] = [
    { job: { ...JOB, jid: OTHER, status: "running", function: "cmd.run" }, targetCount: 9 },
    { job: { ...JOB, targets: ["web-01", "db_example_org"] }, targetCount: 2 },
  ];
  function answer(name: string, query: Query): Reply {
    switch (name) {
      case "jobs":
      case "active":
        return { kind: "jobs", ...PAGE, jobs: rows };
      case "job": {
        const from = query.after === undefined
          ? 0
          : targets.findIndex(({ peel }) => peel === query.after) + 1;
        const some = targets.slice(from, from + 2);
        const next = from + 2 < targets.length ? some.at(-1)?.peel : undefined;
        const record = from === 0 ? { job } : {};
        const count = targets.length;
        return {
          kind: "job",
          ...PAGE,
          jid: JID,
          ...record,
          targetCount: count,
          targets: some,
          canceledBy: "bob",
          next,
        };
      }
      case "masters":
        return {
          kind: "masters",
          ...PAGE,
          masters: [{ master: OWNER, activeJobs: [JID], activeCount: 1, heartbeatMs: NOW - 2_000 }],
        };
      default:
        return {
          kind: "peels",
          ...PAGE,
          peels: [
            { peel: "web-10", presence: "offline", lastSeenMs: NOW - 3_600_000, version: "0.1.0" },
            {
              peel: "web-2",
              presence: "online",
              lastSeenMs: NOW - 5_000,
              os: "debian",
              arch: "x86_64",
            },
            { peel: "db_example_org", presence: "unknown" },
          ],
        };
    }
  }
  const fleet: Pick<Fleet, "ask" | "run" | "watch" | "cancel"> = {
    ask: (name, query) => {
      asked.push([name, query]);
      return Promise.resolve(answer(name, query) as never);
    },
    run(request, onEvent) {
      sent.push(request);
      const peels = request.target.slice(2).split(",");
      onEvent({ kind: "accepted", jid: request.jid, targets: peels, master: "m1" });
      onEvent({ kind: "returns", returns: peels.map((peel) => given(peel)) });
      onEvent({ kind: "done", status: "complete", missing: [] });
      return Promise.resolve();
    },
    watch(jid, onEvent) {
      onEvent({ kind: "accepted", jid, targets: ["a"], master: "m2" });
      onEvent({ kind: "returns", returns: [given("a")] });
      onEvent({ kind: "done", status: "complete", missing: [] });
      return Promise.resolve();
    },
    cancel: (jid) => Promise.resolve({ jid, status: job.status, ended: job.status !== "running" }),
  };
  return { fleet, asked, sent };
}

Deno.test("jobList() prints the columns of the guide, newest first as the masters give them", async () => {
  const io = fakeIo();
  assert.equal(await jobList({}, io, fakeFleet().fleet), 0);
  assert.equal(
    io.text().stdout,
    [
      "JID                          FUNCTION     TARGET  STATE    USER   OWNER                               CREATED",
      `${OTHER}  cmd.run      web*    running  alice  ${OWNER}  2026-02-10T14:30:00Z`,
      `${JID}  state.apply  web*    partial  alice  ${OWNER}  2026-02-10T14:30:00Z`,
      "",
    ].join("\n"),
  );
  const terminal = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
  await jobList({}, terminal, fakeFleet().fleet);
  assert.match(terminal.text().stdout, /3m ago\n$/);
});

Deno.test("jobList() passes its filters on, and asks for all since a time", async () => {
  const { fleet, asked } = fakeFleet();
  await jobList({ failed: true, user: "bob", function: "cmd.run" }, fakeIo(), fleet);
  await jobList({ since: CREATED }, fakeIo(), fleet);
  assert.deepEqual(asked.map(([, query]) => query.limit), [50, 0]);
  assert.deepEqual(
    [asked[0]?.[1].failed, asked[0]?.[1].user, asked[0]?.[1].function, asked[1]?.[1].sinceMs],
    [true, "bob", "cmd.run", CREATED],
  );
});

Deno.test("jobList() -o json uses the field names of the guide", async () => {
  const io = fakeIo();
  await jobList({ output: "json" }, io, fakeFleet().fleet);
  assert.deepEqual(JSON.parse(io.text().stdout)[1], {
    jid: JID,
    function: "state.apply",
    args: { state: "webserver" },
    state_id: "webserver",
    targets: ["web-01", "db.example.org"],
    target_count: 2,
    target_expr: "web*",
    status: "partial",
    created: "2026-02-10T14:30:00Z",
    updated: "2026-02-10T14:30:45Z",
    deadline: "2026-02-10T14:35:00Z",
    timeout: 300_000_000_000,
    user: "alice",
    owner: OWNER,
    epoch: 7,
    return_count: 2,
    success_count: 1,
  });
  const ids = fakeIo();
  await jobList({ output: "ids" }, ids, fakeFleet().fleet);
  assert.equal(ids.text().stdout, `${OTHER}\n${JID}\n`);
});

Deno.test("jobShow() shows the request and one row per target, over all pages", async () => {
  const io = fakeIo();
  await jobShow("2hPx1", {}, io, fakeFleet().fleet);
  assert.equal(
    io.text().stdout,
    [
      `Job       ${JID}   partial`,
      "Ran       state.apply webserver state=webserver",
      "Target    web*  →  4 peels",
      "By        alice · 2026-02-10T14:30:00Z · took 45s",
      `Master    ${OWNER}`,
      "",
      "PEEL    RESULT   TIME   NOTE",
      "web-01  changed  12.3s  +x",
      "web-02  failed   12.3s  apt: 503",
      "web-03  ok       12.3s  late",
      "web-04  silent          offline for 3h, not delivered",
      "",
    ].join("\n"),
  );
});

Deno.test("jobShow() says on a terminal what to do next", async () => {
  const io = fakeIo({ terminal: true });
  await jobShow(JID, {}, io, fakeFleet().fleet);
  assert.equal(
    io.text().stderr,
    `Next    zester job rerun ${JID} --failed --silent      2 peels\n`,
  );
  const running = fakeIo({ terminal: true });
  await jobShow(JID, {}, running, fakeFleet({ ...JOB, status: "running" }).fleet);
  assert.equal(running.text().stderr, `Next    zester job watch ${JID}\n`);
});

Deno.test("jobShow() of a running job calls nobody silent, and shows that a cancel was asked for", async () => {
  const io = fakeIo();
  const targets: JobTarget[] = [
    { peel: "a", acked: true, late: false, reason: "accepted the job, no answer yet" },
    { peel: "b", acked: false, late: false, reason: "no ack yet" },
  ];
  await jobShow(JID, {}, io, fakeFleet({ ...JOB, status: "running" }, targets).fleet);
  const { stdout } = io.text();
  assert.match(stdout, /^Cancel {4}asked for by bob$/m);
  assert.match(stdout, /^By .* · 2m left$/m);
  assert.match(stdout, /^a +running +accepted the job, no answer yet$/m);
  assert.match(stdout, /^b +waiting +no ack yet$/m);
});

Deno.test("jobShow() -o json is the record with its returns", async () => {
  const io = fakeIo();
  await jobShow(JID, { output: "json" }, io, fakeFleet().fleet);
  const { returns, ...record } = JSON.parse(io.text().stdout);
  assert.deepEqual([record.jid, record.status, record.targets], [
    JID,
    "partial",
    ["web-01", "web-02", "web-03", "web-04"],
  ]);
  assert.deepEqual(returns.slice(1), [
    {
      peel_id: "web-02",
      status: "failed",
      success: false,
      results: [],
      error: "apt: 503",
      duration: 12_300_000_000,
      timestamp: "2026-02-10T14:30:00Z",
    },
    {
      peel_id: "web-03",
      status: "success",
      success: true,
      results: [],
      late: true,
      duration: 12_300_000_000,
      timestamp: "2026-02-10T14:30:00Z",
    },
    {
      peel_id: "web-04",
      status: "unreachable",
      success: false,
      results: [],
      error: "offline for 3h, not delivered",
      acked: false,
    },
  ]);
});

Deno.test("jobActive() prints the columns of the guide and what time is left", async () => {
  const io = fakeIo();
  await jobActive({}, io, fakeFleet().fleet);
  assert.deepEqual(io.text().stdout.split("\n").slice(0, 2), [
    "JID                          FUNCTION     TARGETS  STATUS   USER   OWNER                               LEFT",
    `${OTHER}  cmd.run      9        running  alice  ${OWNER}  2m`,
  ]);
});

Deno.test("jobWatch() follows by the whole id, and exits as the run would", async () => {
  const io = fakeIo();
  assert.equal(await jobWatch("2hPx1", {}, io, fakeFleet().fleet), 0);
  assert.equal(
    io.text().stderr,
    `Target  web*  →  1 peel\nJob     ${JID}   master m2 · timeout 5m\n`,
  );
  assert.equal(io.text().stdout, "a  ok     12.3s\n1 peel in 24ms: 1 ok\n");
});

const cancels: [status: Job["status"], want: string][] = [
  ["running", `Job ${JID} is being canceled; it was running.\n`],
  ["complete", `Job ${JID} had ended already: complete. Nothing was canceled.\n`],
];
for (const [status, want] of cancels) {
  Deno.test(`jobCancel() says what becomes of a job that is ${status}`, async () => {
    const io = fakeIo();
    assert.equal(await jobCancel(JID, {}, io, fakeFleet({ ...JOB, status }).fleet), 0);
    assert.equal(io.text().stdout, want);
  });
}

const reruns: [flags: { failed?: true; silent?: true }, target: string][] = [
  [{}, "L@web-01,web-02,web-03,web-04"],
  [{ failed: true }, "L@web-02"],
  [{ silent: true }, "L@web-04"],
  [{ failed: true, silent: true }, "L@web-02,web-04"],
];
for (const [flags, target] of reruns) {
  Deno.test(`jobRerun() ${Object.keys(flags).join(" ")} sends the same again to ${target}`, async () => {
    const { fleet, sent } = fakeFleet();
    assert.equal(await jobRerun("2hPx1", flags, fakeIo(), fleet), 0);
    assert.equal(sent.length, 1);
    const { jid, ...request } = sent[0] ?? assert.fail();
    assert.notEqual(jid, JID);
    assert.deepEqual(request, {
      target,
      function: "state.apply",
      id: "webserver",
      args: { state: "webserver" },
      timeoutMs: 300_000,
      pace: {},
    });
  });
}

Deno.test("jobRerun() --failed of a job in which nobody failed sends nothing", async () => {
  const { fleet, sent } = fakeFleet(JOB, TARGETS.slice(0, 1));
  await assert.rejects(
    jobRerun(JID, { failed: true }, fakeIo(), fleet),
    (error) =>
      isZesterError(error, "nobody_matches") && error.message === `nobody failed in job ${JID}`,
  );
  assert.deepEqual(sent, []);
});

Deno.test("peelList() prints the columns of the guide, sorted, and never takes not knowing for offline", async () => {
  const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
  await peelList({}, io, fakeFleet().fleet);
  assert.equal(
    io.text().stdout,
    [
      "PEEL ID         OS      ARCH    ONLINE  LAST-SEEN  VERSION",
      "db.example.org  -       -       ?       -          -",
      "web-2           debian  x86_64  yes     5s ago     -",
      "web-10          -       -       no      1h ago     0.1.0",
      "",
    ].join("\n"),
  );
  const data = fakeIo();
  await peelList({ output: "jsonl" }, data, fakeFleet().fleet);
  assert.deepEqual(data.text().stdout.split("\n").slice(0, 2), [
    '{"peel_id":"db.example.org","online":null}',
    '{"peel_id":"web-2","online":true,"last_seen":"2026-02-10T14:32:55Z","os":"debian","arch":"x86_64"}',
  ]);
});

Deno.test("peelShow() asks for the id that the name stands for", async () => {
  const { fleet, asked } = fakeFleet();
  const io = fakeIo();
  await peelShow("web-10.example", {}, io, fleet);
  assert.deepEqual(asked, [["peel", { peel: "web-10_example" }]]);
  assert.match(io.text().stdout, /^Online {5}no\nLast seen {2}1h ago$/m);
});

Deno.test("masterList() shows who is alive, how busy, and since when", async () => {
  const io = fakeIo({ terminal: true, env: { NO_COLOR: "1" } });
  await masterList({}, io, fakeFleet().fleet);
  const [head, row = ""] = io.text().stdout.split("\n");
  assert.match(head!, /^MASTER ID +ACTIVE JOBS {2}LAST-SEEN {2}STARTED$/);
  assert.match(row, new RegExp(`^${OWNER} {2}1 +2s ago +`));
});
