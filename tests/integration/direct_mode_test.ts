/** What works without any master, on real processes: targets from the store, and peels commanded directly. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { streams } from "../../core/buckets.ts";
import { connectNats } from "../../core/nats/mod.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeEvent } from "../../core/wire/event.ts";
import { loginOf } from "../../tools/up/fleet.ts";
import { parseUpOptions } from "../../tools/up/options.ts";
import type { RunningFleet } from "../../tools/up/run.ts";
import { withFleet } from "../../tools/up.ts";
import { natsServerOrSkip } from "../fakes/nats_server.ts";
import { childOf, start, zester } from "../fakes/zester_process.ts";

for (const broker of ["embedded", "nats-server"] as const) {
  Deno.test({
    name:
      `on ${broker}, with all masters stopped, --direct commands peels and targets come from the store`,
    ignore: broker === "nats-server" && await natsServerOrSkip() === null,
    fn: () =>
      withFleet(parseUpOptions(["--broker", broker, "--peels", "3"]), async (fleet) => {
        await haveFacts(fleet);
        await stopMasters(fleet);
        await commandsPeels(fleet);
        await resolvesTargets(fleet);
      }),
  });
}

/** Peels send their facts after they are ready. */
async function haveFacts(fleet: RunningFleet): Promise<void> {
  for (;;) {
    const { stdout } = await zester(fleet, "target", "P@os:.", "-o", "ids");
    if (stdout.split("\n").length === 4) return;
  }
}

async function stopMasters({ children }: RunningFleet): Promise<void> {
  const masters = children.filter(({ role }) => role === "master");
  for (const master of masters) master.kill("SIGTERM");
  await Promise.all(masters.map(({ ended }) => ended));
}

async function commandsPeels(fleet: RunningFleet): Promise<void> {
  const refused = await zester(fleet, "*", "test.ping");
  assert.equal(refused.code, 8);
  assert.match(refused.stderr, /no master answers\n.*\n.*zester --direct …\n$/);

  const one = await zester(fleet, "--direct", "peel-1", "test.ping");
  assert.equal(one.code, 0, one.stderr);
  assert.match(one.stdout, /^peel-1 {2}true .*\n1 peel in \S+: 1 ok\n$/);
  assert.match(one.stderr, /\nRun {5}\w{27} {3}admin · without a master · timeout 1m\n$/);
  const jid = /Run {5}(\w{27})/.exec(one.stderr)?.[1];
  const { data } = await auditOf(fleet, "peel-1");
  assert.deepEqual([data?.["jid"], data?.["operator"], data?.["function"]], [
    jid,
    "admin",
    "test.ping",
  ]);

  const some = await zester(fleet, "--direct", "P@os:. and not peel-2", "test.ping", "-o", "ids");
  assert.deepEqual([some.code, some.stdout], [0, "peel-1\npeel-3\n"], some.stderr);
  const wrong = await zester(fleet, "--direct", "peel-1", "test.pong");
  assert.equal(wrong.code, 3);
  assert.match(wrong.stdout, /did you mean test\.ping\?/);
  const peel = fleet.children.find(({ id }) => id === "peel-3")!;
  peel.kill("SIGTERM");
  await peel.ended;
  const gone = await zester(fleet, "--direct", "*", "test.ping", "--timeout", "5s");
  assert.equal(gone.code, 4, gone.stderr);
  assert.match(gone.stdout, /^peel-3 {2}silent {2}not connected to the broker$/m);
}

/** The event that a peel left about the last direct run. */
async function auditOf({ contextFile, broker }: RunningFleet, peel: string) {
  const user = loginOf("bootstrap", "bootstrap");
  const password = await Deno.readTextFile(join(dirname(contextFile), "logins", user));
  const nats = await connectNats({
    servers: [broker.url],
    role: "bootstrap",
    identity: "bootstrap",
    mode: "cli",
    name: "test",
    user,
    password: password.trim(),
  });
  try {
    const subject = subjects.eventSend.of({ peel, tag: ["audit", "direct"] });
    const stream = nats.store.stream(streams.events.name);
    for (;;) {
      const message = await stream.lastOn(subject);
      if (message !== null) return decodeEvent(message.data);
    }
  } finally {
    await nats.close();
  }
}

async function resolvesTargets(fleet: RunningFleet): Promise<void> {
  const warning = "warning: no master answers; this is from the store, and may be out of date\n";
  for (
    const [target, want] of [
      ["*", "peel-1\npeel-2\npeel-3\n"],
      ["P@os:. and not peel-2", "peel-1\npeel-3\n"],
    ] as const
  ) {
    const { code, stdout, stderr } = await zester(fleet, "target", target, "-o", "ids");
    assert.deepEqual([code, stdout, stderr], [0, want, warning]);
  }
}

Deno.test("--direct is refused without the right, with what only masters do, and from a key that is not trusted", () =>
  withFleet(parseUpOptions(["--broker", "embedded", "--peels", "1"]), async (fleet) => {
    const context = JSON.parse(await Deno.readTextFile(fleet.contextFile));
    const contextWith = async (name: string, direct: unknown): Promise<string> => {
      const file = join(dirname(fleet.contextFile), `${name}.yaml`);
      await Deno.writeTextFile(file, JSON.stringify({ ...context, direct }));
      return file;
    };
    const run = async (file: string, ...args: string[]) =>
      await start(fleet, ["--direct", "*", "test.ping", ...args], file).said;

    const batched = await run(fleet.contextFile, "--batch", "1", "--async");
    assert.equal(batched.code, 2);
    assert.match(
      batched.stderr,
      /^error ZE0002: --direct cannot be combined with --async, --batch\n/,
    );

    const without = await run(await contextWith("without", {}));
    assert.equal(without.code, 7);
    assert.match(without.stderr, /^error ZE0710: this context has no direct mode\n/);

    const borrowed = { ...context.direct, seed_file: context.operator_seed_file };
    const untrusted = await run(await contextWith("untrusted", borrowed));
    assert.equal(untrusted.code, 7);
    assert.match(untrusted.stderr, /does not know this key as direct admin\n/);

    const login = { user: context.user, password_file: context.password_file };
    const wrongLogin = await run(
      await contextWith("login", { ...context.direct, ...login }),
      "--timeout",
      "3s",
    );
    assert.equal(wrongLogin.code, 7, "the operator's own login may not command peels");
    assert.match(wrongLogin.stderr, /^error ZE0710: the broker does not let user operator-admin/);
  }));

Deno.test("a broker that dies in mid-job is said at once, with the job and how to look later", () =>
  withFleet(parseUpOptions(["--broker", "embedded", "--peels", "2"]), async (fleet) => {
    const pid = childOf(fleet, "peel-2");
    Deno.kill(pid, "SIGSTOP");
    try {
      const running = start(fleet, ["*", "test.ping"]);
      await running.tells("Job     ");
      const killedMs = performance.now();
      Deno.kill(childOf(fleet, "broker"), "SIGKILL");
      const { code, stdout, stderr } = await running.said;
      assert.ok(performance.now() - killedMs < 5_000, "it does not wait for silence");
      assert.equal(code, 8);
      assert.match(stdout, /^peel-2 {2}silent {2}not known: /m);
      const jid = /Job {5}(\w{27})/.exec(stderr)?.[1];
      assert.match(
        stderr,
        new RegExp(`error ZE0802: the connection to the broker was lost\n.*${jid} goes on`),
      );
      assert.match(stderr, new RegExp(`fix +zester job show ${jid}`));
    } finally {
      Deno.kill(pid, "SIGCONT");
    }
  }));
