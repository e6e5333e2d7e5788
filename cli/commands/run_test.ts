import assert from "node:assert/strict";
import { isZesterError, ZesterError } from "../../core/errors.ts";
import { isKsuid } from "../../core/ids.ts";
import { type FakeIo, fakeIo, type FakeIoOptions } from "../../tests/fakes/cli_io.ts";
import { ManualClock, settle } from "../../tests/fakes/manual_clock.ts";
import type { RunEvent, RunResult, RunReturn } from "../render/run_model.ts";
import { requestOf, run, runDirectly, type RunFlags, type RunFleet } from "./run.ts";

type Follow = RunFleet["run"];

const JID = "2hPx1FNsSgJMqVn5bLSTXeBQMpO";
const MASTER = "master-2hPx1FNsSgJMqVn5bLSTXXeBQMp";

const result = (change: Partial<RunResult> = {}): RunResult => ({
  name: "test.ping",
  changed: false,
  diff: "",
  durationMs: 12,
  details: { result: "true" },
  ...change,
});
const returned = (peelId: string, change: Partial<RunReturn> = {}): RunReturn => ({
  peelId,
  success: true,
  durationMs: 12,
  returnData: { results: [result()] },
  ...change,
});
const failed = (peelId: string, error: string) =>
  returned(peelId, {
    success: false,
    error,
    returnData: { results: [result({ details: {}, error })] },
  });

const accepted = (...targets: string[]): RunEvent => ({
  kind: "accepted",
  jid: JID,
  targets,
  master: "m1",
});
const returns = (...given: RunReturn[]): RunEvent => ({ kind: "returns", returns: given });
const acks = (...peels: string[]): RunEvent => ({ kind: "acks", peels });
const done = (status = "complete", ...missing: string[]): RunEvent => ({
  kind: "done",
  status,
  missing: missing.map((peel) => ({ peel, reason: `${peel} is offline` })),
});

const PINGS = [
  accepted("web-10", "web-2"),
  acks("web-2"),
  returns(returned("web-10")),
  returns(returned("web-2", { durationMs: 1_234 })),
  done(),
];
const MIXED = [
  accepted("db_example_org", "web-1", "web-2", "web-3"),
  acks("web-2"),
  returns(returned("db_example_org", {
    returnData: {
      results: [result({ name: "pkg.installed", changed: true, details: {}, diff: "+ nginx" })],
    },
  })),
  returns(failed("web-1", 'no function "test.pong" here')),
  done("partial", "web-2", "web-3"),
];

const follows = (events: readonly RunEvent[], end?: ZesterError): Follow => (_request, onEvent) => {
  for (const event of events) onEvent(event);
  return end === undefined ? Promise.resolve() : Promise.reject(end);
};

const noCancel: RunFleet["cancel"] = () => Promise.reject(new Error("nobody cancels here"));

function start(
  follow: Follow,
  io: FakeIo,
  { flags = {}, cancel = noCancel }: { flags?: RunFlags; cancel?: RunFleet["cancel"] } = {},
): Promise<number> {
  const given = { target: "*", function: "test.ping", words: [], flags };
  return run(given, io, { run: follow, cancel });
}

async function play(
  follow: Follow,
  flags: RunFlags = {},
  options: FakeIoOptions = {},
): Promise<{ code: number; stdout: string; stderr: string; io: FakeIo }> {
  const io = fakeIo(options);
  const code = await start(follow, io, { flags });
  return { code, ...io.text(), io };
}

Deno.test("run() prints one line per return as it comes, then the sum; the story goes to stderr", async () => {
  const { code, stdout, stderr } = await play(follows(PINGS));
  assert.equal(stdout, "web-10  true   12ms\nweb-2   true   1.2s\n2 peels in 24ms: 2 ok\n");
  assert.equal(stderr, `Target  *  →  2 peels\nJob     ${JID}   master m1 · timeout 1m\n`);
  assert.equal(code, 0);
});

const headers: [name: string, columns: number, change: object, want: string[]][] = [
  ["who is there", 100, { user: "alice", enrolled: 214, offline: ["web-2"], master: MASTER }, [
    "Target  *  →  2 peels of 214   1 online · 1 offline",
    `Job     ${JID}   alice · master …XeBQMp · timeout 1m`,
  ]],
  ["of whom it cannot tell", 100, { enrolled: 2, unheard: ["web-2", "web-10"] }, [
    "Target  *  →  2 peels of 2   0 online · 2 not known yet",
    `Job     ${JID}   master m1 · timeout 1m`,
  ]],
  ["as much as fits", 70, { user: "alice", enrolled: 2, master: MASTER }, [
    "Target  *  →  2 peels of 2   2 online",
    `Job     ${JID}   master …XeBQMp · timeout 1m`,
  ]],
];
for (const [name, columns, change, want] of headers) {
  Deno.test(`run() says in its header ${name}`, async () => {
    const io = { ...fakeIo(), columns: () => columns };
    await start(follows([{ ...PINGS[0], ...change } as RunEvent, ...PINGS.slice(1)]), io);
    const lines = io.text().stderr.trimEnd().split("\n");
    assert.deepEqual(lines, want);
    assert.ok(lines.every((line) => line.length <= columns));
  });
}

Deno.test("run() waits for all parts of a long list of targets before it says how many there are", async () => {
  const [first, second] = [accepted("a"), accepted("b")]
    .map((event) => ({ ...event, matched: 2, enrolled: 2 }) as RunEvent);
  const { stderr } = await play(follows([first!, second!, returns(returned("a")), done()]));
  assert.match(stderr, /^Target {2}\* {2}→ {2}2 peels of 2 {3}2 online\n/);
});

const SAME = returned("web-4", {
  returnData: { results: [result({ name: "pkg.installed", details: {} })] },
});
const shows: [show: RunFlags["show"], want: string[]][] = [
  [undefined, ["db.example.org", "web-1", "web-2", "web-3"]],
  ["changes", ["db.example.org", "web-1", "web-2", "web-3"]],
  ["failed", ["web-1", "web-2", "web-3"]],
  ["all", ["db.example.org", "web-1", "web-4", "web-2", "web-3"]],
  ["summary", []],
];
for (const [show, want] of shows) {
  Deno.test(`run() --show ${show ?? "(default)"} prints ${want.length} of 5 peels, and always the sum`, async () => {
    const events = [
      accepted("db_example_org", "web-1", "web-2", "web-3", "web-4"),
      ...MIXED.slice(1, -1),
      returns(SAME),
      done("partial", "web-2", "web-3"),
    ];
    const { stdout } = await play(follows(events), show === undefined ? {} : { show });
    const peels = [...stdout.matchAll(/^(\S+) +(?:ok|changed|failed|silent) /gm)].map(([, id]) =>
      id
    );
    assert.deepEqual(peels, want);
    assert.match(stdout, /5 peels in 24ms: 1 ok · 1 changed · 1 failed · 2 silent\n$/);
  });
}

Deno.test("run() --show failed -o ids prints whom to look after, and -o json only them", async () => {
  const ids = await play(follows(MIXED), { show: "failed", output: "ids" });
  assert.equal(ids.stdout, "web-1\nweb-2\nweb-3\n");
  const json = await play(follows(MIXED), { show: "failed", output: "json" });
  assert.equal(JSON.parse(json.stdout).length, 3);
});

Deno.test("run() --fields prints these members, as columns or as data", async () => {
  const fields = ["peel_id", "results.details.result"];
  const quiet = { quiet: true, fields };
  assert.equal(
    (await play(follows(PINGS), quiet)).stdout,
    "PEEL_ID  RESULTS.DETAILS.RESULT\nweb-2    true\nweb-10   true\n",
  );
  assert.deepEqual(JSON.parse((await play(follows(PINGS), { ...quiet, output: "json" })).stdout), [
    { peel_id: "web-2", "results.details.result": ["true"] },
    { peel_id: "web-10", "results.details.result": ["true"] },
  ]);
  const lines = (await play(follows(MIXED), { fields: ["peel_id"], output: "jsonl" })).stdout;
  assert.match(lines, /^\{"kind":"silence","peel_id":"web-2"\}$/m);
});

Deno.test("run() prints what several peels say alike once", async () => {
  const alike = ["a", "b"].map((peel) => failed(peel, "no such disk"));
  const { stdout } = await play(follows([accepted("a", "b"), returns(...alike), done()]));
  assert.match(
    stdout,
    /^a {2}failed {2}12ms\n {4}no such disk\nb {2}failed {2}12ms {2}same as a\n/,
  );
});

Deno.test("runDirectly() stops to wait on Ctrl-C, and says that there is nothing to cancel", async () => {
  const clock = new ManualClock();
  const io = fakeIo({ clock });
  const { follow, stopped } = endless();
  const given = { target: "a", function: "test.ping", words: [], flags: {} };
  const code = runDirectly(given, io, { run: follow });
  await settle();
  io.interrupt();
  assert.equal(await code, 130);
  assert.equal(stopped(), true);
  assert.match(io.text().stderr, /\nStopped waiting: peels that were told go on/);
  assert.equal(clock.timers, 0);
});

Deno.test("run() tells ok, changed, failed and silent apart, and shows ids in display form", async () => {
  const { code, stdout } = await play(follows(MIXED));
  assert.equal(
    stdout,
    [
      "db.example.org  changed  12ms",
      "    + nginx",
      "web-1           failed  12ms",
      '    no function "test.pong" here',
      "web-2           silent  web-2 is offline",
      "web-3           silent  web-3 is offline",
      "4 peels in 24ms: 1 changed · 1 failed · 2 silent",
      "",
    ].join("\n"),
  );
  assert.equal(code, 3);
});

Deno.test("run() -q prints only the answer", async () => {
  const { stdout, stderr } = await play(follows(PINGS), { quiet: true });
  assert.equal(stdout, "web-10  true   12ms\nweb-2   true   1.2s\n");
  assert.equal(stderr, "");
});

Deno.test("run() shows a long or many-line answer below its peel, and lets it move no cursor", async () => {
  const answer = result({ details: { stdout: "one\ntwo\u001b[2J\n" } });
  const { stdout } = await play(
    follows([accepted("a"), returns(returned("a", { returnData: { results: [answer] } })), done()]),
    { quiet: true },
  );
  assert.equal(stdout, "a  ok     12ms\n    one\n    two\\u001b[2J\n");
});

Deno.test("run() -o table sorts, numbers by value", async () => {
  const { stdout } = await play(follows(MIXED), { output: "table", quiet: true });
  assert.equal(
    stdout,
    [
      "PEEL            RESULT   TIME  NOTE",
      "db.example.org  changed  12ms  + nginx",
      'web-1           failed   12ms  no function "test.pong" here',
      "web-2           silent         web-2 is offline",
      "web-3           silent         web-3 is offline",
      "",
    ].join("\n"),
  );
});

Deno.test("run() -o json is one array with the agreed field names and nothing else on stdout", async () => {
  const { stdout } = await play(follows(MIXED), { output: "json" });
  assert.deepEqual(JSON.parse(stdout), [
    {
      peel_id: "db.example.org",
      status: "success",
      success: true,
      results: [{ name: "pkg.installed", changed: true, duration: 12_000_000, diff: "+ nginx" }],
    },
    {
      peel_id: "web-1",
      status: "failed",
      success: false,
      results: [{
        name: "test.ping",
        changed: false,
        duration: 12_000_000,
        error: 'no function "test.pong" here',
      }],
      error: 'no function "test.pong" here',
    },
    {
      peel_id: "web-2",
      status: "unreachable",
      success: false,
      results: [],
      error: "web-2 is offline",
    },
    {
      peel_id: "web-3",
      status: "unreachable",
      success: false,
      results: [],
      error: "web-3 is offline",
    },
  ]);
});

Deno.test("run() -o jsonl prints one object per event", async () => {
  const { stdout } = await play(follows(MIXED), { output: "jsonl" });
  const lines = stdout.trimEnd().split("\n");
  assert.equal(lines[0], `{"kind":"targets","jid":"${JID}","matched":4}`);
  assert.equal(
    lines[1],
    '{"kind":"return","peel":"db.example.org","result":"changed","changed":1,"failed":0,"ms":12,' +
      '"results":[{"name":"pkg.installed","changed":true,"duration":12000000,"diff":"+ nginx"}]}',
  );
  assert.equal(
    lines[3],
    '{"kind":"silence","peel":"web-2","reason":"no_return","error":"web-2 is offline"}',
  );
  assert.equal(lines[5], '{"kind":"summary","ok":0,"changed":1,"failed":1,"silent":2,"exit":3}');
  assert.equal(lines.length, 6);
});

Deno.test("run() -o yaml prints one document per peel", async () => {
  const { stdout } = await play(follows(PINGS), { output: "yaml" });
  assert.equal(
    stdout.split("---\n")[1],
    [
      "peel_id: web-2",
      "status: success",
      "success: true",
      "results:",
      "  - name: test.ping",
      "    changed: false",
      "    details:",
      "      result: 'true'",
      "    duration: 12000000",
      "",
    ].join("\n"),
  );
});

Deno.test("run() -o ids prints who did not fail", async () => {
  assert.equal((await play(follows(MIXED), { output: "ids" })).stdout, "db.example.org\n");
});

Deno.test("run() draws a live region on a terminal, takes it away again, and says what to do next", async () => {
  const clock = new ManualClock();
  const slowly: Follow = (_request, onEvent) => {
    for (const event of MIXED) {
      onEvent(event);
      clock.advance(150);
    }
    return Promise.resolve();
  };
  const terminal = { terminal: true, env: { NO_COLOR: "1" } };
  const { stderr } = await play(slowly, {}, { ...terminal, clock });
  assert.ok(stderr.includes(" 1/4   1 changed   "), stderr);
  const [, afterwards] = stderr.split("\u001b[J").slice(-2);
  const next = /^Next {4}zester job rerun \w{27} --failed --silent {6}3 peels\n$/;
  assert.match(afterwards ?? "", next, "the region is gone before");
  const quietly = await play(follows(PINGS), { noProgress: true }, { terminal: true });
  assert.doesNotMatch(quietly.stderr, /\r/);
  const quickly = await play(follows(PINGS), {}, terminal);
  assert.doesNotMatch(quickly.stderr, /\r/, "a run that is over at once does not flicker");
});

const refusals: [name: string, event: RunEvent, code: number, stderr: string][] = [
  [
    "nobody matches",
    {
      kind: "refused",
      code: "nobody_matches",
      message: "nobody matches  *\nenrolled: none",
      fix: "enroll one",
    },
    5,
    "error ZE0405: nobody matches  *\n  = enrolled: none\n  fix      enroll one\n",
  ],
  [
    "a role that may not",
    { kind: "refused", code: "permission_denied", message: "alice may not" },
    7,
    "error ZE0710: alice may not\n",
  ],
  [
    "a code of a newer master",
    { kind: "refused", code: "quota_exceeded", message: "too many jobs" },
    1,
    "error ZE0001: too many jobs\n",
  ],
];
for (const [name, event, want, story] of refusals) {
  Deno.test(`run() shows a refusal: ${name}`, async () => {
    const { code, stderr, stdout } = await play(follows([event]));
    assert.deepEqual([code, stderr, stdout], [want, story, ""]);
  });
}

Deno.test("run() keeps what it knows when the end is not heard, and says so", async () => {
  const lost = new ZesterError("timeout", `job ${JID}: waited for its end in vain`);
  const events = [accepted("a", "b"), acks("b"), returns(returned("a"))];
  const { code, stdout, stderr } = await play(follows(events, lost));
  assert.equal(
    stdout,
    "a  true   12ms\nb  silent  took the job, then no answer\n2 peels in 24ms: 1 ok · 1 silent\n",
  );
  assert.match(stderr, /\nerror ZE0804: job \S+: waited for its end in vain\n$/);
  assert.equal(code, 8);
});

Deno.test("run() -o jsonl reports an error as its own line, and -o json stays an array", async () => {
  const gone = new ZesterError("no_responders", "no master answers");
  const lines = await play(follows([], gone), { output: "jsonl" });
  assert.equal(
    lines.stdout.split("\n")[0],
    '{"kind":"error","code":"ZE0803","name":"no_responders","message":"no master answers","fix":[]}',
  );
  assert.deepEqual(JSON.parse((await play(follows([], gone), { output: "json" })).stdout), []);
});

/** A run that goes on until it is stopped. */
function endless(): { follow: Follow; stopped(): boolean } {
  let stopped = false;
  const follow: Follow = (_request, onEvent, how) => {
    onEvent(accepted("a"));
    how?.signal?.addEventListener("abort", () => stopped = true);
    return new Promise(() => {});
  };
  return { follow, stopped: () => stopped };
}

Deno.test("run() detaches on one Ctrl-C: the job goes on, how to watch it is said, and the exit code is 130", async () => {
  const clock = new ManualClock();
  const io = fakeIo({ clock });
  const { follow, stopped } = endless();
  const code = start(follow, io);
  await settle();
  io.interrupt();
  await settle();
  assert.equal(stopped(), true);
  await clock.advanceSettling(2_000);
  assert.equal(await code, 130);
  assert.match(
    io.text().stderr,
    /\nDetached: job (\w{27}) goes on\.\n {2}zester job watch \1 {3}follows it; Ctrl-C again within 2s cancels it\n$/,
  );
  assert.equal(clock.timers, 0);
});

const cancels: [name: string, status: string, ended: boolean, code: number, says: RegExp][] = [
  ["cancels", "running", false, 9, /\nCancelled: job \w{27} is being stopped\.\n$/],
  [
    "says that it was too late",
    "complete",
    true,
    130,
    /\nJob \w{27} had ended already: complete\.\n$/,
  ],
];
for (const [name, status, ended, want, says] of cancels) {
  Deno.test(`run() ${name} on a second Ctrl-C within two seconds`, async () => {
    const clock = new ManualClock();
    const io = fakeIo({ clock });
    const asked: string[] = [];
    const cancel: RunFleet["cancel"] = (jid) => {
      asked.push(jid);
      return Promise.resolve({ jid, status, ended });
    };
    const code = start(endless().follow, io, { cancel });
    await settle();
    io.interrupt();
    await clock.advanceSettling(1_900);
    io.interrupt();
    assert.equal(await code, want);
    assert.equal(asked.length, 1);
    assert.match(io.text().stderr, says);
  });
}

Deno.test("run() says that a master fell silent and another is asked", async () => {
  const { stderr } = await play((_request, onEvent, how) => {
    onEvent(accepted("a"));
    how?.onNotice?.({ kind: "silence", master: "m1", afterMs: 10_000 });
    how?.onNotice?.({ kind: "nobody", retryMs: 500 });
    onEvent({ ...accepted("a"), master: "m2" } as RunEvent);
    onEvent(returns(returned("a")));
    onEvent(done());
    return Promise.resolve();
  });
  assert.equal(
    stderr,
    `Target  *  →  1 peel\nJob     ${JID}   master m1 · timeout 1m\n` +
      "master m1 fell silent for 10s, asking another\nno master answers, asking again in 500ms\n",
  );
});

Deno.test("run() --async prints the job id as soon as a master has the job", async () => {
  const untils: unknown[] = [];
  const follow: Follow = (_request, onEvent, how) => {
    untils.push(how?.until);
    onEvent(accepted("a", "b"));
    return Promise.resolve();
  };
  const { code, stdout, stderr } = await play(follow, { async: true });
  assert.equal(code, 0);
  assert.match(stdout, /^\w{27}\n$/);
  assert.match(stderr, /^Sent to 2 peels; zester job watch \w{27} follows it\.\n$/);
  assert.deepEqual(untils, ["accepted"]);
  const data = await play(follow, { async: true, output: "json" });
  assert.equal(JSON.parse(data.stdout).matched, 2);
});

Deno.test("run() sends nothing when the arguments are too large, and names the limit", async () => {
  const words = [`text=${"x".repeat(300_000)}`];
  const given = { target: "*", function: "test.echo", words, flags: {} };
  const sent: unknown[] = [];
  const fleet: RunFleet = {
    run: (request) => Promise.resolve(void sent.push(request)),
    cancel: noCancel,
  };
  await assert.rejects(
    run(given, fakeIo(), fleet),
    (error) => isZesterError(error, "bad_params") && /at most 256 KiB/.test(error.message),
  );
  assert.deepEqual(sent, []);
});

Deno.test("run() lets a peel's own word replace a master's guess that it is unreachable", async () => {
  const guess = returned("a", { success: false, unreachable: true, error: "UNREACHABLE: no ack" });
  const { code, stdout } = await play(
    follows([accepted("a"), returns(guess), returns(returned("a")), returns(guess), done()]),
  );
  assert.equal(code, 0);
  assert.equal(stdout, "a  silent  no ack\na  true   12ms\n1 peel in 24ms: 1 ok\n");
});

Deno.test("run() exits 9 when peels ended the job because it was canceled", async () => {
  const events = [
    accepted("a", "b"),
    returns(failed("a", "canceled: by bob")),
    done("canceled", "b"),
  ];
  const { code, stdout } = await play(follows(events));
  assert.equal(code, 9);
  assert.match(stdout, /: 1 canceled · 1 silent\n$/);
});

Deno.test("run() counts the first word of a peel only", async () => {
  const events = [accepted("a"), returns(returned("a")), returns(failed("a", "late")), done()];
  assert.equal((await play(follows(events))).code, 0);
});

Deno.test("requestOf() passes further bare words on as a list, and --test as an argument", async () => {
  const words = ["role", "web", "-5", "_=x", "key=value"];
  const given = { target: "*", function: "facts.set", words, flags: { test: true } };
  const { id, args } = await requestOf(given, fakeIo());
  assert.deepEqual([id, args], ["role", { key: "value", _: ["web", "-5", "_=x"], test: true }]);
});

Deno.test("requestOf() splits words into one id and arguments, and reads key=@file", async () => {
  const io = fakeIo({ disk: { "notes.txt": "hello\n" } });
  const words = ["web", "test=true", "text=@notes.txt", "expr=a=b", "empty="];
  const flags = { timeout: 5_000, batch: "10%", batchWait: 1_000, limit: "5" };
  const given = { target: "*", function: "state.apply", words, flags };
  const { jid, ...request } = await requestOf(given, io);
  assert.ok(isKsuid(jid));
  assert.deepEqual(request, {
    target: "*",
    function: "state.apply",
    id: "web",
    args: { test: "true", text: "hello\n", expr: "a=b", empty: "" },
    timeoutMs: 5_000,
    pace: { batchSize: "10%", batchWaitMs: 1_000, limit: "5" },
  });
});

const timeouts: [name: string, words: string[], wantMs: number][] = [
  ["test.ping", [], 60_000],
  ["state.apply", ["web"], 300_000],
  ["state.apply", ["state=web"], 300_000],
  ["state.apply", ["test=true"], 600_000],
  ["state.highstate", [], 600_000],
];
for (const [name, words, wantMs] of timeouts) {
  Deno.test(`requestOf() gives ${[name, ...words].join(" ")} ${wantMs / 1_000} s`, async () => {
    const request = await requestOf({ target: "*", function: name, words, flags: {} }, fakeIo());
    assert.equal(request.timeoutMs, wantMs);
  });
}

const wrong: [words: string[], message: string][] = [
  [["a=1", "a=2"], 'argument "a" is given twice'],
  [["a=@none"], 'argument "a": no such file: none'],
];
for (const [words, message] of wrong) {
  Deno.test(`requestOf() refuses ${words.join(" ")}`, async () => {
    const given = { target: "*", function: "a.b", words, flags: {} };
    await assert.rejects(
      requestOf(given, fakeIo()),
      (error) => isZesterError(error, "usage") && error.message === message,
    );
  });
}
