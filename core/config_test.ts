import assert from "node:assert/strict";
import {
  type ConfigSources,
  loadConfig,
  optionHelp,
  type OptionTable,
  resolveConfig,
} from "./config.ts";
import { isZesterError } from "./errors.ts";

const TABLE = {
  nats_url: {
    type: "list",
    default: ["nats://127.0.0.1:4222"],
    flag: "--nats-url",
    env: "ZESTER_NATS_URL",
    help: "Servers.",
  },
  log_level: {
    type: "string",
    choices: ["debug", "info"],
    default: "info",
    flag: "--log-level",
    env: "ZESTER_LOG_LEVEL",
    help: "Level.",
  },
  id: { type: "string", default: null, flag: "--id", help: "Id." },
  wait: { type: "duration", default: 1_000, flag: "--wait", env: "ZESTER_WAIT", help: "Wait." },
  replicas: { type: "integer", default: 0, min: 0, max: 5, flag: "--replicas", help: "Copies." },
  "reactor.enabled": { type: "boolean", default: true, flag: "--reactor", help: "Reactor." },
} as const satisfies OptionTable;

type Key = keyof typeof TABLE;
type Sources = { text?: string } & Partial<Pick<ConfigSources<typeof TABLE>, "env" | "args">>;

function resolve({ text, env = {}, args = [] }: Sources) {
  const file = text === undefined ? null : { path: "/etc/m.yaml", text };
  return resolveConfig({ table: TABLE, file, env, args });
}

const won: [name: string, sources: Sources, key: Key, value: unknown, origin: string][] = [
  ["takes the default", {}, "log_level", "info", "default"],
  ["takes null where the default is null", {}, "id", null, "default"],
  ["takes the file", { text: "\nlog_level: debug\n" }, "log_level", "debug", "file /etc/m.yaml:2"],
  [
    "lets the environment win over the file",
    { text: "wait: 5m", env: { ZESTER_WAIT: "2s" } },
    "wait",
    2_000,
    "env ZESTER_WAIT",
  ],
  [
    "lets a flag win over all",
    { text: "wait: 5m", env: { ZESTER_WAIT: "2s" }, args: ["--wait", "1h30m"] },
    "wait",
    5_400_000,
    "flag --wait",
  ],
  ["takes an empty variable as not set", { env: { ZESTER_WAIT: "" } }, "wait", 1_000, "default"],
  ["takes an empty key as not set", { text: "wait:\n" }, "wait", 1_000, "default"],
  ["takes an empty file as empty", { text: "# nothing\n" }, "wait", 1_000, "default"],
  ["takes a bare 0 as a duration", { text: "wait: 0" }, "wait", 0, "file /etc/m.yaml:1"],
  ["takes --flag=value", { args: ["--id=a=b"] }, "id", "a=b", "flag --id"],
  ["takes a boolean flag", { args: ["--reactor"] }, "reactor.enabled", true, "flag --reactor"],
  ["takes --no-flag", { args: ["--no-reactor"] }, "reactor.enabled", false, "flag --no-reactor"],
  [
    "opens nested keys",
    { text: "wait: 1s\nreactor:\n  enabled: false" },
    "reactor.enabled",
    false,
    "file /etc/m.yaml:3",
  ],
  ["takes a list", { text: "nats_url: [a, b]" }, "nats_url", ["a", "b"], "file /etc/m.yaml:1"],
  ["takes one text as a list", { text: "nats_url: a" }, "nats_url", ["a"], "file /etc/m.yaml:1"],
  [
    "splits a list at commas",
    { env: { ZESTER_NATS_URL: "a, b" } },
    "nats_url",
    ["a", "b"],
    "env ZESTER_NATS_URL",
  ],
  [
    "adds up a repeated list flag, but not to the file",
    { text: "nats_url: c", args: ["--nats-url", "a", "--nats-url=b"] },
    "nats_url",
    ["a", "b"],
    "flag --nats-url",
  ],
  ["empties a list by an empty flag", { args: ["--nats-url="] }, "nats_url", [], "flag --nats-url"],
];
for (const [name, sources, key, value, origin] of won) {
  Deno.test(`resolveConfig() ${name}`, async () => {
    const { values, origins } = await resolve(sources);
    assert.deepEqual(values[key], value);
    assert.equal(origins[key], origin);
  });
}

const refused: [name: string, sources: Sources, message: string, fix?: string][] = [
  [
    "an unknown key, with the one that was meant",
    { text: "id: a\nnats_ulr: b" },
    "config: /etc/m.yaml:2: no such key: nats_ulr",
    "did you mean `nats_url`?",
  ],
  [
    "an unknown nested key",
    { text: "reactor:\n  enabled: true\n  enabeld: true" },
    "config: /etc/m.yaml:3: no such key: reactor.enabeld",
    "did you mean `reactor.enabled`?",
  ],
  [
    "a key that is nothing like any",
    { text: "__proto__: 1" },
    "config: /etc/m.yaml:1: no such key: __proto__",
    "known: id, log_level, nats_url, reactor.enabled, replicas, wait",
  ],
  [
    "a duration without its unit",
    { text: "wait: 5" },
    "config: /etc/m.yaml:1: wait: 5 is not a duration such as 30s, 5m or 1h30m, or 0",
  ],
  [
    "a number beyond its range",
    { text: "replicas: 7" },
    "config: /etc/m.yaml:1: replicas: 7 is not a whole number from 0 to 5",
  ],
  [
    "a fraction",
    { args: ["--replicas", "1.5"] },
    'config: --replicas: "1.5" is not a whole number from 0 to 5',
  ],
  [
    "a number for a text, and says to quote it",
    { text: "id: 42" },
    "config: /etc/m.yaml:1: id: 42 is not text",
    'quote it: "42"',
  ],
  [
    "a text for a boolean",
    { text: "reactor:\n  enabled: yes" },
    'config: /etc/m.yaml:2: reactor.enabled: "yes" is not true or false',
  ],
  [
    "a list of numbers",
    { text: "nats_url: [1]" },
    "config: /etc/m.yaml:1: nats_url: a list is not a list of texts",
  ],
  [
    "a choice that does not exist",
    { env: { ZESTER_LOG_LEVEL: "inof" } },
    'config: ZESTER_LOG_LEVEL: "inof" is not one of debug, info',
    "did you mean `info`?",
  ],
  [
    "an unknown flag",
    { args: ["--nats-ulr=x"] },
    "no such flag: --nats-ulr",
    "did you mean `--nats-url`?",
  ],
  [
    "a flag without its value",
    { args: ["--wait"] },
    "--wait needs a value: a duration such as 30s, 5m or 1h30m, or 0",
  ],
  ["a stray word", { args: ["start"] }, 'unexpected argument "start"'],
  ["a file that is a list", { text: "- a" }, "config: /etc/m.yaml: is not a map of keys to values"],
  [
    "two documents",
    { text: "id: a\n---\nid: b" },
    "config: /etc/m.yaml: has several documents, one is expected",
  ],
  [
    "a key given twice",
    { text: "id: a\nid: b" },
    "config: /etc/m.yaml:2: not valid YAML: duplicated mapping key",
  ],
  [
    "broken YAML",
    { text: "id: a\nwait: [" },
    "config: /etc/m.yaml:2: not valid YAML: unexpected end of the stream within a flow collection",
  ],
];
for (const [name, sources, message, fix] of refused) {
  Deno.test(`resolveConfig() refuses ${name}`, async () => {
    await assert.rejects(resolve(sources), (error) => {
      assert.ok(isZesterError(error));
      assert.equal(error.message, message);
      assert.equal(error.fix, fix ?? error.fix);
      return error.code === "config_invalid" || error.code === "usage";
    });
  });
}

const FILES: Readonly<Record<string, string>> = { "/default.yaml": "id: d", "/own.yaml": "id: o" };
function load(args: string[], env: Record<string, string> = {}, defaultPath = "/default.yaml") {
  const read = (path: string) =>
    Promise.resolve(FILES[path] === undefined ? null : new TextEncoder().encode(FILES[path]));
  return loadConfig({ table: TABLE, defaultPath, env, args, files: { read } });
}

const loaded: [
  name: string,
  args: string[],
  env: Record<string, string>,
  path: string,
  want: string | null,
][] = [
  ["reads the default file", [], {}, "/default.yaml", "d"],
  ["does without a default file", [], {}, "/none.yaml", null],
  ["reads the file of --config", ["--config", "/own.yaml"], {}, "/default.yaml", "o"],
  ["reads the file of ZESTER_CONFIG", [], { ZESTER_CONFIG: "/own.yaml" }, "/default.yaml", "o"],
  ["lets --config win", ["--config=/own.yaml"], { ZESTER_CONFIG: "/none" }, "/default.yaml", "o"],
  ["passes the other flags on", ["--config=/own.yaml", "--id", "f"], {}, "/default.yaml", "f"],
];
for (const [name, args, env, path, want] of loaded) {
  Deno.test(`loadConfig() ${name}`, async () => {
    assert.equal((await load(args, env, path)).values.id, want);
  });
}

Deno.test("loadConfig() refuses an explicit file that is missing", async () => {
  await assert.rejects(load(["--config", "/gone.yaml"]), {
    code: "config_invalid",
    message: "config: /gone.yaml: no such file",
  });
});

Deno.test("optionHelp() lists every flag with its help", () => {
  const { id, replicas } = TABLE;
  assert.equal(
    optionHelp({ id, replicas }),
    "  --id <string>         Id.\n  --replicas <integer>  Copies.",
  );
});
