/** What must be there after the store has been stopped and started again. */
import assert from "node:assert/strict";
import {
  bucketSpec,
  bytes,
  eventually,
  streamSpec,
  take,
  type TargetMaker,
  text,
} from "./target.ts";

/** Runs on targets that can restart. */
export function restartContract({ name, ignore = false, make }: TargetMaker): void {
  Deno.test({
    name: `restart contract on ${name}: what was acknowledged is there after a restart`,
    ignore,
    async fn() {
      const target = await make();
      try {
        const before = await target.connect("alice");
        const bucket = bucketSpec({ history: 3 });
        const stream = streamSpec();
        const spec = { durable: "d", deliver: "all", ackWaitMs: 500, maxAckPending: 10 } as const;
        await before.admin.ensureBucket(bucket);
        await before.admin.ensureStream(stream);
        for (const each of ["1", "2"]) await before.store.bucket(bucket.name).put("k", bytes(each));
        await before.store.bucket(bucket.name).put("gone", bytes("x"));
        await before.store.bucket(bucket.name).delete("gone");
        const old = before.store.stream(stream.name);
        for (const each of ["a", "b", "c"]) {
          await old.append(`${stream.name}.x`, bytes(each), { messageId: `id-${each}` });
        }
        const [first] = await take(await old.consumer(spec), 2);
        await first!.ack();
        await before.close();

        await target.restart!();

        const after = await target.connect("alice");
        const again = after.store.bucket(bucket.name);
        const read = () => again.get("k", { leader: true });
        const entry = await eventually("the value", read, (each) => each !== null);
        assert.equal(text(entry!.value), "2");
        assert.equal(entry!.revision, 2n);
        assert.deepEqual(await again.keys(), ["k"]);
        assert.deepEqual((await again.history("k")).map((each) => text(each.value)), ["1", "2"]);
        const result = await again.update("k", bytes("3"), 2n);
        assert.deepEqual(result, { outcome: "ok", revision: 5n });

        const renewed = after.store.stream(stream.name);
        const repeat = await renewed.append(`${stream.name}.x`, bytes("c"), { messageId: "id-c" });
        assert.deepEqual(repeat, { outcome: "ok", sequence: 3n, duplicate: true });
        const consumer = await renewed.consumer(spec);
        const rest = await take(consumer, 2);
        assert.deepEqual(rest.map((each) => text(each.data)).sort(), ["b", "c"]);
        const b = rest.find((each) => text(each.data) === "b");
        assert.ok(b!.deliveries >= 2, "b was out when the store stopped");
        await after.close();
      } finally {
        await target.close();
      }
    },
  });
}
