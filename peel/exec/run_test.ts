import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import type { HostCalls } from "../../core/module/host.ts";
import { openCatalog } from "./catalog.ts";
import { prepare } from "./prepare.ts";
import { type Call, type ModuleRun, openRun, type RunPorts } from "./run.ts";

/** A host whose files are all absent and whose programs all succeed. */
const HOST = {
  stat: () => Promise.resolve(null),
  run: () => Promise.resolve({ code: 0, stdout: "", stderr: "", droppedBytes: 0, timedOut: false }),
} as unknown as HostCalls;

async function callOf(name: string, id = ""): Promise<Call> {
  const { signal } = new AbortController();
  return await prepare(await openCatalog().find(name), { id, args: {} }, {
    clock,
    facts: {},
    policy: {},
    signal,
  });
}

/** Counts the workers that a run makes. */
async function counting(
  options: Partial<RunPorts>,
  work: (run: ModuleRun) => Promise<void>,
): Promise<number> {
  const Real = globalThis.Worker;
  let made = 0;
  globalThis.Worker = class extends Real {
    constructor(...given: ConstructorParameters<typeof Worker>) {
      super(...given);
      made++;
    }
  };
  const run = openRun({
    clock,
    hostOf: () => HOST,
    facts: {},
    signal: new AbortController().signal,
    deadlineMs: clock.monotonic() + 20_000,
    reactorDepth: 0,
    sandbox: "alone",
    ...options,
  });
  try {
    await work(run);
  } finally {
    run.close();
    globalThis.Worker = Real;
  }
  return made;
}

Deno.test("openRun() checks all of a namespace in one worker", async () => {
  const call = await callOf("test.succeed_with_changes");
  const made = await counting({}, async (run) => {
    for (const { ok } of await Promise.all([1, 2, 3].map(() => run.check(call)))) assert.ok(ok);
  });
  assert.equal(made, 1);
});

Deno.test("openRun() checks each namespace in a worker of its own", async () => {
  const made = await counting({}, async (run) => {
    await run.check(await callOf("test.nop"));
    await run.check(await callOf("cmd.run", "true"));
  });
  assert.equal(made, 2);
});

Deno.test("openRun() applies every state in a worker of its own, unless the run is trusted", async () => {
  const call = await callOf("test.succeed_with_changes");
  const apply = async (run: ModuleRun) => {
    for (let times = 0; times < 3; times++) {
      assert.ok((await run.apply(call, { isForced: false })).ok);
    }
  };
  // A spare one may be made ahead, but none does two.
  assert.ok(await counting({}, apply) >= 3);
  assert.equal(await counting({ sandbox: "run" }, apply), 1);
});

Deno.test("openRun() lets a check make looking calls only", async () => {
  const call = await callOf("cmd.run", "true");
  await counting({}, async (run) => {
    const hostile: Call = { ...call, source: { from: "tree", name: "t.t", source: RUNS_IN_CHECK } };
    const outcome = await run.check(hostile);
    assert.ok(!outcome.ok && outcome.error.code === "grant_denied", JSON.stringify(outcome));
  });
});

const RUNS_IN_CHECK =
  `export default { kind: "state", name: "t.t", params: {}, permissions: () => ({}),
  async check(p, host) { await host.run(["/bin/sh", "-c", "true"]); return null; }, async apply() {} };`;

Deno.test("openRun() ends what is under way when its time is up", async () => {
  const call = await callOf("cmd.run", "true");
  const slow = { ...HOST, run: () => new Promise<never>(() => {}) } as HostCalls;
  await counting({ hostOf: () => slow, deadlineMs: clock.monotonic() + 300 }, async (run) => {
    const outcome = await run.apply(call, { isForced: false });
    assert.ok(!outcome.ok && outcome.error.code === "timeout");
  });
});
