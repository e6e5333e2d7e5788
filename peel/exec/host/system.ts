/** The host of a real peel: puts together what does the calls of modules. */
import { ZesterError } from "../../../core/errors.ts";
import { TIMER_DELAY_MS_MAX } from "../../../core/limits.ts";
import type { PlainValue } from "../../../core/module.ts";
import { refusal } from "../../../core/module/grant.ts";
import type { CatalogQuestion, HostCalls } from "../../../core/module/host.ts";
import type { Clock } from "../../../core/ports.ts";
import type { HostOf } from "../door.ts";
import { renderInWorker } from "../render.ts";
import { requireWhole } from "./arguments.ts";
import { fileCalls } from "./files.ts";
import { sendSignal } from "./processes.ts";
import { runProgram } from "./programs.ts";
import { treeFile, treeList } from "./tree.ts";
import { fetchUrl } from "./web.ts";

/** What the peel itself offers to modules. A missing one is refused with a reason. */
export interface PeelServices {
  sendEvent?(tag: string, data: Readonly<Record<string, PlainValue>>, depth: number): Promise<void>;
  setFact?(key: string, value: PlainValue): Promise<void>;
  settings?(): Promise<Readonly<Record<string, PlainValue>>>;
  catalog?(question: CatalogQuestion): Promise<PlainValue>;
}

export interface SystemHostOptions extends PeelServices {
  readonly clock: Clock;
  /** Folder of the state tree; null where there is none. */
  readonly statesDir: string | null;
  /** How long a program may run when its caller does not say. */
  readonly defaultTimeoutMs: number;
}

/** The host calls on this machine. */
export function systemHost(options: SystemHostOptions): HostOf {
  const { clock, statesDir, defaultTimeoutMs } = options;
  return ({ signal, grant, reactorDepth, isConfined }): HostCalls => ({
    ...fileCalls(signal, isConfined ? { grant } : {}),
    run: (program, how) => runProgram(program, how ?? {}, { signal, clock, defaultTimeoutMs }),
    fetch: (url, how) =>
      fetchUrl(url, how ?? {}, {
        signal,
        allow: (what) => refusal(grant, { kind: "net", what }) === null,
      }),
    signal: sendSignal,
    sleep: (ms) => sleep(ms, { clock, signal }),
    treeFile: (path) => treeFile(statesDir, path),
    treeList: (path) => treeList(statesDir, path),
    sendEvent: (tag, data) => given(options, "sendEvent")(tag, data, reactorDepth),
    setFact: (key, value) => given(options, "setFact")(key, value),
    settings: () => given(options, "settings")(),
    render: (source, values) => renderInWorker({ source, values }, { clock, signal }),
    catalog: (question) => given(options, "catalog")(question),
  });
}

async function sleep(
  ms: number,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  requireWhole("a wait in milliseconds", ms, TIMER_DELAY_MS_MAX);
  await clock.sleep(ms, signal);
}

function given<Name extends keyof PeelServices>(
  services: PeelServices,
  name: Name,
): NonNullable<PeelServices[Name]> {
  const service = services[name];
  if (service !== undefined) return service as NonNullable<PeelServices[Name]>;
  throw new ZesterError("grant_denied", `this peel does not offer ${name}`);
}
