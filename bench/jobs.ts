/**
 * Jobs on emulated peels through a real master, beside the bare messages and stored returns that such a job needs: on the same
 * broker, over the same connections of the peels. The CPU time is that of everyone who takes part, the peels included.
 */
import type { Child } from "../tools/up/children.ts";
import { cpuOf } from "./cpu.ts";
import { type EmulatedFleet, startEmulatedFleet } from "./emulated_fleet.ts";
import type { Opened, Scenario, Side } from "./harness.ts";
import { memoryOf, renderBytes } from "./memory.ts";
import { renderSeconds, type Sample, spreadOf } from "./summary.ts";

/** Of what the job needs at least. */
const AIM = { ratio: 1.5, of: "seconds" } as const;
const SEQUENTIAL_JOBS = 40;
const PARALLEL_JOBS = 200;
const IN_FLIGHT = 20;
/** Returns that the master takes before the measured ones: by then its code is as compiled as it will be. */
const WARMUP_RETURNS = 12_000;
/** As long as it takes all peels to beat twice: by then the master's memory is that of daily life. */
const IDLE_MS = 25_000;

/** Rate of jobs on twenty peels, one after the other and many at once. */
export async function openSmall(): Promise<Opened> {
  const fleet = await startEmulatedFleet({ peels: 20 });
  const sequential = sidesOf(fleet, SEQUENTIAL_JOBS, 1);
  const parallel = sidesOf(fleet, PARALLEL_JOBS, IN_FLIGHT);
  return {
    scenarios: [
      {
        name: "jobs_20/sequential",
        what: `ping of 20 emulated peels, one job after the other (figures per job)`,
        ...sequential.sides,
        notes: () => sequential.notes(20),
      },
      {
        name: "jobs_20/in_flight",
        what: `ping of 20 emulated peels, ${IN_FLIGHT} jobs at once (figures per job)`,
        ...parallel.sides,
        notes: () => parallel.notes(20),
      },
    ],
    close: () => fleet.stop(),
  };
}

/** Ping of a thousand. */
export function openLarge(): Promise<Opened> {
  return openPing(1_000, () => Promise.resolve([]));
}

/** Ping of five thousand, and the memory of the master that knows them. */
export function openHuge(): Promise<Opened> {
  return openPing(5_000, async (fleet) => {
    const before = memories(fleet);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    return [`memory at the start: ${before}`, `idle, all peels beating: ${memories(fleet)}`];
  });
}

async function openPing(
  peels: number,
  idle: (fleet: EmulatedFleet) => Promise<string[]>,
): Promise<Opened> {
  const fleet = await startEmulatedFleet({ peels });
  const first = await idle(fleet);
  const { sides, notes } = sidesOf(fleet, 1, 1);
  const warmups = Math.ceil(WARMUP_RETURNS / peels);
  const scenario: Scenario = {
    name: `jobs_${peels}/ping`,
    what: `ping of ${peels} emulated peels, dispatch to end`,
    ...sides,
    aim: AIM,
    warmups,
    notes: () => [
      ...first,
      ...notes(peels, warmups),
      `memory after these pings: ${memories(fleet)}`,
      `${peels} peels connected in ${fleet.connectSeconds} s`,
    ],
  };
  return { scenarios: [scenario], close: () => fleet.stop() };
}

function memories({ masters: [master], bare, broker }: EmulatedFleet): string {
  const of = (name: string, { pid }: Child) => `${name} ${renderBytes(memoryOf(pid))}`;
  const parts = [of("bare master", bare), of("broker", broker)];
  return (master === undefined ? parts : [of("master", master), ...parts]).join(", ");
}

/** Both sides of a scenario, and what the master alone used, which the harness does not look at. */
function sidesOf(fleet: EmulatedFleet, jobs: number, atOnce: number) {
  const own: number[] = [];
  const sides: { floor: Side; subject: Side } = {
    floor: { name: "bare messages and writes", run: () => take(fleet, fleet.pingBare) },
    subject: {
      name: "zester",
      async run() {
        const before = masterCpu(fleet);
        const taken = await take(fleet, fleet.ping);
        own.push((masterCpu(fleet) - before) / jobs);
        return taken;
      },
    },
  };
  async function take(fleet: EmulatedFleet, job: () => Promise<void>): Promise<Sample> {
    const cpuBefore = cpuOfAll(fleet);
    const before = performance.now();
    await runMany(job, jobs, atOnce);
    const seconds = (performance.now() - before) / 1_000;
    await fleet.settle(); // what is stored late belongs to the job that caused it, not to the next one
    return { seconds: seconds / jobs, cpuSeconds: (cpuOfAll(fleet) - cpuBefore) / jobs };
  }
  function notes(peels: number, warmups = 1): string[] {
    const { median } = spreadOf(own.slice(warmups));
    return [
      `master alone: ${renderSeconds(median)} of CPU per job, ${
        renderSeconds(median / peels)
      } per peel and job`,
    ];
  }
  return { sides, notes };
}

async function runMany(job: () => Promise<void>, jobs: number, atOnce: number): Promise<void> {
  let left = jobs;
  async function some(): Promise<void> {
    while (left-- > 0) await job();
  }
  await Promise.all(Array.from({ length: atOnce }, some));
}

function masterCpu({ masters }: EmulatedFleet): number {
  return masters.reduce((sum, { pid }) => sum + cpuOf(pid), 0);
}

function cpuOfAll(fleet: EmulatedFleet): number {
  const { broker, emulator, bare } = fleet;
  const near = [broker, emulator, bare].reduce((sum, { pid }) => sum + cpuOf(pid), 0);
  return near + masterCpu(fleet) + cpuOf("self");
}
