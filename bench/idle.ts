/** Memory and CPU of a peel that has nothing to do, beside a bare program that holds a connection to a broker of the same kind. */
import type { Child } from "../tools/up/children.ts";
import { cpuOfThreads } from "./cpu.ts";
import type { Opened, Side } from "./harness.ts";
import { memoryAloneOf, memoryOf, renderBytes } from "./memory.ts";
import { heldFleet, startBare } from "./ping.ts";
import { type Sample, spreadOf } from "./summary.ts";

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
      notes: () => [
        memoryNote("(PSS)", peel.shared(), program.shared()) +
        judged(peel.shared() / program.shared()),
        // What both share with other Deno programs counts in full here, so this does not depend on how many there are.
        memoryNote("with all that is shared (RSS)", peel.alone(), program.alone()),
      ],
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
  alone(): number;
  shared(): number;
}

function watched({ pid }: Child): Watched {
  const alone: number[] = [];
  const shared: number[] = [];
  return {
    used: NaN,
    cpu: () => cpuOfThreads(pid),
    look() {
      alone.push(memoryAloneOf(pid));
      shared.push(memoryOf(pid));
    },
    alone: () => spreadOf(alone).median,
    shared: () => spreadOf(shared).median,
  };
}

function sampleOf({ used }: Watched): Sample {
  return { seconds: NaN, cpuSeconds: used };
}

function memoryNote(what: string, peel: number, bare: number): string {
  const [shownBare, shownPeel] = [bare, peel].map(renderBytes);
  return `memory ${what}: bare ${shownBare}, peel ${shownPeel}, ${(peel / bare).toFixed(2)} times`;
}

function judged(ratio: number): string {
  return `  (aim: ${MEMORY_RATIO_MAX}: ${ratio <= MEMORY_RATIO_MAX ? "met" : "MISSED"})`;
}
