/** What it costs to do one thing in a worker of its own, beside an empty worker with the same (no) permissions. */
import { systemClock } from "../core/adapters/system_clock.ts";
import { openSandbox } from "../peel/exec/sandbox.ts";
import { cpuOf } from "./cpu.ts";
import { type Opened, sample, type Side } from "./harness.ts";

const WORKERS = 20;
const TIMEOUT_MS = 30_000;
const EMPTY = `data:application/javascript,${encodeURIComponent("postMessage(0)")}`;

/** Workers one after the other. */
export function open(): Promise<Opened> {
  return Promise.resolve({
    scenarios: [{
      name: `worker/${WORKERS}`,
      what: `${WORKERS} workers, one after the other, each for one check of test.nop`,
      floor: repeated("empty worker", startEmpty),
      subject: repeated("worker of a module", performOnce),
    }],
    close: () => Promise.resolve(),
  });
}

function repeated(name: string, once: () => Promise<void>): Side {
  return {
    name,
    run: () =>
      sample(async () => {
        for (let times = 0; times < WORKERS; times++) await once();
      }, () => cpuOf("self")),
  };
}

async function startEmpty(): Promise<void> {
  const worker = new Worker(EMPTY, { type: "module", deno: { permissions: "none" } });
  await new Promise((resolve) => worker.onmessage = resolve);
  worker.terminate();
}

async function performOnce(): Promise<void> {
  const sandbox = openSandbox(systemClock);
  const reply = await sandbox.perform({
    module: { from: "shipped", name: "test.nop" },
    params: {},
    facts: {},
    work: { do: "check" },
  }, {
    timeoutMs: TIMEOUT_MS,
    signal: new AbortController().signal,
    door: () => Promise.reject(new Error("test.nop calls nobody")),
  });
  sandbox.close();
  if (!reply.ok) throw new Error(reply.error.message);
}
