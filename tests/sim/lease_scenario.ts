/**
 * Three masters contend for the `publisher` lease; whoever has it sends notices, fenced by the revision that won it, to
 * one peel that refuses what is older than what it has seen.
 */
import assert from "node:assert/strict";
import { buckets } from "../../core/buckets.ts";
import { LEASE_TTL_MS } from "../../core/limits.ts";
import type { Bucket, Clock } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeLease, type LeasePlan } from "../../master/lease/plan.ts";
import { holdLease, type Lease, type LeaseHandle } from "../../master/lease/service.ts";
import { DRIFT_MAX, type NodePorts, type Program, type Scenario, type World } from "./world.ts";

const LEASE = "publisher";
const CONTENDERS = ["m1", "m2", "m3"] as const;
const WORK_EVERY_MS = 700;
const LOOK_EVERY_MS = 3_000;

/**
 * How long an old holder may believe in itself beside a newer one. The specification allows one TTL. The plan does
 * better: it counts the TTL from the sending of a write, so what is left is two clocks that run at different speeds.
 */
const OVERLAP_MS_MAX = LEASE_TTL_MS * 2 * DRIFT_MAX;

/** A broken lease, for planted bugs: another plan, or ports that are used in another way. */
export interface LeaseVariant {
  readonly plan?: LeasePlan;
  readonly clock?: (inner: Clock) => Clock;
  readonly bucket?: (inner: Bucket) => Bucket;
  /** The peel accepts notices of any revision. */
  readonly fenceless?: boolean;
}

/** What the scenario hopes to see in some runs, besides faults. */
export const LEASE_SOMETIMES = [
  "lease acquired",
  "lease acquired by looking",
  "lease lost",
  "lease released",
  "lease changed hands",
  "stale notice refused",
  "repeated notice",
] as const;

/** The scenario, with the real lease helper or a broken one. */
export function leaseScenario(variant: LeaseVariant = {}): Scenario {
  return {
    name: "lease",
    summary: "three contenders for one lease",
    chaosMs: 240_000,
    settleMs: 120_000,
    steadyMs: 2 * LEASE_TTL_MS,
    async build(world) {
      await world.admin.ensureBucket(buckets.leases);
      const referee = new Referee(world);
      await referee.watch();
      for (const name of CONTENDERS) {
        world.addNode({
          name,
          role: "master",
          start: (node) => startContender(node, referee, variant),
        });
      }
      world.addNode({
        name: "peel-1",
        role: "peel",
        start: (node) => startPeel(node, referee, variant),
      });
      return {
        afterEach: () => referee.check(),
        settled: () => referee.isSettled(),
        atEnd: () => assert.ok(referee.accepted > 0, "no notice was ever accepted"),
      };
    },
  };
}

function startContender(node: NodePorts, referee: Referee, variant: LeaseVariant): Program {
  const bucket = node.store.bucket(buckets.leases.name);
  const handle = holdLease({
    name: LEASE,
    holder: node.name,
    bucket: variant.bucket?.(bucket) ?? bucket,
    clock: variant.clock?.(node.clock) ?? node.clock,
    random: node.random,
    log: ({ do: what, why, revision }) => node.report(`lease ${what} ${revision ?? ""} ${why}`),
    onAcquired: (lease) => {
      referee.acquired(node.name, lease);
      sendNotices(node, lease);
    },
    onLost: () => referee.lost(),
  }, variant.plan);
  referee.contends(node.name, handle);
  node.clock.every(LOOK_EVERY_MS, () => void showLeader(node, bucket, referee));
  return { stop: () => handle.stop() };
}

/** Sends one notice after another for as long as the lease is ours. */
function sendNotices(node: NodePorts, lease: Lease): void {
  let number = 0;
  const timer = node.clock.every(WORK_EVERY_MS, () => {
    const notice = { holder: node.name, revision: lease.revision.toString(), number: ++number };
    if (!node.bus.connected) return;
    node.bus.publish(
      subjects.notice.of({ topic: "states" }),
      new TextEncoder().encode(JSON.stringify(notice)),
    );
  });
  lease.signal.addEventListener("abort", () => timer.cancel());
}

/** What a status page does: it reads who leads, from any replica, and decides nothing by it. */
async function showLeader(node: NodePorts, bucket: Bucket, referee: Referee): Promise<void> {
  try {
    const entry = await bucket.get(LEASE);
    if (entry === null) return;
    referee.saw(entry.revision, decodeLease(entry.value).holder);
    node.report(`sees revision ${entry.revision}`);
  } catch (thrown) {
    node.report(`sees nothing: ${thrown}`);
  }
}

/** Accepts a notice unless a newer holder has been heard of. The fence is on disk, so a crash does not reopen it. */
function startPeel(node: NodePorts, referee: Referee, variant: LeaseVariant): Program {
  const { disk } = node;
  node.bus.subscribe(subjects.notice.filter(), (message) => {
    const notice = JSON.parse(new TextDecoder().decode(message.data));
    const revision = BigInt(notice.revision);
    const fence = BigInt(new TextDecoder().decode(disk.get("fence") ?? new Uint8Array()) || "0");
    if (revision < fence && !variant.fenceless) {
      return referee.refused();
    }
    disk.set("fence", new TextEncoder().encode(notice.revision));
    node.report(`accepts a notice of ${notice.holder} at ${revision}`);
    referee.accepts({ holder: notice.holder, revision, number: notice.number });
  });
  return {};
}

/** `number` counts the notices of one acquisition. */
interface Notice {
  readonly holder: string;
  readonly revision: bigint;
  readonly number: number;
}

interface Write {
  readonly revision: bigint;
  readonly holder: string;
  readonly atMs: number;
}

/** Knows what the store really took, and compares it with what the contenders believe. */
class Referee {
  readonly #world: World;
  readonly #writes: Write[] = [];
  readonly #handles = new Map<string, LeaseHandle>();
  readonly #fencedBy = new Map<bigint, string>();
  #fence = 0n;
  #lastAccepted: Notice | undefined;
  #lastAcceptedMs = 0;
  #lastHolder = "";
  #violation: string | undefined;
  accepted = 0;

  constructor(world: World) {
    this.#world = world;
  }

  async watch(): Promise<void> {
    await this.#world.truth.store.bucket(buckets.leases.name).watch(LEASE, (event) => {
      const { nowMs: atMs } = this.#world;
      if (event.kind === "delete") this.#released();
      if (event.kind !== "put") return;
      const { holder } = decodeLease(event.entry.value);
      this.#writes.push({ revision: event.entry.revision, holder, atMs });
      if (this.#lastHolder !== "" && holder !== this.#lastHolder) {
        this.#world.saw("lease changed hands");
      }
      this.#lastHolder = holder;
    });
  }

  /** Belief ends before a release is sent, so nobody can still believe in what is deleted. */
  #released(): void {
    this.#world.saw("lease released");
    const current = this.#writes.at(-1)?.revision;
    for (const node of this.#world.nodes) {
      const status = node.life === null ? undefined : this.#handles.get(node.spec.name)?.status();
      this.#expect(
        status?.revision === undefined || status.revision !== current,
        `revision ${current} was deleted while ${node.spec.name} held it`,
      );
    }
  }

  /** Remembers the first violation: where it is found, services may catch what is thrown. */
  #expect(isTrue: boolean, otherwise: string): void {
    if (!isTrue) this.#violation ??= otherwise;
  }

  contends(name: string, handle: LeaseHandle): void {
    this.#handles.set(name, handle);
  }

  acquired(name: string, lease: Lease): void {
    this.#world.saw("lease acquired");
    const write = this.#writes.find((each) => each.revision === lease.revision);
    if (write !== undefined && this.#world.nowMs - write.atMs > 5_000) {
      this.#world.saw("lease acquired by looking");
    }
    const other = this.#fencedBy.get(lease.revision) ?? name;
    this.#expect(name === other, `${name} and ${other} both acquired revision ${lease.revision}`);
    this.#fencedBy.set(lease.revision, name);
  }

  lost(): void {
    this.#world.saw("lease lost");
  }

  /** Even an old read must show something that was once true. */
  saw(revision: bigint, holder: string): void {
    const write = this.#writes.find((each) => each.revision === revision);
    this.#expect(write?.holder === holder, `a read showed ${holder} at ${revision}, never written`);
  }

  refused(): void {
    this.#world.saw("stale notice refused");
  }

  accepts(notice: Notice): void {
    const { holder, revision, number } = notice;
    const owner = this.#fencedBy.get(revision);
    this.#expect(owner === holder, `notice of ${holder} at ${revision}, which ${owner} acquired`);
    this.#expect(
      revision >= this.#fence,
      `a notice at ${revision} was accepted after one at ${this.#fence}`,
    );
    if (revision === this.#fence && number === this.#lastAccepted?.number) {
      this.#world.saw("repeated notice");
    }
    this.#fence = revision;
    this.#lastAccepted = notice;
    this.#lastAcceptedMs = this.#world.nowMs;
    this.accepted++;
  }

  check(): void {
    assert.ok(this.#violation === undefined, this.#violation);
    const believers = this.#believers();
    for (const { name, revision } of believers) {
      const same = believers.filter((each) => each.revision === revision);
      assert.ok(same.length === 1, `${same.map((each) => each.name)} all hold ${revision}`);
      const write = this.#writes.find((each) => each.revision === revision);
      assert.ok(write?.holder === name, `${name} holds ${revision}, written by ${write?.holder}`);
      this.#checkOverlap(name, revision);
    }
  }

  #checkOverlap(name: string, revision: bigint): void {
    const newer = this.#writes.find((each) => each.revision > revision && each.holder !== name);
    if (newer === undefined) return;
    const overlapMs = this.#world.nowMs - newer.atMs;
    assert.ok(
      overlapMs <= OVERLAP_MS_MAX,
      `${name} still holds ${revision}, ${overlapMs.toFixed(0)} ms after ${newer.holder} wrote ` +
        `${newer.revision}`,
    );
  }

  /** Exactly one holder, the store agrees, all run, and the peel hears the holder work. */
  isSettled(): boolean {
    const believers = this.#believers();
    const [leader] = believers;
    const areAllUp = this.#world.nodes.every((node) => node.isRunning);
    return areAllUp && believers.length === 1 && leader !== undefined &&
      leader.name === this.#writes.at(-1)?.holder &&
      leader.acquired === this.#lastAccepted?.revision &&
      this.#world.nowMs - this.#lastAcceptedMs < 3 * WORK_EVERY_MS;
  }

  #believers(): { name: string; revision: bigint; acquired: bigint }[] {
    return this.#world.nodes.flatMap((node) => {
      const { name } = node.spec;
      const status = node.isRunning ? this.#handles.get(name)?.status() : undefined;
      if (status?.isHeld !== true) return [];
      assert.ok(status.revision !== undefined && status.acquired !== undefined);
      return [{ name, revision: status.revision, acquired: status.acquired }];
    });
  }
}
