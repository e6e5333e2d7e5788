import assert from "node:assert/strict";
import { systemClock } from "../../../core/adapters/system_clock.ts";
import { isZesterError } from "../../../core/errors.ts";
import { PROGRAM_OUTPUT_BYTES_MAX, PROGRAM_TERM_GRACE_MS } from "../../../core/limits.ts";
import type { Program } from "../../../core/module/grant.ts";
import type { RunOptions, RunResult } from "../../../core/module/host.ts";
import { runProgram } from "./programs.ts";

const isRoot = Deno.uid() === 0;
if (!isRoot) console.log("programs_test: not root, so tests about other users are skipped");

function run(
  program: Program,
  options: RunOptions = {},
  signal: AbortSignal = new AbortController().signal,
): Promise<RunResult> {
  return runProgram(program, options, { signal, clock: systemClock, defaultTimeoutMs: 20_000 });
}

function shell(script: string, options?: RunOptions, signal?: AbortSignal): Promise<RunResult> {
  return run(["/bin/sh", "-c", script], options, signal);
}

async function refused(pending: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(pending, (thrown) => {
    assert.ok(isZesterError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, message);
    return true;
  });
}

function isAlive(pid: number): boolean {
  try {
    // The state of a process that only waits for its parent to notice its end is Z.
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

async function eventually(what: string, isSo: () => boolean): Promise<void> {
  const until = performance.now() + 10_000;
  while (!isSo()) {
    assert.ok(performance.now() < until, what);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

// ---- answers -------------------------------------------------------------------------------------------------

Deno.test("runProgram() gives status, stdout and stderr as they are", async () => {
  assert.deepEqual(await shell("echo out; echo err >&2; exit 3"), {
    code: 3,
    stdout: "out\n",
    stderr: "err\n",
    droppedBytes: 0,
    timedOut: false,
  });
  assert.equal((await shell("kill -KILL $$")).code, 128 + 9);
});

Deno.test("runProgram() passes arguments as they are, without a shell", async () => {
  const hostile = ["$(id)", "; id", "`id`", "a b", "", "-n\n", "*", "%s"];
  const { stdout } = await run(["printf", "<%s>", ...hostile]);
  assert.equal(stdout, hostile.map((each) => `<${each}>`).join(""));
  const masked = await run(["printf", "<%s>", ...hostile], { umask: 0o027 });
  assert.equal(masked.stdout, stdout);
  await refused(run(["printf", "a\0b"]), "bad_params", /NUL/);
});

Deno.test("runProgram() looks programs up in a fixed path and says what it did not find", async () => {
  await refused(run(["no-such-program"]), "not_found", /run no-such-program: no such program in/);
  await refused(run(["/no/such/program"]), "not_found", /no such program/);
  await refused(run(["./relative"]), "not_found", /no such program/);
  await refused(run(["/etc/passwd"]), "not_found", /no such program/);
  await refused(run(["true"], { cwd: "/no/such" }), "not_found", /no folder "\/no\/such"/);
  await refused(run([] as unknown as Program), "bad_params", /a program is a list/);
});

Deno.test("runProgram() gives a program its own small environment and nothing of ours", async () => {
  Deno.env.set("PEEL_TEST_SECRET", "leak");
  try {
    const { stdout } = await run(["env"], { env: { MINE: "a=b\nc" } });
    assert.doesNotMatch(stdout, /PEEL|leak/);
    const names = stdout.split("\n").map((line) => line.split("=")[0]);
    assert.deepEqual(names.sort().filter((name) => name !== "c"), [
      "",
      "HOME",
      "LANG",
      "LOGNAME",
      "MINE",
      "PATH",
      "USER",
    ]);
    assert.match(stdout, /^MINE=a=b\nc$/m);
  } finally {
    Deno.env.delete("PEEL_TEST_SECRET");
  }
});

for (const name of ["LD_PRELOAD", "LD_LIBRARY_PATH", "BASH_ENV", "GCONV_PATH", "", "A=B", "A\0B"]) {
  Deno.test(`runProgram() refuses the variable ${JSON.stringify(name)}`, async () => {
    await refused(run(["true"], { env: { [name]: "x" } }), "bad_params", /must not be set/);
  });
}

Deno.test("runProgram() gives folder, umask and input", async () => {
  assert.equal((await run(["pwd"])).stdout, "/\n");
  assert.equal((await run(["pwd"], { cwd: "/usr" })).stdout, "/usr\n");
  assert.equal((await shell("umask", { umask: 0o027 })).stdout, "0027\n");
  assert.equal((await run(["cat"], { stdin: "über\n" })).stdout, "über\n");
  assert.equal((await run(["cat"])).stdout, "");
});

Deno.test("runProgram() does not mind a program that leaves its input unread", async () => {
  const stdin = "x".repeat(1_000_000);
  assert.equal((await run(["true"], { stdin })).code, 0);
  const script = "exec 3<&0; sleep 30 <&3 >/dev/null 2>&1 & echo $!";
  const { stdout } = await shell(script, { stdin });
  const pid = Number(stdout);
  Deno.kill(pid, "SIGKILL");
  await eventually("it is gone", () => !isAlive(pid));
});

Deno.test("runProgram() keeps the beginning of a flood and counts the rest", async () => {
  const { stdout, stderr, droppedBytes } = await shell(
    "head -c 20000000 /dev/zero | tr '\\0' x; head -c 100 /dev/zero >&2",
  );
  assert.equal(stdout, "x".repeat(PROGRAM_OUTPUT_BYTES_MAX));
  assert.equal(stderr.length, 100);
  assert.equal(droppedBytes, 20_000_000 - PROGRAM_OUTPUT_BYTES_MAX);
  const cut = await run(["printf", "aüb"], { outputBytesMax: 2 });
  assert.deepEqual([cut.stdout, cut.droppedBytes], ["a", 2]);
  assert.equal((await run(["printf", "\\377"])).stdout, "\ufffd");
});

// ---- ends ----------------------------------------------------------------------------------------------------

Deno.test("runProgram() ends a program whose time is up, grandchildren included", async () => {
  const { stdout, timedOut, code } = await shell(
    "sleep 100 & echo $!; (sleep 101 & echo $!; wait) & echo $!; wait",
    { timeoutMs: 300 },
  );
  assert.deepEqual([timedOut, code], [true, 128 + 15]);
  const pids = stdout.trim().split("\n").map(Number);
  assert.equal(pids.length, 3);
  await eventually("all are gone", () => !pids.some(isAlive));
});

Deno.test("runProgram() kills what does not listen, also when its parent did", async () => {
  const began = performance.now();
  const stubborn = "(trap '' TERM; echo $$; while :; do sleep 0.1; done)";
  const { stdout, timedOut } = await shell(
    `sh -c "${stubborn.replaceAll("$", "\\$")}" & echo $!; wait`,
    { timeoutMs: 300 },
  );
  assert.equal(timedOut, true);
  const pids = [...new Set(stdout.trim().split("\n").map(Number))];
  await eventually("all are gone", () => !pids.some(isAlive));
  assert.ok(performance.now() - began >= PROGRAM_TERM_GRACE_MS);
});

Deno.test("runProgram() ends with its signal, and then it has failed", async () => {
  const ended = new AbortController();
  const marker = await Deno.makeTempFile();
  try {
    const running = shell(`sleep 100 & echo $! > ${marker}; wait`, {}, ended.signal);
    await eventually("it runs", () => Deno.readTextFileSync(marker).endsWith("\n"));
    ended.abort();
    await refused(running, "closed", /ended from outside/);
    const pid = Number(Deno.readTextFileSync(marker));
    await eventually("it is gone", () => !isAlive(pid));
    await refused(shell("true", {}, ended.signal), "closed", /ended from outside/);
  } finally {
    await Deno.remove(marker);
  }
});

Deno.test("runProgram() leaves a daemon alone and does not wait for its output", async () => {
  const began = performance.now();
  const { code, stdout, timedOut } = await shell("sleep 30 & echo $!");
  const pid = Number(stdout);
  try {
    assert.deepEqual([code, timedOut], [0, false]);
    assert.ok(performance.now() - began < 10_000);
    assert.ok(isAlive(pid));
  } finally {
    Deno.kill(pid, "SIGKILL");
  }
});

// ---- users ---------------------------------------------------------------------------------------------------

Deno.test({
  name: "runProgram() runs as another user with its groups and home, and nothing of root",
  ignore: !isRoot,
  async fn() {
    const script = "id -u; id -G; echo $HOME $USER; umask; grep CapEff /proc/self/status";
    const { stdout, stderr } = await shell(script, { user: "nobody", umask: 0o077 });
    const [uid, gids, home, umask, capabilities] = stdout.split("\n");
    const [, , wantUid, wantGid, , wantHome] = (await run(["getent", "passwd", "nobody"])).stdout
      .split(":");
    assert.deepEqual(
      [uid, gids, home, umask],
      [wantUid, wantGid, `${wantHome} nobody`, "0077"],
      stderr,
    );
    assert.match(capabilities!, /^CapEff:\s+0+$/);
    const timed = await shell("echo $$; sleep 100", { user: "nobody", timeoutMs: 300 });
    assert.deepEqual([timed.timedOut, timed.code], [true, 128 + 15]);
    assert.equal((await shell("id -u", { user: "root" })).stdout, "0\n");
  },
});

Deno.test({
  name: "runProgram() refuses users that are none",
  ignore: !isRoot,
  async fn() {
    await refused(run(["true"], { user: "no-such-user" }), "not_found", /no user no-such-user/);
    for (const user of ["--help", "a b", "", "0", "a:b", "root\n"]) {
      await refused(run(["true"], { user }), "bad_params", /is no name of a user/);
    }
  },
});
