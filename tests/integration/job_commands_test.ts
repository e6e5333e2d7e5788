/** The commands about jobs, peels and masters, as an operator runs them on real processes. */
import assert from "node:assert/strict";
import { parseUpOptions } from "../../tools/up/options.ts";
import type { RunningFleet } from "../../tools/up/run.ts";
import { withFleet } from "../../tools/up.ts";

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

interface Running {
  readonly said: Promise<Said>;
  signal(name: Deno.Signal): void;
  /** Resolves when stderr holds this. */
  tells(text: string): Promise<void>;
}

/** Starts `zester` in the fleet's context. */
function start(fleet: RunningFleet, args: readonly string[]): Running {
  const child = new Deno.Command(`${fleet.binFolder}/zester`, {
    args: [...args],
    env: { ZESTER_CONTEXT: fleet.contextFile },
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let stderr = "";
  const heard = new Set<() => void>();
  const reading = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) {
      stderr += text;
      for (const each of heard) each();
    }
  })();
  const stdout = new Response(child.stdout).text();
  return {
    said: Promise.all([child.status, stdout, reading]).then(([{ code }, out]) => ({
      code,
      stdout: out,
      stderr,
    })),
    signal: (name) => child.kill(name),
    tells: (text) =>
      new Promise((resolve) => {
        const look = () => void (stderr.includes(text) && resolve());
        heard.add(look);
        look();
      }),
  };
}

const zester = async (fleet: RunningFleet, ...args: string[]): Promise<Said> =>
  await start(fleet, args).said;

function childOf(fleet: RunningFleet, id: string): number {
  return fleet.children.find((child) => child.id === id)?.pid ?? assert.fail(`no child ${id}`);
}

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
