import assert from "node:assert/strict";
import { isZesterError, ZesterError } from "../../core/errors.ts";
import { type FakeIo, fakeIo, type FakeIoOptions } from "../../tests/fakes/cli_io.ts";
import type { RunEvent, RunResult, RunReturn } from "../render/run_model.ts";
import { type Follow, requestOf, run, type RunFlags } from "./run.ts";

const JID = "2hPx1FNsSgJMqVn5bLSTXeBQMpO";

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

async function play(
  follow: Follow,
  flags: RunFlags = {},
  options: FakeIoOptions = {},
): Promise<{ code: number; stdout: string; stderr: string; io: FakeIo }> {
  const io = fakeIo(options);
  const code = await run({ target: "*", function: "test.ping", words: [], flags }, io, follow);
  return { code, ...io.text(), io };
}

Deno.test("run() prints one line per return as it comes, then the sum; the story goes to stderr", async () => {
  const { code, stdout, stderr } = await play(follows(PINGS));
  assert.equal(stdout, "web-10  true   12ms\nweb-2   true   1.2s\n2 peels in 24ms: 2 ok\n");
  assert.equal(stderr, `Target  *  →  2 peels\nJob     ${JID}   master m1 · timeout 1m\n`);
  assert.equal(code, 0);
});

Deno.test("run() tells ok, changed, failed and silent apart, and shows ids in display form", async () => {
  const { code, stdout } = await play(follows(MIXED));
  assert.equal(
    stdout,
    [
      "db.example.org  changed 1 of 1 state  12ms",
      "web-1           failed  12ms",
      '    no function "test.pong" here',
      "web-2           silent  web-2 is offline",
      "web-3           silent  web-3 is offline",
      "4 peels in 24ms: 0 ok · 1 changed · 1 failed · 2 silent",
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
      "PEEL            RESULT                TIME  NOTE",
      "db.example.org  changed 1 of 1 state  12ms",
      'web-1           failed                12ms  no function "test.pong" here',
      "web-2           silent                      web-2 is offline",
      "web-3           silent                      web-3 is offline",
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

Deno.test("run() draws a live line on a terminal and takes it away again", async () => {
  const { stderr } = await play(follows(PINGS), {}, { terminal: true, env: { NO_COLOR: "1" } });
  assert.ok(stderr.includes("\r 1/2   1 ok\u001b[K"));
  assert.ok(stderr.endsWith("\r\u001b[K"));
  const quietly = await play(follows(PINGS), { noProgress: true }, { terminal: true });
  assert.doesNotMatch(quietly.stderr, /\r/);
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

Deno.test("run() detaches on Ctrl-C: the job goes on, and the exit code is 130", async () => {
  const io = fakeIo();
  const follow: Follow = (_request, onEvent) => {
    onEvent(accepted("a"));
    io.interrupt();
    return new Promise(() => {});
  };
  const code = await run({ target: "*", function: "test.ping", words: [], flags: {} }, io, follow);
  assert.equal(code, 130);
  assert.ok(io.text().stderr.endsWith(`Detached: job ${JID} goes on.\n`));
});

Deno.test("run() counts the first word of a peel only", async () => {
  const events = [accepted("a"), returns(returned("a")), returns(failed("a", "late")), done()];
  assert.equal((await play(follows(events))).code, 0);
});

Deno.test("requestOf() splits words into one id and arguments, and reads key=@file", async () => {
  const io = fakeIo({ disk: { "notes.txt": "hello\n" } });
  const words = ["web", "test=true", "text=@notes.txt", "expr=a=b", "empty="];
  const given = { target: "*", function: "state.apply", words, flags: { timeout: 5_000 } };
  assert.deepEqual(await requestOf(given, io), {
    target: "*",
    function: "state.apply",
    id: "web",
    args: { test: "true", text: "hello\n", expr: "a=b", empty: "" },
    timeoutMs: 5_000,
  });
});

const wrong: [words: string[], message: string][] = [
  [["a", "b"], 'unexpected argument "b"'],
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
