import assert from "node:assert/strict";
import { CATALOG } from "../core/module/catalog.ts";
import { VERSION } from "../core/version.ts";
import { fakeIo, type FakeIoOptions } from "../tests/fakes/cli_io.ts";
import { type OpenDirect, type OpenFleet, runCli } from "./app.ts";
import type { RunRequest } from "./commands/run.ts";
import type { RunEvent } from "./render/run_model.ts";

const CONTEXTS = "/home/a/.config/zester/contexts";
const DISK = {
  [`${CONTEXTS}/default.yaml`]: [
    "servers: [nats://127.0.0.1:4222]",
    "operator: alice",
    "operator_seed_file: alice.seed",
  ].join("\n"),
  [`${CONTEXTS}/lab.yaml`]: "",
};

const noFleet = () => {
  throw new Error("this command must not open a connection");
};

async function zester(
  line: string,
  options: FakeIoOptions = {},
  open: OpenFleet = noFleet,
  openDirect: OpenDirect = noFleet,
) {
  const io = fakeIo({ disk: DISK, ...options });
  const code = await runCli(line.split(" "), io, { open, openDirect });
  return { code, ...io.text() };
}

/** A fleet of one peel; remembers what it was asked. */
function recordingFleet() {
  const seen: { context: string | undefined; request: RunRequest }[] = [];
  let closed = 0;
  const events: RunEvent[] = [
    { kind: "accepted", jid: "j1", targets: ["a"], master: "m1" },
    {
      kind: "returns",
      returns: [{
        peelId: "a",
        success: true,
        durationMs: 3,
        returnData: {
          results: [{
            name: "x",
            changed: false,
            diff: "",
            durationMs: 3,
            details: { result: "true" },
          }],
        },
      }],
    },
    { kind: "done", status: "complete", missing: [] },
  ];
  const unused = () => Promise.reject(new Error("nobody asks for this here"));
  const open: OpenFleet = (context) =>
    Promise.resolve({
      watch: unused,
      ask: unused,
      resolve: unused,
      cancel: unused,
      run: (request, onEvent) => {
        seen.push({ context, request });
        events.forEach(onEvent);
        return Promise.resolve();
      },
      close: () => Promise.resolve(void closed++),
    });
  return { open, seen, closed: () => closed };
}

Deno.test("runCli() runs a function on the fleet of the context, and closes it", async () => {
  const fleet = recordingFleet();
  const { code, stdout } = await zester(
    "--context lab web-* test.echo hi text=a --timeout 1m30s -q",
    {},
    fleet.open,
  );
  assert.equal(code, 0);
  assert.equal(stdout, "a  true   3ms\n");
  const [{ context, request } = assert.fail()] = fleet.seen;
  assert.equal(context, "lab");
  assert.deepEqual({ ...request, jid: "" }, {
    jid: "",
    target: "web-*",
    function: "test.echo",
    id: "hi",
    args: { text: "a" },
    timeoutMs: 90_000,
    pace: {},
  });
  assert.equal(fleet.closed(), 1);
});

Deno.test("runCli() goes past the masters with --direct, and opens nothing else", async () => {
  const fleet = recordingFleet();
  const openDirect: OpenDirect = async (context) => await fleet.open(context);
  const { code, stdout, stderr } = await zester("--direct a test.ping", {}, noFleet, openDirect);
  assert.deepEqual([code, fleet.closed()], [0, 1]);
  assert.match(stdout, /^a {2}true {3}3ms\n1 peel in /);
  assert.match(stderr, /\nRun {5}j1 {3}without a master · timeout 1m\n$/);
});

Deno.test("runCli() passes words after -- on as they are", async () => {
  const fleet = recordingFleet();
  await zester("a test.echo -q -- --help", {}, fleet.open);
  assert.equal(fleet.seen[0]?.request.id, "--help");
});

/** Words of a command line that has nothing of a shell but quotes. */
function shellWords(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)]
    .map(([word]) => word.replaceAll(/'([^']*)'|"([^"]*)"/g, "$1$2"));
}

Deno.test("runCli() takes every command line in the examples of the modules", async () => {
  const lines = CATALOG.flatMap(({ examples }) => examples.flatMap(({ code }) => code.split("\n")))
    .filter((line) => line.startsWith("zester ") && !/[|;\\]\s*$|=@/.test(line));
  assert.ok(lines.length > 50, `${lines.length} lines`);
  for (const line of lines) {
    const io = fakeIo({ disk: DISK });
    const { open } = recordingFleet();
    const code = await runCli(shellWords(line).slice(1), io, { open, openDirect: noFleet });
    assert.equal(code, 0, `${line}\n${io.text().stderr}`);
  }
});

const printed: [line: string, want: string | RegExp][] = [
  ["version", `zester ${VERSION}\n`],
  ["--version", `zester ${VERSION}\n`],
  ["version -o json", `{"version":"${VERSION}"}\n`],
  ["--help", /^Run functions on a fleet.*\n\n {2}zester '\*' test\.ping /],
  ["context --help", /^A context says which fleet/],
  ["job --help", /^Find, follow and repeat jobs\..*\n\n {2}zester job list --failed --since 24h /],
  ["job list --help", /\n {2}rerun {4}again, all or part\n/],
  ["peel --help", /^The peels of the fleet/],
  ["master --help", /^The masters that are alive/],
  ["doc --help", /^Which functions there are, and how each is used/],
  ["* file.managed --help", /^file\.managed: Keeps .*\n/],
  ["help exit-codes", /\n {4}5 {2}nobody matched the target\n/],
  ["help flags", /-o, --output table\|wide\|json\|jsonl\|yaml\|text\|ids/],
  ["context list", `* default  ${CONTEXTS}/default.yaml\n  lab      ${CONTEXTS}/lab.yaml\n`],
  ["context list -o ids", "default\nlab\n"],
  [
    "context show",
    `context             default\nfile                ${CONTEXTS}/default.yaml\n` +
    "servers             nats://127.0.0.1:4222\noperator            alice\n" +
    `operator_seed_file  ${CONTEXTS}/alice.seed\n`,
  ],
  ["context show --origin", new RegExp(`operator +alice +file ${CONTEXTS}/default.yaml:2\n`)],
  ["context show -o json", /"servers": \[\n {4}"nats:/],
];
for (const [line, want] of printed) {
  Deno.test(`runCli() prints the answer of "zester ${line}" and exits 0`, async () => {
    const { code, stdout, stderr } = await zester(line);
    assert.deepEqual([code, stderr], [0, ""]);
    if (typeof want === "string") assert.equal(stdout, want);
    else assert.match(stdout, want);
  });
}

const refused: [line: string, code: number, stderr: string][] = [
  [
    "contxt list",
    2,
    "error ZE0002: no such command: contxt\n  fix      did you mean `zester context`?\n",
  ],
  [
    "a test.ping --timout 5m",
    2,
    "error ZE0002: no such flag: --timout\n  fix      did you mean `--timeout`?\n",
  ],
  [
    "a test.ping -z",
    2,
    "error ZE0002: no such flag: -z\n  fix      zester help flags; after `--` nothing is a flag\n",
  ],
  [
    "a test.ping -o jsn",
    2,
    'error ZE0002: --output: "jsn" is not one of table, wide, json, jsonl, yaml, text, ids\n',
  ],
  [
    "job lst",
    2,
    'error ZE0002: job has no verb "lst"\n  fix      did you mean `zester job list`?\n',
  ],
  [
    "job show",
    2,
    "error ZE0002: <jid> is missing\n" +
    "  fix      zester job list shows ids; the beginning of one is enough\n",
  ],
  [
    "job list --since yesterday",
    2,
    'error ZE0002: --since: "yesterday" is not a duration such as 24h, or a time such as 2026-02-10T14:30:00Z\n',
  ],
  ["job list --limit 0", 2, 'error ZE0002: --limit: "0" is not a whole number above 0\n'],
  [
    "a test.ping --batch half",
    2,
    'error ZE0002: --batch: "half" is not a number such as 5, or a share such as 10%\n',
  ],
  [
    "a test.ping --seed x",
    2,
    "error ZE0002: --seed means nothing without --limit\n  fix      add --limit 10%, for example\n",
  ],
  [
    "a test.ping --limit 0%",
    2,
    'error ZE0002: --limit: "0%" is not above 0: nobody would run it\n',
  ],
  [
    "a test.ping --direct --limit 5 --max-fail 0",
    2,
    "error ZE0002: --direct cannot be combined with --max-fail, --limit\n" +
    "  fix      leave out --direct, or --max-fail, --limit: that is a master's work\n",
  ],
  [
    "a test.ping --fields peel,status",
    2,
    'error ZE0002: --fields: there is no field "peel"\n' +
    "  fix      fields: peel_id, status, success, results, error, late, test\n",
  ],
  [
    "a test.ping --timeout 7d",
    2,
    "error ZE0002: --timeout 7d: a job may take 6d at most\n" +
    "  fix      what a job signs may not live longer; start it again later, or run it in parts\n",
  ],
  [
    "a test.ping --timeout 5",
    2,
    'error ZE0002: --timeout: "5" is not a duration such as 30s, 5m or 1h30m, or 0\n',
  ],
  [
    "a test.ping -o",
    2,
    "error ZE0002: --output needs a value\n" +
    "  fix      for example --output table|wide|json|jsonl|yaml|text|ids\n",
  ],
  [
    "a test.ping -q -q",
    2,
    "error ZE0002: --quiet is given twice\n  fix      leave one of them out\n",
  ],
  [
    "context list extra",
    2,
    'error ZE0002: unexpected argument "extra"\n  fix      zester help says what each command takes\n',
  ],
  [
    "help ouput",
    2,
    'error ZE0002: no help on "ouput"\n  fix      did you mean `zester help output`?\n',
  ],
  [
    "context show --context prod",
    2,
    `error ZE0003: no context "prod" (from --context): looked for ${CONTEXTS}/prod.yaml\n` +
    "  fix      start a fleet on this machine with `deno task up`, which makes one, " +
    "or set ZESTER_CONTEXT to the file that your fleet's owner gave you\n",
  ],
  ["a test.ping", 1, "error ZE0001: run: this command must not open a connection\n"],
];
for (const [line, want, story] of refused) {
  Deno.test(`runCli() refuses "zester ${line}" with exit code ${want}`, async () => {
    const { code, stdout, stderr } = await zester(line);
    assert.deepEqual([code, stdout, stderr], [want, "", story]);
  });
}
