import assert from "node:assert/strict";
import fc from "fast-check";
import {
  CLOCK_SKEW_MS,
  JOURNAL_COMPACT_BYTES_MIN,
  JOURNAL_COMPACT_MS_MAX,
  JOURNAL_RESULT_BYTES_MAX,
  JOURNAL_RESULT_KEPT_MS,
  JOURNAL_RETENTION_MS,
  TOMBSTONES_MAX,
} from "../../core/limits.ts";
import { newJid } from "../../core/ids.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { type MemoryFiles, memoryFiles } from "../../tests/fakes/memory_files.ts";
import { emptyJournal, type Journal, type JournalJob, openJournal } from "./journal.ts";
import { emptyContent, encodeContent, parseJournal } from "./journal_records.ts";

const PATH = "journal";
const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const OTHER = "0ujzPyRiIAffKhBux4PvQdDqMHY";
const TOMB = "1srOrx2ZWZBpBUvZwXKQmoEYga2";
const START_MS = 1_000;
const RESULT = Uint8Array.of(1, 2, 3);

function job(jid: string, acceptedMs = START_MS): JournalJob {
  return { jid, epoch: 2n ** 60n, function: "test.ping", firstIssuedMs: 900, acceptedMs };
}

function at(nowMs: number): ManualClock {
  return new ManualClock(nowMs);
}

/** Files that count their flushes. */
function countingFiles(): MemoryFiles & { flushes: number } {
  const files = memoryFiles();
  files.content.set(PATH, emptyJournal());
  const counting = Object.assign(files, { flushes: 0 });
  const append = files.appendDurably.bind(files);
  files.appendDurably = (...given) => {
    counting.flushes++;
    return append(...given);
  };
  return counting;
}

async function withEntries(...jids: string[]): Promise<MemoryFiles> {
  const files = countingFiles();
  const journal = await openJournal(PATH, files, at(START_MS));
  for (const jid of jids) await journal.accept(job(jid));
  return files;
}

function reopened(files: MemoryFiles, nowMs = 2_000): Promise<Journal> {
  return openJournal(PATH, files, at(nowMs));
}

Deno.test("openJournal() knows after a restart what was accepted before it, to the last field", async () => {
  const files = countingFiles();
  const before = await openJournal(PATH, files, at(START_MS));
  await before.accept({ ...job(JID), operator: "alice" });
  const journal = await reopened(files);
  assert.deepEqual(journal.entry(JID), {
    ...job(JID),
    operator: "alice",
    state: "accepted",
    isCanceled: false,
  });
  assert.equal(journal.entry(OTHER), undefined);
  assert.equal(journal.completeSinceMs, 0);
});

const steps: [state: string, take: (journal: Journal) => Promise<void> | void][] = [
  ["accepted", () => {}],
  ["started", (journal) => journal.start(JID)],
  ["finished", (journal) => journal.finish(JID, RESULT)],
  ["stored", async (journal) => {
    journal.store(JID);
    await journal.close();
  }],
];
Deno.test("openJournal() remembers every state of a job, also after one more rewrite", async () => {
  const files = countingFiles();
  const journal = await openJournal(PATH, files, at(START_MS));
  await journal.accept(job(JID));
  for (const [state, take] of steps) {
    await take(journal);
    for (let start = 0; start < 2; start++) {
      const again = memoryFiles();
      again.content.set(PATH, files.content.get(PATH) ?? new Uint8Array());
      const entry = (await reopened(again)).entry(JID);
      assert.equal(entry?.state, state);
      assert.deepEqual(
        entry.result,
        state === "finished" || state === "stored" ? RESULT : undefined,
      );
    }
  }
});

/** Finished and stored, as most entries are. */
async function finish(journal: Journal, jid: string, firstIssuedMs: number): Promise<void> {
  await journal.accept({ ...job(jid), firstIssuedMs });
  await journal.finish(jid, RESULT);
  journal.store(jid);
  await journal.close();
}

Deno.test("openJournal() forgets only what is older than any signature can be, by the times that were signed", async () => {
  for (const [gapMs, isKept] of [[JOURNAL_RETENTION_MS, true], [JOURNAL_RETENTION_MS + 1, false]]) {
    const files = countingFiles();
    const journal = await openJournal(PATH, files, at(START_MS));
    await finish(journal, JID, 900);
    await finish(journal, OTHER, 900 + Number(gapMs));
    const again = await reopened(files);
    assert.equal(again.entry(JID) !== undefined, isKept);
    assert.equal(again.forgottenMs, isKept ? 0 : 900, "and from then on it says so");
    assert.equal((await reopened(files)).forgottenMs, isKept ? 0 : 900);
  }
});

Deno.test("openJournal() drops nothing because the peel's own clock is days ahead, now and at later starts", async () => {
  const files = countingFiles();
  const journal = await openJournal(PATH, files, at(START_MS));
  await finish(journal, JID, 900);
  await journal.cancel(OTHER, 900);
  for (const nowMs of [START_MS + 100 * JOURNAL_RETENTION_MS, START_MS, 0]) {
    const again = await reopened(files, nowMs);
    assert.ok(again.entry(JID), `at ${nowMs}`);
    assert.ok(again.hasTombstone(OTHER), `at ${nowMs}`);
    assert.equal(again.forgottenMs, 0);
  }
});

Deno.test("Journal.confirmTime() lets go of what is old, never of what nobody has finished", async () => {
  const files = countingFiles();
  const clock = at(START_MS);
  const journal = await openJournal(PATH, files, clock);
  await finish(journal, JID, 900);
  await journal.accept(job(OTHER));
  journal.confirmTime(901 + JOURNAL_RETENTION_MS);
  clock.advance(JOURNAL_COMPACT_MS_MAX);
  await journal.accept({ ...job(newJid(START_MS, seededRandom(5))), firstIssuedMs: 1_000 });
  await journal.close();
  assert.equal(journal.entry(JID), undefined);
  assert.ok(journal.entry(OTHER));
});

Deno.test("Journal.accept() evicts nothing by number: of 5,000 jobs the first is still known", async () => {
  const clock = at(START_MS);
  const files = countingFiles();
  const random = seededRandom(1);
  const journal = await openJournal(PATH, files, clock);
  const jids = Array.from({ length: 5_000 }, () => newJid(START_MS, random));
  await Promise.all(jids.map((jid) => journal.accept(job(jid))));
  assert.ok(jids.every((jid) => journal.entry(jid)));
  assert.ok((await reopened(files)).entry(jids[0] ?? ""));
});

Deno.test("openJournal() survives a cut at every byte of the last record, and never loses the one before", async () => {
  const whole = (await withEntries(JID)).content.get(PATH)?.length ?? 0;
  const content = (await withEntries(JID, OTHER)).content.get(PATH) ?? new Uint8Array();
  for (let cut = whole; cut < content.length; cut++) {
    const files = memoryFiles();
    files.content.set(PATH, content.slice(0, cut));
    const journal = await reopened(files);
    assert.ok(journal.entry(JID), `cut at ${cut}`);
    assert.equal(journal.completeSinceMs, 0, `a torn tail is not damage: cut at ${cut}`);
  }
});

const damages: [name: string, damage: (content: Uint8Array) => Uint8Array | null][] = [
  ["missing", () => null],
  ["empty", () => new Uint8Array()],
  ["cut inside its first line", (content) => content.slice(0, 10)],
  [
    "changed in an entry",
    (content) => content.map((byte, index) => index === content.length - 9 ? byte ^ 1 : byte),
  ],
  ["some other file", () => new TextEncoder().encode("hello\n")],
];
/** Journal files with one entry, then damaged. */
async function damaged(damage: (content: Uint8Array) => Uint8Array | null): Promise<MemoryFiles> {
  const files = await withEntries(JID);
  const left = damage(files.content.get(PATH) ?? new Uint8Array());
  if (left === null) files.content.delete(PATH);
  else files.content.set(PATH, left);
  return files;
}

for (const [name, damage] of damages) {
  Deno.test(`openJournal() fails closed when the file is ${name}, says so, and remembers it at the next start`, async () => {
    const files = await damaged(damage);
    const first = await reopened(files, 5_000);
    assert.equal(first.completeSinceMs, 5_000);
    assert.ok(first.damage);
    assert.equal(first.health().status, "degraded");
    const second = await reopened(files, 9_000);
    assert.equal(
      second.completeSinceMs,
      9_000,
      "nobody has confirmed the clock of the first start",
    );
    assert.equal(second.damage, undefined);
    assert.equal(second.health().status, "degraded");
    assert.match(
      second.health().message ?? "",
      new RegExp(new Date(9_000 + CLOCK_SKEW_MS).toISOString()),
    );
  });
}

Deno.test("Journal.confirmTime() dates a loss, which is over when nothing from before it can be valid any more", async () => {
  const files = await damaged(() => null);
  const lossMs = 10 * JOURNAL_RETENTION_MS;
  const clock = at(lossMs);
  const journal = await openJournal(PATH, files, clock);
  journal.confirmTime(lossMs - CLOCK_SKEW_MS - 1); // an old request, which says nothing about this clock
  assert.equal(
    (await reopened({ ...files, content: new Map(files.content) }, 77)).completeSinceMs,
    77,
  );
  clock.advance(1_000);
  journal.confirmTime(clock.now() - CLOCK_SKEW_MS);
  await journal.accept(job(JID));
  const second = await reopened(files, 5 * lossMs);
  assert.equal(second.completeSinceMs, lossMs);
  second.confirmTime(lossMs + JOURNAL_RETENTION_MS + 1);
  await finish(second, OTHER, lossMs + JOURNAL_RETENTION_MS + 1);
  const third = await reopened(files, 5 * lossMs);
  assert.equal(third.completeSinceMs, 0);
  assert.equal(third.health().status, "ok");
});

const jumps: [name: string, wrongMs: number][] = [
  ["behind", -4 * JOURNAL_RETENTION_MS],
  ["ahead", 4 * JOURNAL_RETENTION_MS],
];
for (const [name, wrongMs] of jumps) {
  Deno.test(`Journal.completeSinceMs follows a clock that was days ${name} at the loss and is set right later`, async () => {
    const files = await damaged(() => null);
    const rightMs = 100 * JOURNAL_RETENTION_MS;
    const clock = at(rightMs + wrongMs);
    const journal = await openJournal(PATH, files, clock);
    assert.equal(journal.completeSinceMs, rightMs + wrongMs);
    clock.advance(60_000);
    clock.setWall(rightMs + 60_000);
    assert.equal(journal.completeSinceMs, rightMs);
    journal.confirmTime(rightMs + 60_000);
    clock.setWall(5);
    assert.equal(journal.completeSinceMs, rightMs, "once confirmed it stays");
  });
}

Deno.test("openJournal() keeps what is whole in a damaged file", async () => {
  const files = await withEntries(JID, OTHER);
  const content = files.content.get(PATH) ?? new Uint8Array();
  content[content.length - 9]! ^= 1;
  const journal = await reopened(files);
  assert.ok(journal.entry(JID));
  assert.ok(!journal.entry(OTHER));
});

Deno.test("openJournal() fails closed when the file cannot be read, and goes on when it cannot be written", async () => {
  const files = await withEntries(JID);
  files.read = () => Promise.reject(new Error("input/output error"));
  assert.match((await reopened(files)).damage ?? "", /input\/output error/);
  const full = await withEntries(JID);
  full.broken = true;
  const journal = await reopened(full);
  assert.ok(journal.entry(JID));
  assert.equal(journal.health().status, "degraded");
  await assert.rejects(journal.accept(job(OTHER)));
});

Deno.test("Journal.accept() of many jobs in one turn shares one flush", async () => {
  const files = countingFiles();
  const journal = await openJournal(PATH, files, at(START_MS));
  const random = seededRandom(1);
  const jids = Array.from({ length: 100 }, () => newJid(START_MS, random));
  await Promise.all(jids.map((jid) => journal.accept(job(jid), { isStarted: true })));
  assert.equal(files.flushes, 1);
  assert.equal(journal.entry(jids[99] ?? "")?.state, "started");
});

Deno.test("Journal.store() costs no flush of its own, and is written with the next one", async () => {
  const files = countingFiles();
  const journal = await openJournal(PATH, files, at(START_MS));
  await journal.accept(job(JID));
  await journal.finish(JID, RESULT);
  journal.store(JID);
  assert.equal(files.flushes, 2);
  assert.equal(
    (await reopened({ ...files, content: new Map(files.content) })).entry(JID)?.state,
    "finished",
  );
  await journal.accept(job(OTHER));
  assert.equal(files.flushes, 3);
  assert.equal((await reopened(files)).entry(JID)?.state, "stored");
});

Deno.test("Journal.accept() rejects when the disk does, so that nothing runs", async () => {
  const files = await withEntries();
  const journal = await reopened(files);
  files.broken = true;
  await assert.rejects(journal.accept(job(JID)));
  assert.ok(journal.entry(JID), "a copy of the request must not run either");
  assert.equal(journal.health().status, "degraded");
});

Deno.test("Journal.accept() makes the file whole again after a write that failed half way", async () => {
  const files = await withEntries(JID);
  const journal = await reopened(files);
  const append = files.appendDurably.bind(files);
  files.appendDurably = async (path, bytes, mode) => {
    await append(path, bytes.slice(0, 20), mode);
    throw new Error("input/output error");
  };
  await assert.rejects(journal.accept(job(OTHER)));
  files.appendDurably = append;
  const third = newJid(START_MS, seededRandom(3));
  await journal.accept(job(third));
  assert.equal(journal.health().status, "ok");
  const again = await reopened(files);
  assert.equal(again.damage, undefined);
  for (const jid of [JID, OTHER, third]) assert.ok(again.entry(jid), jid);
});

Deno.test("Journal.finish() lets the file grow, and a rewrite drops what is no longer needed", async () => {
  const clock = at(START_MS);
  const files = countingFiles();
  const journal = await openJournal(PATH, files, clock);
  const random = seededRandom(1);
  const large = new Uint8Array(JOURNAL_COMPACT_BYTES_MIN / 4);
  const jids = Array.from({ length: 160 }, () => newJid(START_MS, random));
  for (const jid of jids) {
    await journal.accept(job(jid));
    await journal.finish(jid, large);
    journal.store(jid);
  }
  const kept = jids.filter((jid) => journal.entry(jid)?.result !== undefined);
  assert.ok(kept.length * large.length <= JOURNAL_RESULT_BYTES_MAX);
  assert.ok(kept.includes(jids.at(-1) ?? ""), "the newest are kept");
  const bytes = files.content.get(PATH)?.length ?? 0;
  const written = 160 * large.length * 4 / 3; // as text they are a third larger
  assert.ok(bytes < 0.9 * written, `${bytes} bytes of ${written}`);
  const again = await reopened(files);
  assert.ok(jids.every((jid) => again.entry(jid)), "no jid is dropped with its result");
});

Deno.test("Journal.store() lets go of a result after a while, never of one that nobody has", async () => {
  const clock = at(START_MS);
  const journal = await openJournal(PATH, countingFiles(), clock);
  for (const jid of [JID, OTHER]) {
    await journal.accept(job(jid));
    await journal.finish(jid, RESULT);
  }
  journal.store(JID);
  clock.advance(JOURNAL_RESULT_KEPT_MS + 1);
  const third = newJid(START_MS, seededRandom(3));
  await journal.accept(job(third));
  await journal.finish(third, RESULT);
  journal.store(third);
  assert.equal(journal.entry(JID)?.result, undefined);
  assert.equal(journal.entry(JID)?.state, "stored");
  assert.deepEqual(journal.entry(OTHER)?.result, RESULT);
});

Deno.test("Journal.cancel() leaves a tombstone that survives a restart and goes with time", async () => {
  const files = countingFiles();
  const journal = await openJournal(PATH, files, at(START_MS));
  await journal.accept(job(JID));
  await journal.cancel(JID, START_MS);
  await journal.cancel(OTHER, START_MS);
  const again = await reopened(files);
  assert.ok(again.hasTombstone(OTHER));
  assert.ok(!again.hasTombstone(JID));
  assert.equal(again.entry(JID)?.isCanceled, true);
  await again.accept(job(OTHER));
  assert.ok(!again.hasTombstone(OTHER), "an entry says more");
  const later = await reopened(files);
  await later.cancel(TOMB, 5);
  await finish(later, JID, 6 + JOURNAL_RETENTION_MS);
  const last = await reopened(files);
  assert.ok(!last.hasTombstone(TOMB));
  assert.equal(last.forgottenMs, 5, "what it held back is refused from then on");
});

Deno.test("Journal.cancel() beyond its room drops the oldest tombstone and remembers from when on they are complete", async () => {
  const random = seededRandom(1);
  const tombstones = new Map(
    Array.from({ length: TOMBSTONES_MAX }, (_, index) => [newJid(START_MS, random), 500 + index]),
  );
  const files = memoryFiles();
  files.content.set(PATH, encodeContent({ ...emptyContent(), tombstones }));
  const journal = await reopened(files, 90_000);
  const [oldest] = tombstones.keys();
  assert.ok(journal.hasTombstone(oldest ?? ""));
  assert.equal(journal.forgottenMs, 0);
  await journal.cancel(JID, 90_000);
  assert.ok(journal.hasTombstone(JID));
  assert.ok(!journal.hasTombstone(oldest ?? ""));
  assert.equal(journal.forgottenMs, 500);
  assert.equal((await reopened(files, 91_000)).forgottenMs, 500);
});

Deno.test("parseJournal() of any text says what it found and never throws", () => {
  const line = new TextDecoder().decode(emptyJournal());
  fc.assert(fc.property(fc.string(), fc.boolean(), (text, withHeader) => {
    const parsed = parseJournal((withHeader ? line : "") + text);
    assert.equal(parsed.entries.size, 0);
    const isWhole = withHeader && !text.includes("\n");
    assert.equal(parsed.damage === undefined, isWhole);
  }));
});
