/** Programs as an impatient user treats them: stopped at every stage, started on broken files, cut off from their server. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../tools/repository.ts";
import { stopRequest } from "../../tools/up/stop_request.ts";
import { startFleet } from "../../tools/up/run.ts";
import { parseUpOptions } from "../../tools/up/options.ts";

const UP = ["run", "--no-prompt", "--allow-all", join(ROOT, "tools/up.ts"), "--broker", "embedded"];
const STOP_MS_MAX = 10_000;

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "zester-daemons-test-" });
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function spawnUp(args: readonly string[], env: Record<string, string>): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: [...UP, ...args],
    env,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Reads until the text is there; what comes after it is read by nobody. */
async function until(stream: ReadableStream<Uint8Array>, wanted: string): Promise<void> {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (let said = ""; !said.includes(wanted);) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`ended without saying ${wanted}: ${said}`);
    said += value;
  }
}

async function names(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
}

/** Waits until the broker's log exists: the fleet is then in the middle of its start. */
async function untilBrokerRuns(folder: string): Promise<void> {
  for (;;) {
    const [fleet] = await names(folder);
    const logs = join(folder, fleet ?? "none", "logs");
    if ((await names(logs).catch(() => [])).length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  Deno.test(`up stopped by ${signal} in the middle of its start leaves no folder and exits ${code}`, () =>
    withFolder(async (folder) => {
      const child = spawnUp(["--peels", "1"], { TMPDIR: folder, XDG_CONFIG_HOME: folder });
      await untilBrokerRuns(folder);
      child.kill(signal);
      const { code: found, stderr } = await child.output();
      assert.equal(found, code, new TextDecoder().decode(stderr));
      assert.deepEqual(await names(folder), []);
    }));
}

Deno.test("up passes SIGTERM on to its command, exits with its status, and leaves no folder", () =>
  withFolder(async (folder) => {
    const script = "trap 'exit 7' TERM; echo ready >&2; while :; do sleep 0.05; done";
    const child = spawnUp(["--peels", "1", "--", "sh", "-c", script], { TMPDIR: folder });
    await until(child.stderr, "ready");
    child.kill("SIGTERM");
    await child.stdout.cancel();
    assert.equal((await child.status).code, 7);
    assert.deepEqual(await names(folder), []);
  }));

Deno.test("up refuses a data folder that another one is using, whichever the broker", () =>
  withFolder(async (folder) => {
    const data = join(folder, "fleet");
    const held = spawnUp(
      ["--peels", "1", "--data", data, "--", "sh", "-c", "echo held >&2; exec sleep 60"],
      {},
    );
    await until(held.stderr, "held");
    const { code, stderr } = await spawnUp(["--peels", "1", "--data", data, "--", "true"], {})
      .output();
    assert.equal(code, 2);
    assert.match(new TextDecoder().decode(stderr), /another `up` is using it\n {2}fix /);
    held.kill("SIGTERM");
    await held.stdout.cancel();
    await held.status;
  }));

// ---- one daemon ----------------------------------------------------------------------------------------------

interface Daemon {
  readonly child: Deno.ChildProcess;
  readonly health: string;
}

async function startDaemon(
  role: "master" | "peel",
  config: string,
  ...args: string[]
): Promise<Daemon> {
  const child = daemonCommand(role, config, args).spawn();
  const { promise: health, resolve } = Promise.withResolvers<string>();
  (async () => {
    let said = "";
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      said += text;
      const found = /"health listening","addr":"([^"]+)"/.exec(said)?.[1];
      if (found !== undefined) resolve(found);
    }
  })();
  return { child, health: await health };
}

function daemonCommand(
  role: "master" | "peel",
  config: string,
  args: readonly string[],
): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "-A", join(ROOT, role, "main.ts"), "--config", config, ...args],
    stdout: "null",
    stderr: "piped",
  });
}

interface Readiness {
  readonly code: number;
  readonly checks: Record<string, { status: string }>;
}

async function readyz(health: string): Promise<Readiness> {
  const answer = await fetch(`http://${health}/readyz`);
  const { checks } = await answer.json() as Pick<Readiness, "checks">;
  return { code: answer.status, checks };
}

async function stopsInTime({ child }: Daemon): Promise<void> {
  const startedMs = performance.now();
  child.kill("SIGTERM");
  assert.equal((await child.status).code, 0);
  assert.ok(performance.now() - startedMs < STOP_MS_MAX);
}

/** A fleet in a folder of its own, with its processes, in this process's hands. */
async function withRunningFleet(
  use: (fleet: Awaited<ReturnType<typeof startFleet>>, data: string) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const stop = stopRequest();
    const data = join(folder, "fleet");
    try {
      const fleet = await startFleet(
        parseUpOptions(["--broker", "embedded", "--peels", "1"]),
        data,
        stop,
      );
      try {
        await use(fleet, data);
      } finally {
        await fleet.stop();
      }
    } finally {
      stop.release();
    }
  });
}

Deno.test("daemons whose broker is gone say 503 with the check named, and stop on SIGTERM with 0", () =>
  withRunningFleet(async ({ children }) => {
    const [broker, ...daemons] = children;
    broker!.kill("SIGKILL");
    await broker!.ended;
    for (const daemon of daemons) {
      const address = await daemon.address;
      let answer = await readyz(address);
      while (answer.code === 200) answer = await readyz(address);
      assert.equal(answer.code, 503);
      assert.equal(answer.checks["nats"]?.status, "down", daemon.id);
      daemon.kill("SIGTERM");
      assert.equal((await daemon.ended).code, 0, daemon.id);
    }
  }));

Deno.test("daemons whose broker hangs stop on SIGTERM with 0", () =>
  withRunningFleet(async ({ children }) => {
    const [broker, ...daemons] = children;
    broker!.kill("SIGSTOP");
    try {
      await Promise.all(daemons.map(async (daemon) => {
        const startedMs = performance.now();
        daemon.kill("SIGTERM");
        assert.equal((await daemon.ended).code, 0, daemon.id);
        assert.ok(performance.now() - startedMs < STOP_MS_MAX, daemon.id);
      }));
    } finally {
      broker!.kill("SIGCONT");
    }
  }));

Deno.test("daemons started before there is a broker are alive, not ready, and stop on SIGTERM with 0", () =>
  withRunningFleet(async (_fleet, data) => {
    const nowhere = ["--nats-url", "nats://127.0.0.1:1"];
    const configs = [["master", "masters/master-1/master.yaml"], [
      "peel",
      "peels/peel-1/peel.yaml",
    ]] as const;
    for (const [role, config] of configs) {
      const daemon = await startDaemon(role, join(data, config), ...nowhere);
      const alive = await (await fetch(`http://${daemon.health}/healthz`)).json();
      assert.equal(alive.status, "ok");
      assert.equal((await readyz(daemon.health)).code, 503);
      await stopsInTime(daemon);
    }
  }));

Deno.test("a peel that is set up wrong says what, where and what to do, and exits with 2 or 7", () =>
  withRunningFleet(async (_fleet, data) => {
    const config = join(data, "peels/peel-1/peel.yaml");
    const auth = join(data, "peels/peel-1/auth");
    const broken = join(data, "broken");
    await Deno.mkdir(broken);
    await Deno.copyFile(join(auth, "peel-1.seed"), join(broken, "peel-1.seed"));
    for (const name of ["root.pub", "generation"]) {
      await Deno.copyFile(join(auth, name), join(broken, name));
    }
    await Deno.writeTextFile(join(broken, "trust.json"), "{}");
    const cases: [args: string[], code: number, says: RegExp][] = [
      [
        ["--nats-password-file", join(data, "nope")],
        2,
        /password file \S+nope: no such file\n {2}fix /,
      ],
      [
        ["--nats-password-file", data],
        2,
        /password file: read "\S+": not a regular file\n {2}fix /,
      ],
      [["--nats-url", ""], 2, /nats_url names no server\n {2}fix /],
      [
        ["--auth-dir", broken],
        7,
        /trust document \S+broken\/trust\.json: .*signed document\n {2}fix /,
      ],
    ];
    for (const [args, code, says] of cases) {
      const { code: found, stderr } = await daemonCommand("peel", config, args).output();
      const said = new TextDecoder().decode(stderr);
      assert.match(said, says);
      assert.equal(found, code, said);
    }
  }));
