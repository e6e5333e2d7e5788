import assert from "node:assert/strict";
import { type FollowEvent, followExisting } from "../../core/client.ts";
import { newKsuid } from "../../core/ids.ts";
import { FOLLOW_OVERDUE_MS } from "../../core/limits.ts";
import type { Job } from "../../core/wire/job.ts";
import { seededRandom, settle } from "../../tests/fakes/manual_clock.ts";
import { type QueryLab, queryLab } from "../../tests/fakes/query_lab.ts";
import { followJob } from "./service.ts";

interface Followed {
  readonly lab: QueryLab;
  readonly jid: string;
  readonly job: Job;
  readonly events: FollowEvent[];
  start(): { done: Promise<void>; stop(): void };
}

async function setUp(change: Partial<Job> = {}): Promise<Followed> {
  const lab = await queryLab(["a", "b", "stranger"]);
  const jid = newKsuid(lab.clock.now(), seededRandom(5));
  const job = await lab.putJob({ jid, targets: ["a", "b"], ...change });
  const events: FollowEvent[] = [];
  return {
    lab,
    jid,
    job,
    events,
    start: () => followJob(jid, (event) => void events.push(event), lab.ports),
  };
}

const returned = (events: readonly FollowEvent[]) =>
  events.flatMap((event) => event.kind === "returns" ? event.returns : []);

/** Shows that a follow that is over leaves nothing behind that speaks. */
async function nothingMore({ lab, jid, events }: Followed): Promise<void> {
  const before = events.length;
  lab.sayAck(jid, "a");
  await lab.clock.advanceSettling(10_000, 1_000);
  assert.equal(events.length, before);
}

async function end({ lab, job }: Followed): Promise<void> {
  const ended = { status: "partial", returnCount: 1, successCount: 1 } as const;
  await lab.putJob({ ...job, ...ended });
}

Deno.test("followJob() tells what was stored, what only the stream has, and what comes in, each once", async () => {
  const followed = await setUp();
  const { lab, jid, events } = followed;
  await lab.putReturn(jid, "a");
  lab.sayAck(jid, "b");
  await settle();
  const follower = followed.start();
  await lab.clock.advanceSettling(100);
  assert.deepEqual(returned(events).map(({ peelId }) => peelId), ["a"]);
  assert.ok(events.some((event) => event.kind === "acks" && event.peels.includes("b")));
  lab.sayReturn(jid, "a");
  lab.sayReturn(jid, "b");
  lab.sayReturn(jid, "stranger");
  await lab.clock.advanceSettling(100);
  assert.deepEqual(returned(events).map(({ peelId }) => peelId), ["a", "b"]);
  await end(followed);
  await lab.clock.advanceSettling(3_000, 500);
  await follower.done;
  assert.equal(events[0]?.kind, "accepted");
  const last = events.at(-1);
  assert.ok(last?.kind === "done" && last.status === "partial" && last.missing.length === 0);
  await nothingMore(followed);
});

Deno.test("followJob() of a job that has ended tells all at once, late returns too, and why others are silent", async () => {
  const followed = await setUp({ status: "partial", returnCount: 1 });
  const { lab, jid, events } = followed;
  lab.sayReturn(jid, "b");
  await settle();
  await followed.start().done;
  assert.deepEqual(returned(events).map(({ peelId }) => peelId), ["b"]);
  assert.deepEqual(events.at(-1), {
    kind: "done",
    jid,
    status: "partial",
    returnCount: 1,
    successCount: 0,
    missing: [{ peel: "a", reason: "not delivered: no ack" }],
  });
  await nothingMore(followed);
});

Deno.test("followJob() ends when all have answered, even if nobody owns the job who could store that", async () => {
  const followed = await setUp();
  const { lab, jid, events } = followed;
  const follower = followed.start();
  await settle();
  lab.sayReturn(jid, "a");
  lab.sayReturn(jid, "b", { success: false, error: "no" });
  await lab.clock.advanceSettling(7_000, 500);
  await follower.done;
  const last = events.at(-1);
  assert.ok(last?.kind === "done");
  assert.deepEqual([last.status, last.returnCount, last.successCount], ["failed", 2, 1]);
});

Deno.test("followJob() says that it is alive, so that nobody asks another master", async () => {
  const followed = await setUp();
  const follower = followed.start();
  await followed.lab.clock.advanceSettling(9_000, 1_000);
  assert.equal(followed.events.filter(({ kind }) => kind === "alive").length, 3);
  follower.stop();
  await follower.done;
  await nothingMore(followed);
});

Deno.test("followJob() goes on when the record cannot be read for a while", async () => {
  const followed = await setUp();
  const { lab, jid } = followed;
  let failing = false;
  const jobs = {
    ...lab.ports.jobs,
    read: (...given: Parameters<typeof lab.ports.jobs.read>) =>
      failing ? Promise.reject(new Error("no leader")) : lab.ports.jobs.read(...given),
  };
  const events: FollowEvent[] = [];
  const follower = followJob(jid, (event) => void events.push(event), { ...lab.ports, jobs });
  await settle();
  failing = true;
  await lab.clock.advanceSettling(9_000, 1_000);
  failing = false;
  await end(followed);
  await lab.clock.advanceSettling(3_000, 1_000);
  await follower.done;
  assert.equal(events.at(-1)?.kind, "done");
});

Deno.test("followJob() refuses a job that does not exist, and gives up on one whose end nobody stores", async () => {
  const followed = await setUp();
  const { lab, events } = followed;
  const none = newKsuid(lab.clock.now(), seededRandom(6));
  const refused: FollowEvent[] = [];
  await followJob(none, (event) => void refused.push(event), lab.ports).done;
  assert.ok(refused[0]?.kind === "refused" && refused[0].code === "job_unknown");
  const follower = followed.start();
  await lab.clock.advanceSettling(60_000 + FOLLOW_OVERDUE_MS + 3_000, 1_000);
  await follower.done;
  const last = events.at(-1);
  assert.ok(last?.kind === "refused" && last.code === "timeout");
});

Deno.test("followExisting() follows a job over the bus by the beginning of its id", async () => {
  const followed = await setUp();
  const { lab, jid } = followed;
  const events: FollowEvent[] = [];
  const over = followExisting(jid.slice(0, 20), (event) => void events.push(event), lab.client);
  await settle();
  assert.equal(lab.service.follows(), 1);
  lab.sayReturn(jid, "a");
  await lab.clock.advanceSettling(100);
  await end(followed);
  await lab.clock.advanceSettling(3_000, 500);
  await over;
  assert.deepEqual(events.map(({ kind }) => kind), ["accepted", "returns", "done"]);
  assert.equal(lab.service.follows(), 0);
});
