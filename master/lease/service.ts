/** Holds one leader lease for as long as it can: does what `plan.ts` says, and starts again if the loop breaks. */
import type { Bucket, Clock, Random, Timer } from "../../core/ports.ts";
import { assertNever, toZesterError } from "../../core/errors.ts";
import { LEASE_RESTART_MS } from "../../core/limits.ts";
import {
  type Answer,
  begin,
  decodeLease,
  encodeLease,
  type LeaseAction,
  type LeaseEvent,
  type LeasePlan,
  type LeaseState,
  next,
  type Sight,
  tenureOf,
} from "./plan.ts";

/** One acquisition. Work done under it stops when `signal` aborts. */
export interface Lease {
  readonly name: string;
  /** The revision that won it. Higher than that of any holder before: use it to fence what the work writes. */
  readonly revision: bigint;
  readonly signal: AbortSignal;
  /** Asks the clock, not a timer: after a pause of the process it says no before `signal` could abort. */
  isHeld(): boolean;
}

export interface LeaseStatus {
  readonly name: string;
  readonly isHeld: boolean;
  /** The revision that won the lease, and the one that it is at after renewals; undefined when not held. */
  readonly acquired: bigint | undefined;
  readonly revision: bigint | undefined;
  /** Why it stands as it does. */
  readonly why: string;
}

export interface LeaseOptions {
  /** The key in the bucket, such as `publisher`. */
  name: string;
  /** Who we are: a master id, without blanks. */
  holder: string;
  bucket: Bucket;
  clock: Clock;
  random: Random;
  /** Every action with its reason. */
  log?: (entry: LeaseLogEntry) => void;
  onAcquired: (lease: Lease) => void;
  onLost: (why: string) => void;
}

export interface LeaseLogEntry {
  readonly lease: string;
  readonly do: LeaseAction["do"] | "restart";
  readonly why: string;
  readonly revision?: bigint;
}

export interface LeaseHandle {
  /** Gives up leadership at once, releases the key if that goes quickly, and ends the loop. */
  stop(): Promise<void>;
  status(): LeaseStatus;
}

/** Contends for a lease until stopped. `plan` is there for the simulation, which runs broken ones. */
export function holdLease(options: LeaseOptions, plan: LeasePlan = next): LeaseHandle {
  const loop = new LeaseLoop(options, plan);
  loop.start();
  return { stop: () => loop.stop(), status: () => loop.status() };
}

type Happening = LeaseEvent extends infer Event
  ? Event extends LeaseEvent ? Omit<Event, "nowMs" | "chance"> : never
  : never;

class LeaseLoop {
  readonly #options: LeaseOptions;
  readonly #plan: LeasePlan;
  readonly #ended = Promise.withResolvers<void>();
  #state: LeaseState;
  /** Answers of calls that an earlier run of the loop made carry an older number, and are dropped. */
  #run = 0;
  /** What happened while a step was being done, such as a `stop` from inside `onAcquired`. */
  readonly #happenings: Happening[] = [];
  #isBusy = false;
  #timer: Timer | undefined;
  #work: AbortController | undefined;
  #why = "not started";

  constructor(options: LeaseOptions, plan: LeasePlan) {
    this.#options = options;
    this.#plan = plan;
    this.#state = this.#begin();
  }

  start(): void {
    this.#run++;
    this.#state = this.#begin();
    this.#handle({ on: "due" });
  }

  async stop(): Promise<void> {
    this.#handle({ on: "stop" });
    await this.#ended.promise;
  }

  status(): LeaseStatus {
    const tenure = tenureOf(this.#state, this.#options.clock.monotonic());
    return {
      name: this.#options.name,
      isHeld: tenure !== null,
      acquired: tenure?.acquired,
      revision: tenure?.revision,
      why: this.#why,
    };
  }

  #begin(): LeaseState {
    const nonce = Array.from(
      this.#options.random.bytes(16),
      (byte) => byte.toString(16).padStart(2, "0"),
    ).join("");
    return begin(this.#options.holder, nonce);
  }

  /** One step at a time: a step that a callback causes begins when the present one is done. */
  #handle(happening: Happening): void {
    this.#happenings.push(happening);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let each; (each = this.#happenings.shift()) !== undefined;) this.#step(each);
    } finally {
      this.#isBusy = false;
    }
  }

  #step(happening: Happening): void {
    try {
      const { clock, random } = this.#options;
      const moment = { nowMs: clock.monotonic(), chance: random.float() };
      const { state, actions } = this.#plan(this.#state, { ...happening, ...moment });
      this.#state = state;
      for (const action of actions) this.#perform(action);
    } catch (thrown) {
      this.#breakDown(toZesterError(thrown, `lease ${this.#options.name}`).message);
    }
  }

  #perform(action: LeaseAction): void {
    this.#why = action.why;
    this.#log(action);
    const { bucket, name } = this.#options;
    switch (action.do) {
      case "create":
        return this.#write(action.attempt, bucket.create(name, encodeLease(action.value)));
      case "renew":
        return this.#write(
          action.attempt,
          bucket.update(name, encodeLease(action.value), action.revision),
        );
      case "release":
        return this.#write(action.attempt, bucket.delete(name, { revision: action.revision }));
      case "look":
        return void this.#look(action.attempt);
      case "wait":
        return this.#wait(action.ms, () => this.#handle({ on: "due" }));
      case "acquired":
        return this.#beginWork(action.revision);
      case "lost":
        return this.#endWork(action.why);
      case "end":
        this.#timer?.cancel();
        return this.#ended.resolve();
      default:
        assertNever(action);
    }
  }

  #write(attempt: number, call: Promise<Answer>): void {
    const run = this.#run;
    call.catch((thrown): Answer => ({ outcome: "failed", message: this.#messageOf(thrown) }))
      .then((answer) => {
        if (run === this.#run) this.#handle({ on: "written", attempt, answer });
      });
  }

  async #look(attempt: number): Promise<void> {
    const run = this.#run;
    const sight = await this.#sight();
    if (run === this.#run) this.#handle({ on: "seen", attempt, sight });
  }

  async #sight(): Promise<Sight> {
    try {
      const entry = await this.#options.bucket.get(this.#options.name, { leader: true });
      return entry === null
        ? { found: "nothing" }
        : { found: "value", value: decodeLease(entry.value), revision: entry.revision };
    } catch (thrown) {
      return { found: "failed", message: this.#messageOf(thrown) };
    }
  }

  #wait(ms: number, then: () => void): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, then);
  }

  #beginWork(revision: bigint): void {
    const work = new AbortController();
    this.#work = work;
    this.#options.onAcquired({
      name: this.#options.name,
      revision,
      signal: work.signal,
      isHeld: () => !work.signal.aborted && this.status().isHeld,
    });
  }

  #endWork(why: string): void {
    const work = this.#work;
    if (work === undefined) return;
    this.#work = undefined;
    work.abort(why);
    this.#options.onLost(why);
  }

  /** Something of ours threw. Leadership is over, whatever the plan believed; a fresh loop begins in a while. */
  #breakDown(message: string): void {
    const isEnding = ["stopping", "releasing", "ended"].includes(this.#state.at);
    this.#run++;
    this.#state = isEnding ? { ...this.#state, at: "ended" } : this.#begin();
    this.#why = message;
    if (isEnding) {
      this.#timer?.cancel();
      this.#ended.resolve();
    } else this.#wait(LEASE_RESTART_MS, () => this.start());
    this.#options.log?.({ lease: this.#options.name, do: "restart", why: message });
    this.#endWork(message);
  }

  #messageOf(thrown: unknown): string {
    return toZesterError(thrown, `lease ${this.#options.name}`).message;
  }

  #log(action: LeaseAction): void {
    this.#options.log?.({
      lease: this.#options.name,
      do: action.do,
      why: action.why,
      ...("revision" in action ? { revision: action.revision } : {}),
    });
  }
}
