/** Memory and CPU of a peel that has nothing to do, beside a bare program that holds a connection to a broker of the same kind. */
import type { Child } from "../tools/up/children.ts";
import { cpuOf } from "./cpu.ts";
import type { Opened, Side } from "./harness.ts";
import { memoryOf, renderBytes } from "./memory.ts";
import { heldFleet, startBare } from "./ping.ts";
import { spreadOf } from "./summary.ts";

/** Two heartbeats of a peel fit into it. */
const IDLE_MS = 20_000;
const MEMORY_RATIO_MAX = 1.5;

/** One peel and one bare program. */
export async function open(): Promise<Opened> {
  const { fleet, stop } = await heldFleet(1);
  const bare = await startBare(fleet.broker.kind, 1).catch(async (error) => {
    await stop();
    throw error;
  });
  const peel = watched(fleet.children.find(({ role }) => role === "peel")!);
  const program = watched(bare.children.find(({ role }) => role === "peel")!);
  return {
    scenarios: [{
      name: "idle/peel",
      what: `a peel with nothing to do over ${fleet.broker.kind}, CPU in ${IDLE_MS / 1_000} s`,
      floor: {
        name: "bare program with a connection",
        async run() {
          const [before, peelBefore] = [program.cpu(), peel.cpu()];
          await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
          // Both in the same seconds: what else the machine does falls on both.
          peel.used = peel.cpu() - peelBefore;
          [peel, program].forEach((each) => each.look());
          return { seconds: NaN, cpuSeconds: program.cpu() - before };
        },
      },
      subject: { name: "peel", run: () => Promise.resolve(sampleOf(peel)) } satisfies Side,
      notes: () => [memoryNote(peel.memory(), program.memory())],
    }],
    async close() {
      await bare.stop();
      await stop();
    },
  };
}

interface Watched {
  used: number;
  cpu(): number;
  look(): void;
  memory(): number;
}

function watched({ pid }: Child): Watched {
  const seen: number[] = [];
  return {
    used: NaN,
    cpu: () => cpuOf(pid),
    look: () => void seen.push(memoryOf(pid)),
    memory: () => spreadOf(seen).median,
  };
}

function sampleOf({ used }: Watched): { seconds: number; cpuSeconds: number } {
  return { seconds: NaN, cpuSeconds: used };
}

function memoryNote(peel: number, bare: number): string {
  const ratio = peel / bare;
  const judged = ratio <= MEMORY_RATIO_MAX ? "met" : "MISSED";
  return `memory (PSS): bare ${renderBytes(bare)}, peel ${renderBytes(peel)}: ${
    ratio.toFixed(2)
  } times  (aim: ${MEMORY_RATIO_MAX}: ${judged})`;
}
