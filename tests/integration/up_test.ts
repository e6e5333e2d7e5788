/** `deno task up` as a user runs it: real processes, real terminals' worth of output, and nothing left behind. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../tools/repository.ts";
import { natsServerOrSkip } from "../fakes/nats_server.ts";

interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function up(args: readonly string[], env: Record<string, string> = {}): Promise<Finished> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-all", join(ROOT, "tools/up.ts"), ...args],
    env,
  }).output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "zester-up-test-" });
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    Deno.kill(pid, "SIGCONT");
    return true;
  } catch {
    return false;
  }
}

for (const broker of ["embedded", "nats-server"] as const) {
  Deno.test({
    name:
      `up --broker ${broker} -- zester '*' test.ping -o json prints three successes and leaves no process`,
    ignore: broker === "nats-server" && await natsServerOrSkip() === null,
    fn: () =>
      withFolder(async (folder) => {
        const state = join(folder, "state.json");
        const { code, stdout, stderr } = await up(
          ["--peels", "3", "--broker", broker, "--", "zester", "*", "test.ping", "-o", "json"],
          { ZESTER_UP_STATE: state },
        );
        assert.equal(code, 0, stderr);
        const answers = JSON.parse(stdout) as { peel_id: string; success: boolean }[];
        assert.deepEqual(answers.map((each) => each.peel_id).sort(), [
          "peel-1",
          "peel-2",
          "peel-3",
        ]);
        assert.ok(answers.every((each) => each.success));
        const { children } = JSON.parse(await Deno.readTextFile(state)) as {
          children: { role: string; id: string; pid: number }[];
        };
        assert.deepEqual(children.map((child) => child.role), [
          "broker",
          "master",
          "peel",
          "peel",
          "peel",
        ]);
        assert.deepEqual(children.filter((child) => isAlive(child.pid)), []);
      }),
  });
}

Deno.test("up --data can be started again on its folder, with the same keys, and a broken file is one clear error", () =>
  withFolder(async (folder) => {
    const data = join(folder, "fleet");
    const args = [
      "--peels",
      "1",
      "--broker",
      "embedded",
      "--data",
      data,
      "--",
      "zester",
      "*",
      "test.ping",
      "-o",
      "ids",
    ];
    assert.deepEqual((await up(args)).stdout, "peel-1\n");
    const peel = JSON.parse(await Deno.readTextFile(join(data, "peels/peel-1/peel.yaml")));
    for (const key of ["data_dir", "states_dir", "policy_file", "facts_file"]) {
      assert.ok(peel[key].startsWith(`${data}/peels/peel-1/`), `${key} is ${peel[key]}`);
    }
    assert.deepEqual([...Deno.readDirSync(peel["states_dir"])], [], "an empty state tree");
    const seed = await Deno.readTextFile(join(data, "auth/account.seed"));
    assert.deepEqual((await up(args)).stdout, "peel-1\n");
    assert.equal(await Deno.readTextFile(join(data, "auth/account.seed")), seed);
    const journal = await Deno.readTextFile(join(data, "peels/peel-1/data/journal"));
    assert.equal(journal.match(/"accepted"/g)?.length, 2, "both jobs are in the journal");
    await Deno.writeTextFile(join(data, "auth/trust.json"), "{}");
    const broken = await up(args);
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /^error ZE\d+: .*trust document/);
    assert.equal(broken.stdout, "");
  }));

Deno.test("up says one clear error and exits 2 for a port in use, a missing folder, and wrong options", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  try {
    const cases: [args: string[], says: RegExp][] = [
      [
        ["--port", String(listener.addr.port), "--broker", "embedded", "--", "true"],
        /^error ZE0003: port \d+ .* is in use/,
      ],
      [["--data", "/does/not/exist/here", "--", "true"], /^error ZE0003: .*does not exist/],
      [["--states", "/does/not/exist", "--", "true"], /^error ZE0003: --states .*no such folder/],
      [["--peelz", "3"], /^error ZE0002: .*did you mean --peels\?/],
      [["--masters", "0"], /^error ZE0002: .*from 1 to/],
      [["--broker", "rabbit"], /^error ZE0002: .*embedded/],
      [["--"], /^error ZE0002: /],
    ];
    for (const [args, says] of cases) {
      const { code, stdout, stderr } = await up(args);
      assert.equal(code, 2, `${args.join(" ")}: ${stderr}`);
      assert.match(stderr, says);
      assert.equal(stdout, "");
    }
  } finally {
    listener.close();
  }
});

Deno.test("up exits with the status of its command, and two masters share the work", async () => {
  const script = "zester '*' test.ping -q && zester '*' test.ping -q && exit 42";
  const { code, stderr } = await up([
    "--masters",
    "2",
    "--peels",
    "1",
    "--broker",
    "embedded",
    "--",
    "sh",
    "-c",
    script,
  ]);
  assert.equal(code, 42, stderr);
});

Deno.test("up without a command stays up until it is told to stop, answers health checks, and stops its children", () =>
  withFolder(async (folder) => {
    const state = join(folder, "state.json");
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-all",
        join(ROOT, "tools/up.ts"),
        "--peels",
        "1",
        "--broker",
        "embedded",
      ],
      env: { ZESTER_UP_STATE: state, XDG_CONFIG_HOME: folder },
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const output = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let said = "";
    while (!said.includes("Ctrl-C")) said += (await output.read()).value ?? "";
    assert.match(said, /deno task zester '\*' test\.ping/);
    const cli = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "--no-prompt",
        "--allow-all",
        join(ROOT, "cli/main.ts"),
        "*",
        "test.ping",
        "-o",
        "ids",
      ],
      env: { XDG_CONFIG_HOME: folder },
    }).output();
    assert.equal(
      new TextDecoder().decode(cli.stdout),
      "peel-1\n",
      "another terminal finds the fleet",
    );
    const { children } = JSON.parse(await Deno.readTextFile(state)) as {
      children: { role: string; pid: number; address: string }[];
    };
    for (const { role, address } of children.filter(({ role }) => role !== "broker")) {
      const health = await (await fetch(`http://${address}/healthz`)).json();
      assert.equal(health.component, role);
      assert.equal((await (await fetch(`http://${address}/readyz`)).json()).status, "ok");
      const metrics = await (await fetch(`http://${address}/metrics`)).text();
      assert.match(metrics, /zester_build_info/);
    }
    const started = performance.now();
    child.kill("SIGTERM");
    while (!(await output.read()).done) continue;
    assert.equal((await child.status).code, 0);
    assert.ok(performance.now() - started < 10_000, "it stops within ten seconds");
    assert.deepEqual(children.filter(({ pid }) => isAlive(pid)), []);
    assert.deepEqual(
      [...Deno.readDirSync(join(folder, "zester/contexts"))],
      [],
      "its context is gone",
    );
  }));

Deno.test("the children of an up that is killed stop by themselves", () =>
  withFolder(async (folder) => {
    const state = join(folder, "state.json");
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--no-prompt", "--allow-all", join(ROOT, "tools/up.ts"), "--peels", "1"],
        ...["--broker", "embedded", "--data", join(folder, "fleet"), "--", "sleep", "30"],
      ],
      env: { ZESTER_UP_STATE: state },
      stdout: "null",
      stderr: "null",
    }).spawn();
    const deadline = performance.now() + 20_000;
    let pids: number[] = [];
    while (pids.length === 0 && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      const text = await Deno.readTextFile(state).catch(() => null);
      if (text !== null) pids = JSON.parse(text).children.map(({ pid }: { pid: number }) => pid);
    }
    assert.equal(pids.length, 3);
    child.kill("SIGKILL");
    await child.status;
    while (pids.some(isAlive) && performance.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.deepEqual(pids.filter(isAlive), []);
  }));
