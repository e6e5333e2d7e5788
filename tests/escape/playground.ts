/** Where modules try to get out: a folder that is granted, one that is not, a secret in it, and a port that nobody may call. */
import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import type { Grant } from "../../core/module/grant.ts";
import { openCatalog } from "../../peel/exec/catalog.ts";
import { systemHost } from "../../peel/exec/host/system.ts";
import { moduleTree } from "../../peel/exec/host/tree.ts";
import type { Isolation } from "../../peel/exec/isolation/choose.ts";
import type { Policy } from "../../peel/exec/policy.ts";
import { prepare } from "../../peel/exec/prepare.ts";
import { openRun } from "../../peel/exec/run.ts";
import { snapshot } from "../fakes/snapshot.ts";

/** What must not be seen inside. */
export const SECRET = "the-secret-of-the-canary";
/** Variable of the peel that holds it. */
export const SECRET_VARIABLE = "ZESTER_ESCAPE_CANARY";

export interface Attempt {
  /** In place of `{ write: ["IN/**"] }`. */
  readonly grant?: Grant;
  /** Text of `permissions()` in place of the grant. */
  readonly permissions?: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly policy?: Policy;
  readonly isolation?: Isolation;
  readonly timeoutMs?: number;
}

export interface Playground {
  /** Runs the body as a module of the state tree, by the way that every such module takes. Gives what came of it as text. */
  asModule(body: string, attempt?: Attempt): Promise<string>;
  /** Puts a whole file into the state tree, where it is named `t.t`, and calls it. */
  asFile(source: string, attempt?: Attempt): Promise<string>;
  /**
   * Runs the body in a worker that has nothing but its permissions, which are none: no look at the source, all of the scope,
   * and `import`. What is refused here holds even if all the rest should fail.
   */
  inBareWorker(body: string): Promise<string>;
  /** Asserts that nothing outside was touched and nobody was called. */
  assertUntouched(): Promise<void>;
  close(): Promise<void>;
}

const TIMEOUT_MS = 20_000;

/** The entry imports what it is told to: what stands in an entry itself is resolved with the rights of whoever made the worker. */
const BARE = `self.onmessage = async ({ data }) => {
  try {
    const value = await (await import(data)).default();
    self.postMessage("ok: " + JSON.stringify(value));
  } catch (thrown) {
    self.postMessage(String(thrown.message));
  }
};`;

/** Makes a playground. Close it. In bodies IN is the granted folder, OUT the other one, PORT the port. */
export async function openPlayground(): Promise<Playground> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "zester-escape-" }));
  const [inside, outside, states] = [`${root}/in`, `${root}/out`, `${root}/states`];
  for (const folder of [inside, outside, `${outside}/folder`, `${states}/_modules/t`]) {
    await Deno.mkdir(folder, { recursive: true });
  }
  await Deno.writeTextFile(`${outside}/canary`, SECRET);
  await Deno.writeTextFile(`${outside}/canary.json`, JSON.stringify(SECRET));
  await Deno.writeTextFile(`${outside}/canary.ts`, `export default ${JSON.stringify(SECRET)};`);
  await Deno.writeTextFile(`${outside}/linked`, "linked by root");
  const before = await snapshot(outside);
  let calls = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, () => {
    calls += 1;
    return new Response(SECRET);
  });
  Deno.env.set(SECRET_VARIABLE, SECRET);
  const placed = (text: string) =>
    text.replaceAll("PORT", String(server.addr.port)).replaceAll("OUT", outside)
      .replaceAll("IN/", `${inside}/`);

  /** The granted folder with what root may have put there: links to the outside, and a second name of a file. */
  async function refill(): Promise<void> {
    await Deno.remove(inside, { recursive: true });
    await Deno.mkdir(inside);
    await Deno.writeTextFile(`${inside}/file`, "own");
    await Deno.symlink(`${outside}/canary`, `${inside}/link`);
    await Deno.symlink(outside, `${inside}/dir`);
    await Deno.symlink("../out", `${inside}/relative`);
    await Deno.link(`${outside}/linked`, `${inside}/hard`);
  }

  async function call(source: string, attempt: Attempt): Promise<unknown> {
    await refill();
    await Deno.writeTextFile(`${states}/_modules/t/t.ts`, placed(source));
    const { signal } = new AbortController();
    const { policy = {}, isolation = "worker", args = {}, timeoutMs = TIMEOUT_MS } = attempt;
    const given = { id: "", args: args as Record<string, unknown> };
    const ports = { clock, facts: {}, policy, isolation, signal };
    const ready = await prepare(await openCatalog(moduleTree(states)).find("t.t"), given, ports);
    const run = openRun({
      clock,
      hostOf: systemHost({ clock, statesDir: states, defaultTimeoutMs: timeoutMs }),
      facts: {},
      signal,
      deadlineMs: clock.monotonic() + timeoutMs,
      reactorDepth: 0,
      sandbox: "alone",
    });
    try {
      const outcome = await run.answer(ready, { isDryRun: false });
      if (outcome.ok) return outcome.value;
      throw new Error(outcome.error.message);
    } finally {
      run.close();
    }
  }

  const asFile = (source: string, attempt: Attempt = {}) => told(call(source, attempt));

  return {
    asFile,
    asModule(body, attempt = {}) {
      const { grant = { write: ["IN/**"] } } = attempt;
      const permissions = attempt.permissions ?? `() => (${JSON.stringify(grant)})`;
      return asFile(
        `import { defineFunction } from "zester";
export default defineFunction({ name: "t.t", summary: "Tries.", params: {}, isOpen: true, isReadOnly: false,
  permissions: ${permissions},
  async run(params, host) { ${body} } });`,
        attempt,
      );
    },
    async inBareWorker(body) {
      const worker = new Worker(`data:text/javascript,${encodeURIComponent(BARE)}`, {
        type: "module",
        deno: { permissions: "none" },
      });
      const { promise, resolve } = Promise.withResolvers<string>();
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = (event) => {
        event.preventDefault();
        resolve(event.message);
      };
      const source = `export default async () => { ${placed(body)} }`;
      worker.postMessage(`data:text/javascript,${encodeURIComponent(source)}`);
      const outcome = await promise;
      worker.terminate();
      return outcome;
    },
    async assertUntouched() {
      assert.deepEqual(await snapshot(outside), before, "nothing outside was touched");
      assert.equal(calls, 0, "nobody was called");
      assert.equal(Object.hasOwn(Object.prototype, "polluted"), false);
    },
    async close() {
      Deno.env.delete(SECRET_VARIABLE);
      await server.shutdown();
      await Deno.remove(root, { recursive: true });
    },
  };
}

async function told(outcome: unknown): Promise<string> {
  try {
    return `ok: ${JSON.stringify(await outcome)?.slice(0, 5_000)}`;
  } catch (thrown) {
    return (thrown as Error).message.slice(0, 5_000);
  }
}
