import assert from "node:assert/strict";
import { JOURNAL_RETENTION_MS } from "../../core/limits.ts";
import type { Clock } from "../../core/ports.ts";
import { type MemoryFiles, memoryFiles } from "../../tests/fakes/memory_files.ts";
import { emptyJournal, openJournal } from "./journal.ts";

const PATH = "journal";
const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const OTHER = "0ujzPyRiIAffKhBux4PvQdDqMHY";

function at(nowMs: number): Clock {
  return { now: () => nowMs } as Clock;
}

async function withEntries(...jids: string[]): Promise<MemoryFiles> {
  const files = memoryFiles();
  files.content.set(PATH, emptyJournal());
  const journal = await openJournal(PATH, files, at(1_000));
  for (const jid of jids) await journal.accept(jid);
  return files;
}

Deno.test("openJournal() knows after a restart what was accepted before it", async () => {
  const files = await withEntries(JID);
  const journal = await openJournal(PATH, files, at(2_000));
  assert.ok(journal.has(JID));
  assert.ok(!journal.has(OTHER));
  assert.equal(journal.completeSinceMs, 0);
});

Deno.test("openJournal() forgets only what is older than any signature can be", async () => {
  const files = await withEntries(JID);
  assert.ok((await openJournal(PATH, files, at(1_000 + JOURNAL_RETENTION_MS))).has(JID));
  assert.ok(!(await openJournal(PATH, files, at(1_001 + JOURNAL_RETENTION_MS))).has(JID));
});

Deno.test("openJournal() survives a cut at every byte of the last entry, and never loses the one before", async () => {
  const whole = (await withEntries(JID)).content.get(PATH)?.length ?? 0;
  const content = (await withEntries(JID, OTHER)).content.get(PATH) ?? new Uint8Array();
  for (let cut = whole; cut < content.length; cut++) {
    const files = memoryFiles();
    files.content.set(PATH, content.slice(0, cut));
    const journal = await openJournal(PATH, files, at(2_000));
    assert.ok(journal.has(JID), `cut at ${cut}`);
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
for (const [name, damage] of damages) {
  Deno.test(`openJournal() fails closed when the file is ${name}, and remembers it at the next start`, async () => {
    const files = await withEntries(JID);
    const left = damage(files.content.get(PATH) ?? new Uint8Array());
    if (left === null) files.content.delete(PATH);
    else files.content.set(PATH, left);
    assert.equal((await openJournal(PATH, files, at(5_000))).completeSinceMs, 5_000);
    assert.equal((await openJournal(PATH, files, at(9_000))).completeSinceMs, 5_000);
  });
}

Deno.test("Journal.accept() rejects when the disk does, so that nothing runs", async () => {
  const files = await withEntries();
  const journal = await openJournal(PATH, files, at(2_000));
  files.broken = true;
  await assert.rejects(journal.accept(JID));
  assert.ok(journal.has(JID), "a copy of the request must not run either");
});
