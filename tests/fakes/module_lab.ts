/** Runs modules as a peel does: in real workers, on the real host, under their own grants, with every need traced. */
import { systemClock } from "../../core/adapters/system_clock.ts";
import type { Change, Drift, Facts, PlainValue } from "../../core/module.ts";
import type { Grant, Need } from "../../core/module/grant.ts";
import { openCatalog } from "../../peel/exec/catalog.ts";
import { systemHost } from "../../peel/exec/host/system.ts";
import { moduleTree } from "../../peel/exec/host/tree.ts";
import { DEFAULT_POLICY } from "../../peel/exec/policy.ts";
import { prepare } from "../../peel/exec/prepare.ts";
import {
  type Call,
  failureText,
  type ModuleRun,
  openRun,
  type Outcome,
} from "../../peel/exec/run.ts";

/** What a call is given: the bare word after the function, and `key=value`. */
export interface Given {
  readonly id?: string;
  readonly args?: Readonly<Record<string, unknown>>;
}

export interface ModuleLab {
  readonly facts: Facts;
  /** The drift that a dry run reports; null when there is none. Rejects with the failure. */
  check(name: string, given?: Given): Promise<Drift | null>;
  apply(name: string, given?: Given, options?: { isForced?: boolean }): Promise<Change | null>;
  revert(name: string, given: Given, memo: unknown): Promise<Change | null>;
  answer(name: string, given?: Given): Promise<PlainValue>;
  grant(name: string, given?: Given): Promise<Grant>;
  /** What modules have asked their host for since the last call of this. */
  takeNeeds(): Need[];
  close(): void;
}

export interface LabOptions {
  readonly facts?: Facts;
  /** Folder of the state tree, for `zester://` files. */
  readonly statesDir?: string;
  readonly timeoutMs?: number;
}

/** What this machine is, as far as modules ask. */
export const LAB_FACTS: Facts = { id: "lab", os: "debian", os_family: "debian", kernel: "linux" };

const LAB_TIMEOUT_MS = 120_000;

/** Opens a lab. Close it. */
export function openModuleLab(options: LabOptions = {}): ModuleLab {
  const { facts = LAB_FACTS, statesDir = null, timeoutMs = LAB_TIMEOUT_MS } = options;
  let needs: Need[] = [];
  const ending = new AbortController();
  const catalog = openCatalog(moduleTree(statesDir));
  const run: ModuleRun = openRun({
    clock: systemClock,
    hostOf: systemHost({ clock: systemClock, statesDir, defaultTimeoutMs: timeoutMs }),
    facts,
    signal: ending.signal,
    deadlineMs: systemClock.monotonic() + timeoutMs,
    reactorDepth: 0,
    sandbox: "alone",
    onNeed: (_call, need) => void needs.push(need),
  });

  async function callFor(name: string, { id = "", args = {} }: Given = {}): Promise<Call> {
    const found = await catalog.find(name);
    const { signal } = ending;
    const ports = { clock: systemClock, facts, policy: DEFAULT_POLICY, signal };
    return await prepare(found, { id, args }, ports);
  }

  return {
    facts,
    check: async (name, given) => valueOf(name, await run.check(await callFor(name, given))),
    async apply(name, given, { isForced = false } = {}) {
      return valueOf(name, await run.apply(await callFor(name, given), { isForced }));
    },
    async revert(name, given, memo) {
      return valueOf(name, await run.revert(await callFor(name, given), memo));
    },
    async answer(name, given) {
      return valueOf(name, await run.answer(await callFor(name, given), { isDryRun: false }));
    },
    grant: async (name, given) => (await callFor(name, given)).grant,
    takeNeeds() {
      const taken = needs;
      needs = [];
      return taken;
    },
    close() {
      run.close();
      ending.abort();
    },
  };
}

/** The value, or the failure as an error that carries what is known. */
function valueOf<T>(name: string, outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  const { details, changed, code } = outcome.error;
  throw Object.assign(new Error(failureText(name, outcome.error)), { details, changed, code });
}
