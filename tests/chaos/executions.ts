/**
 * What was really run: functions that, before anything else, append one line to a file of their peel by `O_APPEND`. The line is in
 * the hands of the kernel when the call returns, so no kill -9 can take it back, and no second run can hide.
 */
import type { ExecRequest, ExecResponse } from "../../core/wire/exec.ts";
import type { PeelStandIns } from "../../peel/main.ts";

/** One time that a function began to run. */
export interface Execution {
  readonly jid: string;
  readonly peel: string;
  readonly pid: number;
  /** Of the request that was run. */
  readonly epoch: string;
}

/** The functions there are, and whether they count as changing nothing: then they run beside each other. */
const MARKING = {
  "chaos.change": { readOnly: false },
  "chaos.look": { readOnly: true },
} as const;

export type Marking = keyof typeof MARKING;

/** What a peel runs instead of its modules. */
export function markingStandIns(
  peelId: string,
  log: string,
): Required<Pick<PeelStandIns, "execute" | "isReadOnly" | "names">> {
  return {
    names: () => Promise.resolve(Object.keys(MARKING)),
    isReadOnly: (name) => Promise.resolve(MARKING[name as Marking].readOnly),
    async execute(request, signal) {
      const { jid, epoch, args } = request;
      mark(log, { jid, peel: peelId, pid: Deno.pid, epoch: String(epoch) });
      await held(Number(args["hold_ms"]), signal);
      return responseTo(request, peelId, !signal.aborted);
    },
  };
}

function mark(log: string, execution: Execution): void {
  using file = Deno.openSync(log, { append: true, create: true });
  const line = new TextEncoder().encode(`${JSON.stringify(execution)}\n`);
  const written = file.writeSync(line);
  if (written !== line.length) throw new Error(`${log}: ${written} of ${line.length} bytes`);
}

/** Takes its time, as long as nobody ends it. */
function held(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function responseTo({ jid }: ExecRequest, peelId: string, success: boolean): ExecResponse {
  const error = success ? {} : { error: "ended from outside" };
  return { peelId, jid, success, results: [], ...error };
}

/** All lines of a log. */
export async function readExecutions(log: string): Promise<Execution[]> {
  const text = await Deno.readTextFile(log).catch((error) => {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  });
  return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
}
