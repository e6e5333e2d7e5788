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

async function setUp(): Promise<{ clock: ManualClock; store: Store; bucket: Bucket; put: Put }> {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const { admin, store } = enginePorts(createEngine({ clock, random }), {
    role: "master",
    identity: "m",
    clock,
  });
  await admin.ensureBucket(buckets.enrollments);
  const bucket = store.bucket(buckets.enrollments.name);
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
    return id;
  };
  return { clock, store, bucket, put };
}

type Put = (peelId: string, change?: Partial<EnrollmentRecord>) => Promise<string>;

Deno.test("followEnrollments() knows who is enrolled, and only those in force", async () => {
  const { clock, store, bucket, put } = await setUp();
  await put("web-01");
  await put("web-02", { state: "revoked" });
  await bucket.put("peel.web-01", new Uint8Array());
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

Deno.test("followEnrollments() takes the highest generation of a peel, and goes back when it is removed", async () => {
  const { clock, store, bucket, put } = await setUp();
  await put("web-01", { generation: 2 });
  await put("web-01", { generation: 1 });
  const newest = await put("web-01", { generation: 3 });
  const directory = followEnrollments(store, clock, memoryLog());
  await settle();
  assert.equal(directory.key("web-01")?.generation, 3);
  await bucket.delete(newest);
  await settle();
  assert.equal(directory.key("web-01")?.generation, 2);
  directory.stop();
});

Deno.test("followEnrollments() does not go back to an older key when the newest is revoked, and a request pushes out nobody", async () => {
  const { clock, store, bucket, put } = await setUp();
  await put("web-01", { generation: 1 });
  await put("web-01", { generation: 2, state: "revoked" });
  await put("web-02", { generation: 1 });
  await put("web-02", { generation: 2, state: "pending" });
  const directory = followEnrollments(store, clock, memoryLog());
  await settle();
  assert.equal(directory.key("web-01"), undefined);
  assert.deepEqual(directory.ids(), ["web-02"]);
  const copied = (await bucket.keys()).find((key) => key.startsWith("enr-"));
  const record = await bucket.get(copied ?? "");
  await bucket.put(
    newEnrollmentId(clock.now(), seededRandom(2)),
    record?.value ?? new Uint8Array(),
  );
  await settle();
  assert.equal(directory.key("web-01"), undefined, "a record under another key is not a record");
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
