/**
 * One simulated run: nodes, the broker's engine, a seeded network between them, and what watches them.
 *
 * How to add a scenario
 * 1. Write `tests/sim/<name>_scenario.ts` that exports a `Scenario`; name it in `scenarios.ts`.
 * 2. `build(world)` makes what bootstrap would make (`world.admin.ensureBucket(…)`) and the nodes:
 *    `world.addNode({ name, role, start(node) { … } })`. `start` builds a real service from the ports that `node` has
 *    (bus, store, clock, random, failPoints). It runs again after every crash, with fresh ports; only `node.disk` is kept. Return
 *    `stop()` if the service can be stopped gracefully: the run then sometimes does that.
 * 3. `node.report(text)` puts a line into the trace; a report of a dead node is dropped. Node code must never wait for
 *    anything but ports: no real timers, no threads, or the seed would not repeat.
 * 4. `build` returns the checks: `afterEach` runs after every event and throws (`assert`) on what must never be;
 *    `settled` says whether all is well: after the faults have stopped it must become true, and stay true for
 *    `steadyMs`, within `settleMs`; `atEnd` looks back over the whole run. `world.truth` are ports without faults, for
 *    checks: watch a bucket through them to learn what the store really took, and when.
 * 5. `world.saw("…")` counts what should happen sometimes. A test over many seeds asserts that it did.
 * 6. Plant bugs (`planted.ts`) and assert that the checks find them: a check that never failed proves nothing.
 */
import { createEngine, type Engine } from "../../broker/engine.ts";
import { type EnginePorts, enginePorts } from "../../broker/ports.ts";
import type { Bus, Clock, FailPoints, Random, Store, StoreAdmin } from "../../core/ports.ts";
import { CLOCK_SKEW_MS, DRAIN_MS } from "../../core/limits.ts";
import type { Role } from "../../core/subjects.ts";
import { drawFaults, type FaultRates, NO_FAULTS, Sometimes } from "./faults.ts";
import { Life, Reach } from "./life.ts";
import { Network } from "./network.ts";
import { type ClockErrors, nodeClock, TRUE_TIME } from "./node_clock.ts";
import { type InnerPorts, simulatedPorts } from "./ports.ts";
import { Scheduler } from "./scheduler.ts";
import { SeededRandom } from "./seeded_random.ts";
import { Trace } from "./trace.ts";

/** What one kind of run is: who takes part, and what must be true of it. */
export interface Scenario {
  readonly name: string;
  readonly summary: string;
  /** How long faults happen. */
  readonly chaosMs: number;
  /** How long the run has, from then on, to settle; and how long it must stay settled. */
  readonly settleMs: number;
  readonly steadyMs: number;
  /** How busy its connections are, compared with a small scenario; default: 1. */
  readonly traffic?: number;
  build(world: World): Checks | Promise<Checks>;
}

export interface Checks {
  afterEach?(): void;
  settled(): boolean;
  atEnd?(): void;
}

/** What the program of a node gets each time it starts. */
export interface NodePorts {
  readonly name: string;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly failPoints: FailPoints;
  /** Survives crashes; a write to it is there at once or not at all. */
  readonly disk: Map<string, Uint8Array>;
  report(what: string): void;
  /** Calls back when it is connected: after its start, and whenever a connection that was lost is there again. */
  onConnected(callback: () => void): void;
}

export interface Program {
  stop?(): Promise<void>;
}

export interface NodeSpec {
  readonly name: string;
  readonly role: Role;
  /** How many times as often as usual something happens to it. Default: 1. */
  readonly troubles?: number;
  start(node: NodePorts): Program;
}

/**
 * How wrong clocks may be: a little, much, or far more than anything tolerates. One of these holds for a run: if all clocks of
 * all runs were far off, nobody would ever believe anybody.
 */
const SKEWS_MS = [1_000, 10_000, 30_000, 90_000] as const;
export const DRIFT_MAX = 0.005;

const DOWN_MS = [0, 20_000] as const;
const CUT_MS = [500, 25_000] as const;
const PAUSE_MS = [500, 30_000] as const;
const OUTAGE_MS = [2_000, 50_000] as const;
/** Some are away for so long that others take their work, and come back. */
const LONG_MS = [30_000, 90_000] as const;
const LONG_CHANCE = 0.2;
/** A closed connection may still have messages on the way to the broker for this long. */
const LINGER_MS = 60_000;

/** A node and what the faults did to it. */
export class SimNode {
  readonly spec: NodeSpec;
  readonly disk = new Map<string, Uint8Array>();
  readonly reach: Reach;
  readonly clockErrors: ClockErrors;
  life: Life | null = null;
  program: Program | null = null;
  starts = 0;

  constructor(spec: NodeSpec, reach: Reach, clockErrors: ClockErrors) {
    this.spec = spec;
    this.reach = reach;
    this.clockErrors = clockErrors;
  }

  /** Whether its program can do anything at this moment. */
  get isRunning(): boolean {
    return this.life !== null && !this.life.isPaused;
  }
}

export interface WorldOptions {
  seed: number;
  keepTrace?: boolean;
  faults?: FaultRates;
  /** As the scenario says. */
  traffic?: number;
}

export class World {
  readonly scheduler = new Scheduler();
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly sometimes = new Sometimes();
  readonly nodes: SimNode[] = [];
  readonly network: Network;
  /** Ports without faults, for checks. */
  readonly truth: InnerPorts;
  readonly admin: StoreAdmin;
  readonly faults: FaultRates;
  readonly #engine: Engine;
  readonly #brokerClock: Clock;
  readonly #chaos: SeededRandom;
  readonly #skewMsMax: number;
  #isChaos = false;
  #healedMs: number | null = null;

  constructor(options: WorldOptions) {
    this.random = new SeededRandom(`seed ${options.seed}`);
    this.#chaos = this.random.fork("chaos");
    this.#skewMsMax = this.random.fork("skew").pick(SKEWS_MS);
    this.trace = new Trace({ keepAll: options.keepTrace ?? false });
    this.faults = options.faults ?? drawFaults(this.random.fork("faults"), options);
    this.network = new Network({
      scheduler: this.scheduler,
      random: this.random.fork("network"),
      trace: this.trace,
      sometimes: this.sometimes,
      crash: (life, where) => this.#crash(life, where),
    });
    this.#brokerClock = nodeClock(this.scheduler, TRUE_TIME, (run) => run());
    this.#engine = createEngine({ clock: this.#brokerClock, random: this.random.fork("broker") });
    const checker = this.#connect("bootstrap", "checker");
    this.truth = checker;
    this.admin = checker.admin;
  }

  get nowMs(): number {
    return this.scheduler.nowMs;
  }

  /** When all faults ended; null while there are any. */
  get healedMs(): number | null {
    return this.#healedMs;
  }

  /** Counts something that a run should see now and then. */
  saw(what: string): void {
    this.sometimes.saw(what);
  }

  addNode(spec: NodeSpec): SimNode {
    const random = this.random.fork(`clock of ${spec.name}`);
    const node = new SimNode(spec, new Reach(this.scheduler), {
      skewMs: random.between(-this.#skewMsMax, this.#skewMsMax),
      drift: random.between(-DRIFT_MAX, DRIFT_MAX),
    });
    this.nodes.push(node);
    return node;
  }

  /** Starts all nodes and lets the faults begin. */
  begin(): void {
    this.#isChaos = true;
    this.network.rates = this.faults;
    if (this.#clocksApartMs() > CLOCK_SKEW_MS) this.saw("skew");
    this.#recurring(this.faults.outageEveryMs, () => this.#takeAway());
    for (const node of this.nodes) {
      this.scheduler.after(this.#chaos.between(0, 1_000), () => this.#start(node));
      const { troubles = 1 } = node.spec;
      this.#recurring(this.faults.crashEveryMs / troubles, () => this.crash(node));
      this.#recurring(this.faults.partitionEveryMs / troubles, () => this.cut(node));
      this.#recurring(this.faults.pauseEveryMs / troubles, () => this.pause(node));
      this.#recurring(this.faults.stopEveryMs / troubles, () => this.stop(node));
    }
  }

  /** Has one bucket or stream give no answer for a while. */
  #takeAway(): void {
    const bringBack = this.network.takeAway();
    this.scheduler.after(this.#chaos.between(...OUTAGE_MS), bringBack);
  }

  #clocksApartMs(): number {
    const skews = this.nodes.map(({ clockErrors }) => clockErrors.skewMs);
    return Math.max(...skews) - Math.min(...skews);
  }

  /** Ends all faults: connections are back, paused nodes go on, and those that are down come up. */
  heal(): void {
    this.#isChaos = false;
    this.#healedMs = this.nowMs;
    this.network.rates = NO_FAULTS;
    this.network.bringBack();
    this.trace.add(this.nowMs, "*", "heal");
    for (const node of this.nodes) {
      node.reach.restore();
      node.life?.resume();
      if (node.life === null) {
        this.scheduler.after(this.#chaos.between(0, 1_000), () => this.#start(node));
      }
    }
  }

  close(): void {
    for (const node of this.nodes) node.life?.end();
    this.#engine.close();
  }

  #connect(role: Role, identity: string): EnginePorts {
    return enginePorts(this.#engine, { role, identity, clock: this.#brokerClock });
  }

  #start(node: SimNode): void {
    if (node.life !== null) return;
    const { name, role } = node.spec;
    const number = ++node.starts;
    const { scheduler } = this;
    const life = new Life(name, { number, scheduler, errors: node.clockErrors, reach: node.reach });
    const inner = this.#connect(role, name);
    life.atEnd(() => void scheduler.after(LINGER_MS, () => inner.close()));
    node.life = life;
    this.trace.add(this.nowMs, name, `start ${number}`);
    if (number > 1) this.saw("restart");
    node.program = node.spec.start({
      name,
      ...simulatedPorts(life, inner, this.network),
      clock: life.clock,
      random: this.random.fork(`${name} ${number}`),
      failPoints: { hit: (where) => this.network.failPoint(life, where) },
      disk: node.disk,
      report: (what) => {
        if (life.isAlive) this.trace.add(this.nowMs, name, what);
      },
      onConnected: (callback) => whenConnected(life, callback),
    });
  }

  /** Ends the program of a node at once; it starts again a little later. */
  crash(node: SimNode): void {
    if (node.life !== null) this.#crash(node.life, "at rest");
  }

  #crash(life: Life, where: string): void {
    this.trace.add(this.nowMs, life.node, `crash ${where}`);
    this.saw("crash");
    this.#end(life);
  }

  #end(life: Life): void {
    life.end();
    const node = this.nodes.find((each) => each.life === life);
    if (node === undefined) return;
    node.life = null;
    node.program = null;
    const downMs = this.#isChaos ? this.#chaos.between(...DOWN_MS) : 0;
    this.scheduler.after(downMs, () => this.#start(node));
  }

  /** Takes the broker away from a node for a while. */
  cut(node: SimNode): void {
    if (node.reach.isCut) return;
    this.trace.add(this.nowMs, node.spec.name, "partition begins");
    this.saw("partition");
    node.reach.cut();
    this.scheduler.after(this.#awayMs(CUT_MS), () => {
      if (!node.reach.isCut) return;
      this.trace.add(this.nowMs, node.spec.name, "partition ends");
      node.reach.restore();
    });
  }

  /** Like a SIGSTOP and a SIGCONT: nothing runs in between, but time goes on. */
  pause(node: SimNode): void {
    const { life } = node;
    if (life === null || life.isPaused) return;
    this.trace.add(this.nowMs, node.spec.name, "pause");
    this.saw("pause");
    life.pause();
    this.scheduler.after(this.#awayMs(PAUSE_MS), () => {
      if (!life.isAlive || !life.isPaused) return;
      this.trace.add(this.nowMs, node.spec.name, "resume");
      life.resume();
    });
  }

  #awayMs(usual: readonly [number, number]): number {
    return this.#chaos.between(...(this.#chaos.chance(LONG_CHANCE) ? LONG_MS : usual));
  }

  /** Like a SIGTERM: the program may finish, and the node comes up again later. */
  stop(node: SimNode): void {
    const { life, program } = node;
    if (life === null || program?.stop === undefined) return;
    life.enter(() => {
      if (node.program !== program || program.stop === undefined) return;
      this.trace.add(this.nowMs, node.spec.name, "stop");
      this.saw("stop");
      node.program = {};
      life.clock.after(DRAIN_MS, () => {
        if (life.isAlive) this.#crash(life, "because it did not stop in time");
      });
      program.stop().then(() => {
        if (!life.isAlive) return;
        this.trace.add(this.nowMs, node.spec.name, "stopped");
        this.#end(life);
      });
    });
  }

  /** Lets something happen again and again while faults are on, at random intervals around a mean. */
  #recurring(meanMs: number, happen: () => void): void {
    if (meanMs === 0) return;
    this.scheduler.after(-Math.log(1 - this.#chaos.float()) * meanMs, () => {
      if (!this.#isChaos) return;
      happen();
      this.#recurring(meanMs, happen);
    });
  }
}

function whenConnected(life: Life, callback: () => void): void {
  if (!life.reach.isNoticed) life.clock.after(0, callback);
  const again = (wasNoticed: boolean): void => {
    if (!life.isAlive) return;
    if (wasNoticed) life.enter(callback);
    life.reach.whenRestored(again);
  };
  life.reach.whenRestored(again);
}
