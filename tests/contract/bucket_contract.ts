/** What every bucket must do, whatever stores it. Reads that must not be stale ask the leader. */
import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import type { Bucket, WatchEvent, WriteResult } from "../../core/ports.ts";
import {
  bucketSpec,
  bytes,
  type Client,
  eventually,
  fresh,
  type TargetMaker,
  text,
} from "./target.ts";

type Step = [name: string, run: (a: Client, b: Client) => Promise<void>];

/** Runs the suite on one target, with two clients on it. */
export function bucketContract({ name, ignore = false, make }: TargetMaker): void {
  Deno.test({
    name: `bucket contract on ${name}`,
    ignore,
    async fn(t) {
      const target = await make();
      try {
        const a = await target.connect("alice");
        const b = await target.connect("bob");
        for (const [step, run] of STEPS) await t.step(step, () => run(a, b));
        await a.close();
        await b.close();
      } finally {
        await target.close();
      }
    },
  });
}

const names = new WeakMap<Bucket, string>();

/** The port has no way to ask a bucket for its name, so the second client gets it from here. */
function nameOf(bucket: Bucket): string {
  return names.get(bucket)!;
}

async function newBucket(
  client: Client,
  change: Parameters<typeof bucketSpec>[0] = {},
): Promise<Bucket> {
  const spec = bucketSpec(change);
  await client.admin.ensureBucket(spec);
  const bucket = client.store.bucket(spec.name);
  names.set(bucket, spec.name);
  return bucket;
}

function revisionOf(result: WriteResult): bigint {
  assert.equal(result.outcome, "ok", Deno.inspect(result));
  return (result as { revision: bigint }).revision;
}

async function leaderText(bucket: Bucket, key: string): Promise<string | null> {
  const entry = await bucket.get(key, { leader: true });
  return entry === null ? null : text(entry.value);
}

/** The kind and value of each event of a watch, live. */
async function watched(
  bucket: Bucket,
  filter: string,
): Promise<{ log: string[]; stop: () => Promise<void> }> {
  const log: string[] = [];
  const watch = await bucket.watch(filter, (event) => log.push(describe(event)));
  return {
    log,
    stop: async () => {
      watch.stop();
      assert.equal(await watch.ended, undefined);
    },
  };
}

function describe(event: WatchEvent): string {
  if (event.kind === "put") return `${event.entry.key}=${text(event.entry.value)}`;
  return event.kind === "delete" ? `-${event.key}` : "replayed";
}

const STEPS: Step[] = [
  ["get() gives what put() wrote, with its revision and time", async (a, b) => {
    const bucket = await newBucket(a);
    const before = Date.now();
    const revision = revisionOf(await bucket.put("k.1", bytes("one")));
    const other = b.store.bucket(nameOf(bucket));
    const entry = await eventually("the value", () => other.get("k.1"), (each) => each !== null);
    assert.equal(text(entry!.value), "one");
    assert.equal(entry!.key, "k.1");
    assert.equal(entry!.revision, revision);
    assert.ok(Math.abs(entry!.createdMs - before) < 60_000, "the store's clock");
    const leader = await bucket.get("k.1", { leader: true });
    assert.deepEqual(leader, entry);
  }],
  ["get() gives null where nothing is, was deleted, or lies below", async (a) => {
    const bucket = await newBucket(a);
    assert.equal(await bucket.get("none"), null);
    assert.equal(await bucket.get("none", { leader: true }), null);
    revisionOf(await bucket.put("a.b", bytes("x")));
    assert.equal(await bucket.get("a", { leader: true }), null);
    revisionOf(await bucket.delete("a.b"));
    assert.equal(await bucket.get("a.b", { leader: true }), null);
    await eventually("the deletion", () => bucket.get("a.b"), (each) => each === null);
  }],
  ["create() writes only where no value is, deleted keys included", async (a) => {
    const bucket = await newBucket(a);
    const first = revisionOf(await bucket.create("k", bytes("1")));
    assert.deepEqual(await bucket.create("k", bytes("2")), { outcome: "conflict" });
    assert.equal(await leaderText(bucket, "k"), "1");
    revisionOf(await bucket.delete("k"));
    const second = revisionOf(await bucket.create("k", bytes("3")));
    assert.ok(second > first);
    assert.equal(await leaderText(bucket, "k"), "3");
    assert.deepEqual(await bucket.create("k", bytes("4")), { outcome: "conflict" });
  }],
  ["update() writes only over exactly the revision named", async (a) => {
    const bucket = await newBucket(a);
    const first = revisionOf(await bucket.put("k", bytes("1")));
    const second = revisionOf(await bucket.update("k", bytes("2"), first));
    assert.deepEqual(await bucket.update("k", bytes("x"), first), { outcome: "conflict" });
    assert.deepEqual(await bucket.update("k", bytes("x"), second + 1n), { outcome: "conflict" });
    assert.deepEqual(await bucket.update("other", bytes("x"), second), { outcome: "conflict" });
    assert.equal(await leaderText(bucket, "k"), "2");
  }],
  ["delete() with a revision deletes only that one", async (a) => {
    const bucket = await newBucket(a);
    const first = revisionOf(await bucket.put("k", bytes("1")));
    const second = revisionOf(await bucket.put("k", bytes("2")));
    assert.deepEqual(await bucket.delete("k", { revision: first }), { outcome: "conflict" });
    assert.equal(await leaderText(bucket, "k"), "2");
    revisionOf(await bucket.delete("k", { revision: second }));
    assert.equal(await leaderText(bucket, "k"), null);
  }],
  ["create() by eight writers at once has one winner", async (a, b) => {
    const bucket = await newBucket(a);
    const name = nameOf(bucket);
    const buckets = Array.from({ length: 8 }, (_, at) => (at % 2 ? a : b).store.bucket(name));
    for (let round = 0; round < 5; round++) {
      const key = `race.${round}`;
      const results = await Promise.all(
        buckets.map((each, at) => each.create(key, bytes(`w${at}`))),
      );
      const winners = results.flatMap((each, at) => each.outcome === "ok" ? [at] : []);
      assert.equal(winners.length, 1, Deno.inspect(results));
      assert.equal(results.filter((each) => each.outcome === "conflict").length, 7);
      assert.equal(await leaderText(bucket, key), `w${winners[0]}`);
    }
  }],
  ["update() by eight writers that count loses no increment", async (a, b) => {
    const bucket = await newBucket(a);
    const name = nameOf(bucket);
    revisionOf(await bucket.create("n", bytes("0")));
    const count = async (client: Client) => {
      const own = client.store.bucket(name);
      for (let done = 0; done < 5;) {
        const { value, revision } = (await own.get("n", { leader: true }))!;
        const result = await own.update("n", bytes(String(Number(text(value)) + 1)), revision);
        if (result.outcome === "ok") done++;
        else assert.equal(result.outcome, "conflict", Deno.inspect(result));
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, at) => count(at % 2 ? a : b)));
    assert.equal(await leaderText(bucket, "n"), "40");
  }],
  ["history() gives the last revisions, oldest first, without deletions", async (a) => {
    const bucket = await newBucket(a, { history: 3 });
    for (const each of ["1", "2", "3", "4"]) revisionOf(await bucket.put("k", bytes(each)));
    revisionOf(await bucket.put("other", bytes("x")));
    const values = async () => (await bucket.history("k")).map((each) => text(each.value)).join();
    await eventually("three values", values, (each) => each === "2,3,4");
    revisionOf(await bucket.delete("k"));
    await eventually("a deletion takes a place", values, (each) => each === "3,4");
    assert.deepEqual(await bucket.history("none"), []);
    const revisions = (await bucket.history("k")).map((each) => each.revision);
    assert.deepEqual(revisions, [3n, 4n]);
  }],
  ["values expire after the bucket's TTL, and create() works again then", async (a) => {
    const bucket = await newBucket(a, { ttlMs: 1_000 });
    revisionOf(await bucket.create("k", bytes("1")));
    assert.deepEqual(await bucket.create("k", bytes("2")), { outcome: "conflict" });
    assert.equal(await leaderText(bucket, "k"), "1");
    await eventually("the expiry", () => leaderText(bucket, "k"), (each) => each === null);
    await eventually("no key is left", () => bucket.keys(), (each) => each.length === 0);
    revisionOf(await bucket.create("k", bytes("3")));
  }],
  ["keys() lists by prefix of whole tokens, sorted, without deleted ones", async (a) => {
    const bucket = await newBucket(a, { history: 5 });
    assert.deepEqual(await bucket.keys(), []);
    const names = [
      "active.b",
      "active.a",
      "active",
      "activex.a",
      "active.a.deep",
      "z/1=_-",
      "gone",
    ];
    for (const each of names) revisionOf(await bucket.put(each, bytes("x")));
    revisionOf(await bucket.put("active.a", bytes("again")));
    revisionOf(await bucket.delete("gone"));
    const all = ["active", "active.a", "active.a.deep", "active.b", "activex.a", "z/1=_-"];
    await a.settle?.(`KV_${nameOf(bucket)}`);
    assert.deepEqual(await bucket.keys(), all);
    assert.deepEqual(await bucket.keys("active"), ["active.a", "active.a.deep", "active.b"]);
    assert.deepEqual(await bucket.keys("none"), []);
  }],
  ["keys() lists more keys than one request brings", async (a) => {
    const bucket = await newBucket(a);
    const names = Array.from({ length: 600 }, (_, at) => `k.${String(at).padStart(4, "0")}`);
    for (let at = 0; at < names.length; at += 100) {
      await Promise.all(names.slice(at, at + 100).map((each) => bucket.put(each, bytes("x"))));
    }
    const listed = await eventually(
      "all keys",
      () => bucket.keys("k"),
      (each) => each.length >= 600,
    );
    assert.deepEqual(listed, names);
  }],
  ["watch() gives current values, the marker, then changes", async (a, b) => {
    const bucket = await newBucket(a, { history: 5 });
    revisionOf(await bucket.put("x.1", bytes("old")));
    revisionOf(await bucket.put("x.1", bytes("new")));
    revisionOf(await bucket.put("y.1", bytes("no")));
    revisionOf(await bucket.put("x.2", bytes("two")));
    await a.settle?.(`KV_${nameOf(bucket)}`);
    const { log, stop } = await watched(b.store.bucket(nameOf(bucket)), "x.>");
    await eventually("the marker", () => log.length, (n) => n >= 3);
    assert.deepEqual(log, ["x.1=new", "x.2=two", "replayed"]);
    revisionOf(await bucket.put("x.3", bytes("three")));
    revisionOf(await bucket.put("y.2", bytes("no")));
    revisionOf(await bucket.delete("x.1"));
    await eventually("the changes", () => log.length, (n) => n >= 5);
    assert.deepEqual(log.slice(3), ["x.3=three", "-x.1"]);
    await stop();
    revisionOf(await bucket.put("x.4", bytes("after")));
    assert.equal(log.length, 5);
  }],
  ["watch() of nothing gives the marker at once; what was deleted before is nothing", async (a) => {
    const bucket = await newBucket(a);
    const empty = await watched(bucket, ">");
    await eventually("the marker", () => empty.log.length, (n) => n === 1);
    assert.deepEqual(empty.log, ["replayed"]);
    await empty.stop();
    revisionOf(await bucket.put("k", bytes("x")));
    revisionOf(await bucket.delete("k"));
    await a.settle?.(`KV_${nameOf(bucket)}`);
    const deleted = await watched(bucket, "*");
    await eventually("the marker", () => deleted.log.length, (n) => n === 1);
    revisionOf(await bucket.put("k", bytes("y")));
    await eventually("the value", () => deleted.log.length, (n) => n === 2);
    revisionOf(await bucket.delete("k"));
    await eventually("the changes", () => deleted.log.length, (n) => n === 3);
    assert.deepEqual(deleted.log, ["replayed", "k=y", "-k"]);
    await deleted.stop();
  }],
  ["watch() keeps the order of many changes", async (a) => {
    const bucket = await newBucket(a);
    const { log, stop } = await watched(bucket, ">");
    const values = Array.from({ length: 700 }, (_, at) => at);
    for (const each of values) {
      void bucket.put(`k.${each}`, bytes(String(each)));
    }
    await eventually("all changes", () => log.length, (n) => n === 701);
    assert.deepEqual(log, ["replayed", ...values.map((each) => `k.${each}=${each}`)]);
    await stop();
  }],
  ["put() refuses values above the bucket's limit", async (a) => {
    const bucket = await newBucket(a, { valueBytesMax: 100 });
    revisionOf(await bucket.put("k", new Uint8Array(50)));
    await assert.rejects(
      bucket.put("k", new Uint8Array(200)),
      (error) => isZesterError(error, "payload_too_large"),
    );
    assert.equal((await bucket.get("k", { leader: true }))!.value.length, 50);
  }],
  ["put() refuses when the bucket is full instead of forgetting keys", async (a) => {
    const bucket = await newBucket(a, { bytesMax: 4_096 });
    revisionOf(await bucket.put("first", new Uint8Array(1_000)));
    await assert.rejects(
      async () => {
        for (let at = 0; at < 10; at++) await bucket.put(`k.${at}`, new Uint8Array(1_000));
      },
      (error) => isZesterError(error, "store_full"),
    );
    assert.notEqual(await bucket.get("first", { leader: true }), null);
  }],
  ["every call refuses what is no key", async (a) => {
    const bucket = await newBucket(a);
    const isRefusal = (error: unknown) => isZesterError(error, "bad_subject");
    for (const key of ["", ".a", "a.", "a..b", "a b", "*", "a.>", "ä", "a\r\nb"]) {
      await assert.rejects(bucket.put(key, bytes("x")), isRefusal, `put ${key}`);
      await assert.rejects(bucket.get(key), isRefusal, `get ${key}`);
      await assert.rejects(bucket.create(key, bytes("x")), isRefusal, `create ${key}`);
      await assert.rejects(bucket.delete(key), isRefusal, `delete ${key}`);
    }
  }],
  ["ensureBucket() may be called again, keeps what is stored, takes new settings", async (a) => {
    const spec = bucketSpec({ history: 1 });
    await a.admin.ensureBucket(spec);
    const bucket = a.store.bucket(spec.name);
    revisionOf(await bucket.put("k", bytes("1")));
    await a.admin.ensureBucket(spec);
    await a.admin.ensureBucket({ ...spec, history: 4 });
    revisionOf(await bucket.put("k", bytes("2")));
    const values = async () => (await bucket.history("k")).map((each) => text(each.value)).join();
    await eventually("both values", values, (each) => each === "1,2");
  }],
  ["a bucket that does not exist is an error, not an empty one", async (a) => {
    const bucket = a.store.bucket(fresh("missing"));
    const isMissing = (error: unknown) =>
      isZesterError(error, "not_found") || isZesterError(error, "no_responders");
    await assert.rejects(bucket.get("k"), isMissing);
    await assert.rejects(bucket.get("k", { leader: true }), isMissing);
    await assert.rejects(bucket.put("k", bytes("x")), isMissing);
    await assert.rejects(bucket.keys(), isMissing);
    await assert.rejects(bucket.watch(">", () => {}), isMissing);
  }],
];
