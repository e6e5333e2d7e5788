import assert from "node:assert/strict";
import { findContext } from "./context.ts";
import { isZesterError } from "./errors.ts";

const BODY = [
  "servers: [nats://127.0.0.1:4222]",
  "user: alice",
  "password_file: alice.password",
  "operator: alice",
  "operator_seed_file: /keys/alice.seed",
  "trust_file: ../trust.json",
  "trust_root: UROOT",
].join("\n");

type Disk = Readonly<Record<string, string>>;
const reader = (disk: Disk) => ({
  read: (path: string) =>
    Promise.resolve(disk[path] === undefined ? null : new TextEncoder().encode(disk[path])),
});
const find = (disk: Disk, env: Record<string, string> = {}, named?: string) =>
  findContext(env, "/home/a", reader(disk), named);

const HOME = "/home/a/.config/zester";
const chosen: [
  name: string,
  disk: Disk,
  env: Record<string, string>,
  want: string,
  named?: string,
][] = [
  ["takes `default`", { [`${HOME}/contexts/default.yaml`]: BODY }, {}, "default by default"],
  [
    "takes the name in `current`",
    { [`${HOME}/current`]: "prod\n", [`${HOME}/contexts/prod.yaml`]: BODY },
    {},
    "prod by current",
  ],
  [
    "lets ZESTER_CONTEXT win over `current`",
    { [`${HOME}/current`]: "prod", [`${HOME}/contexts/lab.yaml`]: BODY },
    { ZESTER_CONTEXT: "lab" },
    "lab by ZESTER_CONTEXT",
  ],
  [
    "lets --context win over all",
    { [`${HOME}/contexts/x.yaml`]: BODY },
    { ZESTER_CONTEXT: "lab" },
    "x by --context",
    "x",
  ],
  [
    "takes a path",
    { "/tmp/c.yaml": BODY },
    { ZESTER_CONTEXT: "/tmp/c.yaml" },
    "/tmp/c.yaml by ZESTER_CONTEXT",
  ],
  [
    "honours XDG_CONFIG_HOME",
    { "/xdg/zester/contexts/default.yaml": BODY },
    { XDG_CONFIG_HOME: "/xdg" },
    "default by default",
  ],
];
for (const [name, disk, env, want, named] of chosen) {
  Deno.test(`findContext() ${name}`, async () => {
    const context = await find(disk, env, named);
    assert.equal(`${context.name} by ${context.chosenBy}`, want);
  });
}

Deno.test("findContext() takes paths from the folder of the file", async () => {
  const context = await find({ "/fleet/c/x.yaml": BODY }, { ZESTER_CONTEXT: "/fleet/c/x.yaml" });
  assert.deepEqual(
    [context.passwordFile, context.operatorSeedFile, context.trustFile, context.tls],
    ["/fleet/c/alice.password", "/keys/alice.seed", "/fleet/trust.json", null],
  );
  assert.equal(context.origins.operator, "file /fleet/c/x.yaml:4");
});

Deno.test("findContext() lets a variable overrule the file, and knows that it did", async () => {
  const env = { ZESTER_CONTEXT: "/x/y.yaml", ZESTER_NATS_URL: "nats://a:1,nats://b:1" };
  const context = await find({ "/x/y.yaml": BODY }, env);
  assert.deepEqual(context.servers, ["nats://a:1", "nats://b:1"]);
  assert.equal(context.origins.servers, "env ZESTER_NATS_URL");
});

Deno.test("findContext() opens tls", async () => {
  const text = `${BODY}\ntls:\n  ca_file: ca.pem\n`;
  const { tls } = await find({ "/x/y.yaml": text }, { ZESTER_CONTEXT: "/x/y.yaml" });
  assert.deepEqual(tls, { caFile: "/x/ca.pem", certFile: null, keyFile: null });
});

const UP = "start a fleet on this machine with `deno task up`, which makes one, " +
  "or set ZESTER_CONTEXT to the file that your fleet's owner gave you";
const without = (key: string) => BODY.replace(new RegExp(`^${key}:.*$`, "m"), "");
const refused: [
  name: string,
  env: Record<string, string>,
  text: string | null,
  message: string,
  fix: string,
][] = [
  ["no context at all", {}, null, `no context: looked for ${HOME}/contexts/default.yaml`, UP],
  [
    "a name without a file",
    { ZESTER_CONTEXT: "lab" },
    null,
    `no context "lab" (from ZESTER_CONTEXT): looked for ${HOME}/contexts/lab.yaml`,
    UP,
  ],
  [
    "a name that is none",
    { ZESTER_CONTEXT: ".." },
    null,
    'context: ".." (from ZESTER_CONTEXT) is not a name',
    "use letters, digits, `.`, `_` and `-`, or a path with a `/`",
  ],
  [
    "a file without servers",
    { ZESTER_CONTEXT: "/x/y.yaml" },
    without("servers"),
    "context: /x/y.yaml: servers is missing",
    "add `servers`: NATS servers of the fleet, such as nats://127.0.0.1:4222.",
  ],
  [
    "a trust document without a pinned root",
    { ZESTER_CONTEXT: "/x/y.yaml" },
    without("trust_root"),
    "context: /x/y.yaml: trust_root is missing",
    "add `trust_root`: Public key of the root that must have signed the trust document.",
  ],
  [
    "a mistyped key",
    { ZESTER_CONTEXT: "/x/y.yaml" },
    BODY.replace("servers", "severs"),
    "config: /x/y.yaml:1: no such key: severs",
    "did you mean `servers`?",
  ],
];
for (const [name, env, text, message, fix] of refused) {
  Deno.test(`findContext() refuses ${name}`, async () => {
    const disk: Disk = text === null ? {} : { "/x/y.yaml": text };
    await assert.rejects(find(disk, env), (error) => {
      assert.ok(isZesterError(error, "config_invalid"));
      assert.deepEqual([error.message, error.fix], [message, fix]);
      return true;
    });
  });
}

Deno.test("findContext() says what to set when there is no home", async () => {
  await assert.rejects(findContext({}, undefined, reader({})), {
    message: "context: neither HOME nor XDG_CONFIG_HOME is set",
  });
});
