/** The commands about jobs, peels and masters, as an operator runs them on real processes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { parseUpOptions } from "../../tools/up/options.ts";
import type { RunningFleet } from "../../tools/up/run.ts";
import { withFleet } from "../../tools/up.ts";
import { childOf, start, zester } from "../fakes/zester_process.ts";

/** A stopped peel holds a job open: it takes ten seconds until it is given up. */
async function whileStopped(
  fleet: RunningFleet,
  id: string,
  use: () => Promise<void>,
): Promise<void> {
  const pid = childOf(fleet, id);
  Deno.kill(pid, "SIGSTOP");
  try {
    await use();
  } finally {
    Deno.kill(pid, "SIGCONT");
  }
}

async function showsStatus(fleet: RunningFleet, jid: string): Promise<string> {
  return JSON.parse((await zester(fleet, "job", "show", jid, "-o", "json")).stdout).status;
}

Deno.test("job list, show, active, watch, cancel and rerun, peel and master list on two masters and two peels", () =>
  withFleet(
    parseUpOptions(["--broker", "embedded", "--masters", "2", "--peels", "2"]),
    async (fleet) => {
      assert.equal((await zester(fleet, "*", "test.ping", "-q")).code, 0);
      const listed = JSON.parse((await zester(fleet, "job", "list", "-o", "json")).stdout);
      assert.equal(listed.length, 1);
      const { jid, status, user, return_count, success_count, target_expr } = listed[0];
      assert.deepEqual(
        [status, user, return_count, success_count, target_expr],
        ["complete", "admin", 2, 2, "*"],
      );
      const shown = await zester(fleet, "job", "show", jid.slice(0, 20));
      assert.match(shown.stdout, /^peel-1 +true/m);
      const again = await zester(fleet, "job", "watch", jid, "-q");
      assert.deepEqual([again.code, again.stdout.split("\n").length], [0, 3]);
      assert.match((await zester(fleet, "peel", "list")).stdout, /^peel-2 /m);
      assert.equal(
        (await zester(fleet, "master", "list", "-o", "ids")).stdout.match(/^master-/gm)?.length,
        2,
      );
      const ended = await zester(fleet, "job", "cancel", jid);
      assert.deepEqual([ended.code, /had ended already: complete/.test(ended.stdout)], [0, true]);
      assert.equal((await zester(fleet, "job", "show", "nope")).code, 2);

      await whileStopped(fleet, "peel-2", async () => {
        const started = await zester(fleet, "*", "test.ping", "--async");
        const open = started.stdout.trim();
        assert.equal((await zester(fleet, "job", "active", "-o", "ids")).stdout, `${open}\n`);
        const watching = start(fleet, ["job", "watch", open]);
        await watching.tells("Job     ");
        const canceled = await zester(fleet, "job", "cancel", open.slice(0, 22));
        assert.match(canceled.stdout, /is being canceled; it was running/);
        const watched = await watching.said;
        assert.equal(watched.code, 9, watched.stderr);
        assert.equal(await showsStatus(fleet, open), "canceled");
        assert.equal((await zester(fleet, "job", "active", "-o", "ids")).stdout, "");
        const listed = await zester(fleet, "job", "show", open);
        assert.match(listed.stdout, /^Ended +canceled by admin$/m);
        const again = ["job", "rerun", open, "--silent", "--timeout", "1s", "-o", "json"];
        const rerun = await zester(fleet, ...again);
        assert.equal(rerun.code, 4, rerun.stderr);
        const peels = JSON.parse(rerun.stdout).map((each: { peel_id: string }) => each.peel_id);
        assert.deepEqual(peels, ["peel-2"]);
      });

      const rerun = await zester(fleet, "job", "rerun", jid, "-o", "ids");
      assert.deepEqual([rerun.code, rerun.stdout], [0, "peel-1\npeel-2\n"], rerun.stderr);
    },
  ));

Deno.test("Ctrl-C once detaches and the job goes on, twice cancels it", () =>
  withFleet(parseUpOptions(["--broker", "embedded", "--peels", "2"]), async (fleet) => {
    await whileStopped(fleet, "peel-2", async () => {
      const detaching = start(fleet, ["*", "test.ping"]);
      await detaching.tells("Job     ");
      detaching.signal("SIGINT");
      const detached = await detaching.said;
      const jid = /Detached: job (\w+) goes on/.exec(detached.stderr)?.[1] ?? "";
      assert.deepEqual([detached.code, jid.length], [130, 27], detached.stderr);
      assert.equal(await showsStatus(fleet, jid), "running");

      const canceling = start(fleet, ["*", "test.ping"]);
      await canceling.tells("Job     ");
      canceling.signal("SIGINT");
      await canceling.tells("Detached");
      canceling.signal("SIGINT");
      const { code, stderr } = await canceling.said;
      assert.equal(code, 9, stderr);
      const other = /Cancelled: job (\w+) is being stopped/.exec(stderr)?.[1] ?? "";
      const watched = await zester(fleet, "job", "watch", other, "-q");
      assert.equal(watched.code, 9, watched.stderr);
    });
  }));

Deno.test("a run goes on when the master that answers is killed, and says so", () =>
  withFleet(
    parseUpOptions(["--broker", "embedded", "--masters", "2", "--peels", "2"]),
    async (fleet) => {
      await whileStopped(fleet, "peel-2", async () => {
        const running = start(fleet, ["*", "test.ping", "--timeout", "20s"]);
        await running.tells("Job     ");
        const [{ owner = "" } = {}] = JSON.parse(
          (await zester(fleet, "job", "list", "-o", "json")).stdout,
        );
        Deno.kill(await pidOfMaster(fleet, owner), "SIGKILL");
        await running.tells("fell silent");
        Deno.kill(childOf(fleet, "peel-2"), "SIGCONT"); // its late answer comes through the other master
        const { code, stdout, stderr } = await running.said;
        assert.match(stderr, new RegExp(`master ${owner} fell silent for 10s, asking another`));
        assert.match(stdout, /^peel-1 +true/m);
        assert.match(stdout, /^peel-2 +true/m);
        assert.equal(code, 0, stderr);
      });
    },
  ));

/** Which child is this master, from what it wrote when it started. */
async function pidOfMaster(fleet: RunningFleet, masterId: string): Promise<number> {
  for (const child of fleet.children.filter(({ role }) => role === "master")) {
    if ((await Deno.readTextFile(child.log)).includes(masterId)) return child.pid;
  }
  return assert.fail(`no log names ${masterId}`);
}

Deno.test("a state is previewed, applied and left alone, a custom module is known soon, and a policy is shown and kept", async () => {
  const folder = await Deno.makeTempDir({ prefix: "zester-modules-" });
  try {
    const states = join(folder, "states");
    await Deno.mkdir(join(states, "_modules/site"), { recursive: true });
    const data = join(folder, "fleet");
    const options = ["--broker", "embedded", "--peels", "1", "--data", data, "--states", states];
    // The first start makes the peel's folder, where its policy lies.
    await withFleet(parseUpOptions(options), () => Promise.resolve());
    await Deno.writeTextFile(join(data, "peels/peel-1/policy.zy"), POLICY);
    await withFleet(parseUpOptions(options), async (fleet) => {
      await previewsAndApplies(fleet, join(folder, "motd"));
      await takesWords(fleet);
      const shown = await zester(fleet, "peel", "show", "peel-1");
      assert.match(shown.stdout, /^Policy +deny cmd\.\*: run \*\*$/m);
      const denied = await zester(fleet, "peel-1", "cmd.run", "true");
      assert.equal(denied.code, 3);
      assert.match(denied.stdout, /run \/bin\/sh -c true is denied by .*\(grant_denied\)$/m);
      await findsNewModule(fleet, join(states, "_modules/site/greet.ts"));
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

const POLICY = 'deny:\n  "cmd.*": { run: ["**"] }\n';

async function previewsAndApplies(fleet: RunningFleet, path: string): Promise<void> {
  const call = ["peel-1", "file.managed", path, "content=hello"];
  const preview = await zester(fleet, ...call, "--test", "--detailed-exit");
  assert.equal(preview.code, 6, preview.stderr);
  assert.match(preview.stderr, /^Job .* dry run · /m);
  assert.match(preview.stdout, /^peel-1 {2}would change .*\n(.*\n)* {4}\+hello\n/);
  assert.match(preview.stdout, /: 1 would change\n$/);
  await assert.rejects(Deno.stat(path), "a dry run changes nothing");
  const applied = await zester(fleet, ...call);
  assert.match(applied.stdout, /^peel-1 {2}changed .*\n(.*\n)* {4}\+hello\n/);
  assert.equal(await Deno.readTextFile(path), "hello");
  const again = await zester(fleet, ...call);
  assert.match(again.stdout, /^1 peel in .*: 1 ok, nothing to change\n$/);
}

async function takesWords(fleet: RunningFleet): Promise<void> {
  assert.equal((await zester(fleet, "*", "facts.set", "role", "web")).code, 0);
  assert.match((await zester(fleet, "*", "facts.get", "role")).stdout, /^peel-1 {2}web /);
  const asked = await zester(fleet, "*", "sys.grants", "file.absent", "/srv/x", "-o", "json");
  const [{ results }] = JSON.parse(asked.stdout);
  const { function: name, policy } = results[0].details.result;
  assert.deepEqual([name, policy], ["file.absent", "allowed"], "composite results are data");
}

/** A module that is put into the tree while the peel runs. */
async function findsNewModule(fleet: RunningFleet, path: string): Promise<void> {
  assert.equal((await zester(fleet, "*", "site.greet", "you")).code, 2, "it is not there yet");
  await Deno.writeTextFile(path, GREET);
  const deadlineMs = Date.now() + 30_000;
  for (;;) {
    const { code, stdout, stderr } = await zester(fleet, "*", "site.greet", "you");
    if (code === 0) return assert.match(stdout, /^peel-1 {2}hello you /);
    assert.ok(code === 2 && Date.now() < deadlineMs, stdout + stderr);
  }
}

const GREET = `import { defineFunction, line, primary } from "zester";

export default defineFunction({
  name: "site.greet",
  summary: "Greets.",
  params: { whom: primary(line("Whom.")) },
  isReadOnly: true,
  run: ({ whom }) => "hello " + whom,
});
`;
