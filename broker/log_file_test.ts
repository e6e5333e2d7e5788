import assert from "node:assert/strict";
import { join } from "node:path";
import { systemRandom } from "../core/adapters/system_random.ts";
import type { ZesterError } from "../core/errors.ts";
import type { LogRecord } from "./jetstream/types.ts";
import { type DurableLog, openLog } from "./log_file.ts";

function stored(sequence: number, size = 20): LogRecord {
  return {
    type: "stored",
    stream: "s",
    sequence,
    subject: "a.b",
    headers: [["Name", "value"]],
    data: new Uint8Array(size).fill(sequence),
    timeMs: 1,
  };
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function open(folder: string, compactBytesMin = 0): Promise<DurableLog> {
  return openLog(folder, {
    random: systemRandom,
    compactBytesMin,
    onFailure: (error) => {
      throw error;
    },
  });
}

function whenDurable(log: DurableLog): Promise<void> {
  return new Promise((resolve) => log.whenDurable(resolve));
}

/** Opens, reads and closes: what a restart would see. */
async function readBack(folder: string): Promise<{ sequences: number[]; droppedBytes: number }> {
  const log = await open(folder);
  try {
    const sequences: number[] = [];
    const { droppedBytes } = log.replay((record) => {
      if (record.type === "stored") sequences.push(record.sequence);
    });
    return { sequences, droppedBytes };
  } finally {
    await log.close();
  }
}

/** A log with one commit per record; returns where each commit ends. */
async function writeCommits(folder: string, count: number): Promise<number[]> {
  const log = await open(folder);
  log.replay(() => {});
  const ends: number[] = [];
  for (let sequence = 1; sequence <= count; sequence++) {
    log.write(stored(sequence));
    await whenDurable(log);
    ends.push((await Deno.stat(join(folder, "broker.log"))).size);
  }
  await log.close();
  return ends;
}

Deno.test("DurableLog.replay() gives back what was durable, in order, after every restart", async () => {
  await inFolder(async (folder) => {
    await writeCommits(folder, 3);
    assert.deepEqual(await readBack(folder), { sequences: [1, 2, 3], droppedBytes: 0 });
    const log = await open(folder);
    log.replay(() => {});
    log.write(stored(4));
    await log.close(); // close writes what is left
    assert.deepEqual((await readBack(folder)).sequences, [1, 2, 3, 4]);
  });
});

Deno.test("DurableLog.replay() drops a last commit that is cut at any byte, and only that", async () => {
  await inFolder(async (folder) => {
    const ends = await writeCommits(folder, 3);
    const whole = await Deno.readFile(join(folder, "broker.log"));
    for (let cut = ends[1] ?? 0; cut < whole.length; cut++) {
      await Deno.writeFile(join(folder, "broker.log"), whole.subarray(0, cut));
      const { sequences, droppedBytes } = await readBack(folder);
      assert.deepEqual(sequences, [1, 2], `cut at ${cut}`);
      assert.equal(droppedBytes, cut - (ends[1] ?? 0));
      // The tail is gone from the file too, so that what is written next follows what is good.
      assert.equal((await Deno.stat(join(folder, "broker.log"))).size, ends[1]);
    }
  });
});

Deno.test("DurableLog.replay() drops a last commit with any flipped bit", async () => {
  await inFolder(async (folder) => {
    const ends = await writeCommits(folder, 2);
    const whole = await Deno.readFile(join(folder, "broker.log"));
    for (let at = ends[0] ?? 0; at < whole.length; at++) {
      const flipped = whole.slice();
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      await Deno.writeFile(join(folder, "broker.log"), flipped);
      assert.deepEqual((await readBack(folder)).sequences, [1], `byte ${at}`);
    }
  });
});

Deno.test("DurableLog.replay() refuses a log that is damaged before its end, and leaves it alone", async () => {
  await inFolder(async (folder) => {
    const ends = await writeCommits(folder, 3);
    const whole = await Deno.readFile(join(folder, "broker.log"));
    for (let at = ends[0] ?? 0; at < (ends[1] ?? 0); at++) {
      const flipped = whole.slice();
      flipped[at] = (flipped[at] ?? 0) ^ 0x10;
      await Deno.writeFile(join(folder, "broker.log"), flipped);
      await assert.rejects(readBack(folder), { code: "store_damaged", message: /damaged at byte/ });
      assert.deepEqual(await Deno.readFile(join(folder, "broker.log")), flipped);
    }
  });
});

Deno.test("DurableLog.replay() drops a torn tail of more than one block", async () => {
  await inFolder(async (folder) => {
    await writeCommits(folder, 1);
    const log = await open(folder);
    log.replay(() => {});
    for (let sequence = 2; sequence < 6; sequence++) log.write(stored(sequence, 1_000_000));
    await log.close();
    const { size } = await Deno.stat(join(folder, "broker.log"));
    await Deno.truncate(join(folder, "broker.log"), size - 1);
    assert.deepEqual((await readBack(folder)).sequences, [1]);
  });
});

Deno.test("openLog() starts anew over a head that a crash cut off, and refuses a foreign file", async () => {
  await inFolder(async (folder) => {
    await writeCommits(folder, 0);
    const head = await Deno.readFile(join(folder, "broker.log"));
    for (let cut = 0; cut < head.length; cut++) {
      await Deno.writeFile(join(folder, "broker.log"), head.subarray(0, cut));
      assert.deepEqual(await readBack(folder), { sequences: [], droppedBytes: 0 });
    }
    await Deno.writeTextFile(join(folder, "broker.log"), "something else entirely, and long");
    await assert.rejects(open(folder), { code: "store_damaged" });
    await Deno.remove(join(folder, "broker.log"));
    assert.deepEqual((await readBack(folder)).sequences, []); // the failed attempt holds no lock
  });
});

Deno.test("openLog() refuses a folder that another broker uses", async () => {
  await inFolder(async (folder) => {
    const first = await open(folder);
    await assert.rejects(open(folder), { code: "config_invalid", message: /another broker/ });
    await first.close();
    await (await open(folder)).close();
  });
});

Deno.test("DurableLog.whenDurable() calls back in order, at once when nothing is under way", async () => {
  await inFolder(async (folder) => {
    const log = await open(folder);
    log.replay(() => {});
    const calls: string[] = [];
    log.whenDurable(() => calls.push("idle"));
    assert.deepEqual(calls, ["idle"]);
    log.write(stored(1));
    log.whenDurable(() => calls.push("one"));
    log.write(stored(2));
    log.whenDurable(() => calls.push("two"));
    assert.deepEqual(calls, ["idle"]);
    await whenDurable(log);
    assert.deepEqual(calls, ["idle", "one", "two"]);
    await log.close();
  });
});

Deno.test("DurableLog.whenDurable() never calls back once a write has failed", async () => {
  await inFolder(async (folder) => {
    const { promise: failure, resolve } = Promise.withResolvers<ZesterError>();
    const log = await openLog(folder, { random: systemRandom, onFailure: resolve });
    log.replay(() => {});
    log.write(stored(1));
    await log.close(); // from here on every write fails, as on a broken disk
    let acknowledged = false;
    log.write(stored(2));
    log.whenDurable(() => acknowledged = true);
    assert.equal((await failure).code, "io_failed");
    log.whenDurable(() => acknowledged = true);
    await new Promise((resolve) => queueMicrotask(() => resolve(undefined)));
    assert.equal(acknowledged, false);
  });
});

Deno.test("DurableLog.compact() replaces a log that is mostly dead, and keeps any other", async () => {
  await inFolder(async (folder) => {
    await writeCommits(folder, 50);
    const before = (await Deno.stat(join(folder, "broker.log"))).size;
    const log = await open(folder);
    log.replay(() => {});
    const most = Array.from({ length: 40 }, (_, index) => stored(index + 1));
    assert.equal(log.compact(() => most), false);
    assert.equal((await Deno.stat(join(folder, "broker.log"))).size, before);
    assert.equal(log.compact(() => [stored(49), stored(50)]), true);
    log.write(stored(51));
    await log.close();
    assert.deepEqual((await readBack(folder)).sequences, [49, 50, 51]);
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assert.deepEqual(names, ["broker.log", "lock"]);
  });
});

Deno.test("openLog() ignores what a crash left of a compaction", async () => {
  await inFolder(async (folder) => {
    await writeCommits(folder, 2);
    await Deno.writeTextFile(join(folder, "broker.log.new"), "half a log");
    assert.deepEqual((await readBack(folder)).sequences, [1, 2]);
  });
});
