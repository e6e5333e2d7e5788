import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import { encodePublicNkey } from "../../core/crypto/nkey.ts";
import { newEnrollmentId } from "../../core/ids.ts";
import { memoryLog } from "../../core/log.ts";
import { WATCH_RETRY_MS } from "../../core/limits.ts";
import type { Bucket, Store } from "../../core/ports.ts";
import { encodeEnrollment, type EnrollmentRecord } from "../../core/wire/enrollment.ts";
import { testSigner } from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom, settle } from "../../tests/fakes/manual_clock.ts";
import { followEnrollments } from "./directory.ts";

interface Lab {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly bucket: Bucket;
  /** Stores a record and puts it in force. */
  readonly put: Put;
  inForce(peelId: string, id: string): Promise<unknown>;
}

async function setUp(): Promise<Lab> {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const { admin, store } = enginePorts(createEngine({ clock, random }), {
    role: "master",
    identity: "m",
    clock,
  });
  await admin.ensureBucket(buckets.enrollments);
  const bucket = store.bucket(buckets.enrollments.name);
  const inForce = (peelId: string, id: string) =>
    bucket.put(`peel.${peelId}`, new TextEncoder().encode(id));
  const put: Put = async (peelId, change = {}) => {
    const id = newEnrollmentId(clock.now(), random);
    const publicKey = encodePublicNkey("user", testSigner(peelId).publicKey);
    const record = {
      id,
      peelId,
      publicKey,
      curvePublicKey: "",
      state: "active" as const,
      generation: 1,
    };
    await bucket.put(
      id,
      encodeEnrollment({ ...record, metadata: {}, createdAtMs: 0, updatedAtMs: 0, ...change }),
    );
    await inForce(peelId, id);
    return id;
  };
  return { clock, store, bucket, put, inForce };
}

type Put = (peelId: string, change?: Partial<EnrollmentRecord>) => Promise<string>;

Deno.test("followEnrollments() knows who is enrolled, and only those in force", async () => {
  const { clock, store, bucket, put } = await setUp();
  await put("web-01");
  await put("web-02", { state: "revoked" });
  const log = memoryLog();
  const directory = followEnrollments(store, clock, log);
  assert.equal(directory.ready, false);
  await settle();
  assert.equal(directory.ready, true);
  assert.deepEqual(directory.ids(), ["web-01"]);
  await put("web-03");
  await bucket.put("enr-bad", Uint8Array.of(0xc1));
  await settle();
  assert.deepEqual(directory.ids(), ["web-01", "web-03"]);
  assert.equal(
    log.records.filter(({ message }) => message === "enrollment record ignored").length,
    1,
  );
  directory.stop();
});

Deno.test("followEnrollments() takes the record that the index names, and goes back to no older one when it is removed", async () => {
  const { clock, store, bucket, put, inForce } = await setUp();
  const first = await put("web-01", { generation: 1 });
  const second = await put("web-01", { generation: 2 });
  const directory = followEnrollments(store, clock, memoryLog());
  await settle();
  assert.equal(directory.key("web-01")?.generation, 2);
  assert.deepEqual(directory.ids(), ["web-01"]);
  await bucket.delete(second);
  await settle();
  assert.equal(directory.key("web-01"), undefined, "a deleted record falls back to nobody");
  assert.deepEqual(directory.ids(), []);
  const started = followEnrollments(store, clock, memoryLog());
  await settle();
  assert.equal(started.key("web-01"), undefined, "nor at a master that starts later");
  await inForce("web-01", first);
  await settle();
  assert.equal(directory.key("web-01")?.generation, 1, "unless somebody says so");
  assert.deepEqual(directory.ids(), ["web-01"]);
  await bucket.delete("peel.web-01");
  await settle();
  assert.equal(directory.key("web-01"), undefined);
  assert.deepEqual(directory.ids(), []);
  directory.stop();
  started.stop();
});

Deno.test("followEnrollments() does not go back when the record in force is revoked, and a request pushes out nobody", async () => {
  const { clock, store, put, inForce } = await setUp();
  await put("web-01", { generation: 1 });
  await put("web-01", { generation: 2, state: "revoked" });
  const active = await put("web-02", { generation: 1 });
  await put("web-02", { generation: 2, state: "pending" });
  await inForce("web-02", active);
  const directory = followEnrollments(store, clock, memoryLog());
  await settle();
  assert.equal(directory.key("web-01"), undefined);
  assert.deepEqual(directory.ids(), ["web-02"]);
  directory.stop();
});

const strange: [name: string, index: (id: string) => [peelId: string, id: string]][] = [
  ["names another peel's record", (id) => ["web-02", id]],
  ["names no record", () => ["web-02", "enr-none"]],
  ["names nothing", () => ["web-02", ""]],
  ["names a key that is no record", () => ["web-02", "peel.web-01"]],
];
for (const [name, index] of strange) {
  Deno.test(`followEnrollments() gives no key to a peel whose index ${name}`, async () => {
    const { clock, store, put, inForce } = await setUp();
    await inForce(...index(await put("web-01")));
    const directory = followEnrollments(store, clock, memoryLog());
    await settle();
    assert.deepEqual(directory.ids(), ["web-01"]);
    assert.equal(directory.key("web-02"), undefined);
    directory.stop();
  });
}

Deno.test("followEnrollments() takes no record that lies under another key", async () => {
  const { clock, store, bucket, put, inForce } = await setUp();
  const record = await bucket.get(await put("web-01"));
  const copied = newEnrollmentId(clock.now(), seededRandom(2));
  await bucket.put(copied, record?.value ?? new Uint8Array());
  await inForce("web-01", copied);
  const directory = followEnrollments(store, clock, memoryLog());
  await settle();
  assert.equal(directory.key("web-01"), undefined);
  directory.stop();
});

Deno.test("followEnrollments() begins again after a failed watch, at once when told of a connection", async () => {
  const { clock, store, put } = await setUp();
  await put("web-01");
  let failures = 2;
  const flaky: Store = {
    ...store,
    bucket: (name) =>
      failures-- > 0
        ? { ...store.bucket(name), watch: () => Promise.reject(new Error("gone")) }
        : store.bucket(name),
  };
  const directory = followEnrollments(flaky, clock, memoryLog());
  await settle();
  await clock.advanceSettling(WATCH_RETRY_MS);
  assert.equal(directory.ready, false, "the second try fails too, and the third waits longer");
  directory.connected();
  await settle();
  assert.deepEqual(directory.ids(), ["web-01"]);
  directory.stop();
});
