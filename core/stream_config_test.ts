import assert from "node:assert/strict";
import { buckets, streams } from "./buckets.ts";
import { RETURN_BYTES_MAX, SIGNATURE_HEADER_LENGTH_MAX } from "./limits.ts";
import {
  bucketStreamConfig,
  bucketSubject,
  consumerConfig,
  durableConfig,
  nanos,
  streamConfig,
} from "./stream_config.ts";

const SECOND = 1_000_000_000;

Deno.test("bucketStreamConfig() refuses new writes when full and lets nobody remove values", () => {
  const config = bucketStreamConfig(buckets.leases, 3);
  assert.equal(config.name, "KV_leases");
  assert.deepEqual(config.subjects, ["$KV.leases.>"]);
  assert.deepEqual(
    [config.discard, config.deny_delete, config.deny_purge, config.allow_rollup_hdrs],
    ["new", true, true, false],
  );
  assert.equal(config.num_replicas, 3);
  assert.equal(config.max_msgs_per_subject, buckets.leases.history);
});

Deno.test("every bucket and stream has a duplicate window that its age allows", () => {
  const all = [
    ...Object.values(buckets).map((spec) => bucketStreamConfig(spec)),
    ...Object.values(streams).map((spec) => streamConfig(spec)),
  ];
  for (const config of all) {
    assert.ok(config.duplicate_window > 0, config.name);
    if (config.max_age > 0) assert.ok(config.duplicate_window <= config.max_age, config.name);
    assert.ok(Number.isSafeInteger(config.max_age), config.name);
  }
});

Deno.test("streamConfig() drops the oldest when full", () => {
  const config = streamConfig(streams.events);
  assert.deepEqual([config.discard, config.retention], ["old", "limits"]);
  assert.equal(config.max_age, nanos(streams.events.maxAgeMs));
  assert.equal(config.max_msgs, streams.events.messagesMax);
});

Deno.test("streamConfig() bounds what one peel can store about one job, and each message", () => {
  const config = streamConfig(streams.jobEvents);
  assert.equal(config.discard, "old", "a full stream must not keep everybody from dispatching");
  assert.equal(config.max_msgs_per_subject, streams.jobEvents.subjectMessagesMax);
  assert.equal(config.max_msg_size, streams.jobEvents.messageBytesMax);
  assert.ok(RETURN_BYTES_MAX + SIGNATURE_HEADER_LENGTH_MAX < config.max_msg_size);
});

Deno.test("durableConfig() and consumerConfig() ask for the same durable in the same words", () => {
  const durable = streams.events.durables[0];
  const { name, filter, deliver, ackWaitMs, maxAckPending } = durable;
  assert.deepEqual(
    consumerConfig({ durable: name, filter, deliver, ackWaitMs, maxAckPending }),
    durableConfig(durable),
  );
});

Deno.test("consumerConfig() of an unnamed reader says where to begin and when to go", () => {
  const config = consumerConfig({
    deliver: { fromSequence: 7n },
    ackWaitMs: 1_000,
    maxAckPending: 5,
    inactiveMs: 2_000,
  });
  assert.deepEqual([config.deliver_policy, config.opt_start_seq], ["by_start_sequence", 7]);
  assert.equal(config.inactive_threshold, 2 * SECOND);
  assert.equal(config.durable_name, undefined);
});

Deno.test("consumerConfig() of the last per subject always names a filter", () => {
  const spec = { deliver: "lastPerSubject", ackWaitMs: 1_000, maxAckPending: 5 } as const;
  assert.equal(consumerConfig(spec).filter_subject, ">");
  assert.equal(consumerConfig({ ...spec, filter: "a.*" }).filter_subject, "a.*");
});

Deno.test("bucketSubject() puts a key below its bucket", () => {
  assert.equal(bucketSubject("jobs", "active.j1"), "$KV.jobs.active.j1");
});
