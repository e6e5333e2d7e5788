import assert from "node:assert/strict";
import fc from "fast-check";
import { isZesterError } from "../errors.ts";
import { decode as decodeBytes, encode as encodeBytes } from "../msgpack.ts";
import { ackMessage } from "./ack.ts";
import { activeJobMessage } from "./active_job.ts";
import { enrollmentMessage } from "./enrollment.ts";
import { eventMessage } from "./event.ts";
import {
  decodeExecRequest,
  encodeExecRequest,
  execRequestMessage,
  execResponseMessage,
} from "./exec.ts";
import { factsMessage } from "./facts.ts";
import { decodeFollow, encodeFollow, type FollowEvent } from "./follow.ts";
import { masterHeartbeatMessage, peelHeartbeatMessage } from "./heartbeat.ts";
import { decodeJob, encodeJob, isTerminal, type Job, JOB_STATUS, jobMessage } from "./job.ts";
import { jobEventMessage } from "./job_event.ts";
import { noticeMessage } from "./notice.ts";
import { decodeReturn, returnMessage } from "./return.ts";
import { scheduledResultMessage } from "./scheduled_result.ts";
import { PROTOCOL_VERSION } from "./version.ts";

const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";
const SECOND = new Date(1_507_608_047_000);

/** The least that a Job may have on the wire. */
const JOB_WIRE = {
  jid: JID,
  function: "test.ping",
  args: null,
  targets: null,
  timeout: 0,
  status: "running",
  created: SECOND,
  updated: SECOND,
};
const RETURN_WIRE = {
  jid: JID,
  peel_id: "web-01",
  success: true,
  return_data: null,
  duration: 0,
  timestamp: SECOND,
};
const REQUEST_WIRE = { jid: JID, module: "test.ping" };

function jobOf(change: Record<string, unknown>): Job {
  return decodeJob(encodeBytes({ ...JOB_WIRE, ...change }));
}

const messages = [
  ackMessage,
  activeJobMessage,
  enrollmentMessage,
  eventMessage,
  execRequestMessage,
  execResponseMessage,
  factsMessage,
  jobEventMessage,
  jobMessage,
  masterHeartbeatMessage,
  noticeMessage,
  peelHeartbeatMessage,
  returnMessage,
  scheduledResultMessage,
];

for (const each of messages) {
  Deno.test(`decode() of ${each.name} names the message and the key that is missing`, () => {
    assert.throws(
      () => each.decode(encodeBytes({})),
      (error) =>
        isZesterError(error, "decode_failed") &&
        new RegExp(`^${each.name}: key "[a-z_]+" is missing$`).test(error.message),
    );
  });

  Deno.test(`decode() of ${each.name} refuses what is not a map`, () => {
    for (const value of [null, 1, "x", [], [{}], SECOND, new Uint8Array(3)]) {
      assert.throws(
        () => each.decode(encodeBytes(value)),
        (error) => isZesterError(error, "decode_failed") && error.message.startsWith(each.name),
      );
    }
  });

  Deno.test(`decode() of ${each.name} answers any value under its keys with a message or an error`, () => {
    const keys = Object.values(each.fields).map(({ key }) => key);
    const value = fc.oneof(
      fc.anything({
        maxDepth: 2,
        values: [fc.string(), fc.integer(), fc.boolean(), fc.constant(null)],
      }),
      fc.constantFrom(JID, "web-01", 1, 2 ** 40, 0n, SECOND, "pending", "running", true, 1.5, -1),
    );
    fc.assert(
      fc.property(fc.tuple(...keys.map(() => value)), (values) => {
        const wire = Object.fromEntries(keys.map((key, index) => [key, values[index]]));
        try {
          each.decode(encodeBytes(wire));
        } catch (error) {
          assert(isZesterError(error), `${error}`);
        }
      }),
      { numRuns: 200 },
    );
  });
}

Deno.test("decode() reads nil, which Go writes for empty lists and maps, as empty", () => {
  const job = jobOf({ metadata: null, offline_at_dispatch: null, user: null, epoch: null });
  assert.deepEqual(job.args, {});
  assert.deepEqual(job.targets, []);
  assert.equal(job.epoch, 0n);
  assert.equal("metadata" in job || "offlineAtDispatch" in job || "user" in job, false);
  assert.equal(decodeReturn(encodeBytes(RETURN_WIRE)).returnData, null);
  assert.deepEqual(decodeExecRequest(encodeBytes(REQUEST_WIRE)).args, {});
});

Deno.test("decode() gives each message an empty map of its own", () => {
  const [first, second] = [jobOf({}), jobOf({})];
  first.args["left"] = "behind";
  assert.deepEqual(second.args, {});
});

Deno.test("decode() reads a version that was never set as 0, and encode() writes ours", () => {
  assert.equal(jobOf({}).v, 0);
  assert.equal(jobOf({ v: 0 }).v, 0);
  assert.equal(jobOf({ v: 7 }).v, 7);
  const wire = decodeBytes(encodeJob(jobOf({ v: 7 })), "Job") as Record<string, unknown>;
  assert.equal(wire["v"], PROTOCOL_VERSION);
});

const refusedJobs: [key: string, value: unknown][] = [
  ["jid", "not-a-jid"],
  ["jid", `${JID}.x`],
  ["jid", 5],
  ["function", ""],
  ["args", []],
  ["args", "x"],
  ["targets", ["_master"]],
  ["targets", ["web.01"]],
  ["targets", "web-01"],
  ["timeout", -1],
  ["timeout", "60s"],
  ["timeout", 2n ** 64n - 1n],
  ["status", "done"],
  ["status", "constructor"],
  ["created", 1_507_608_047],
  ["owner", "a b"],
  ["epoch", -1],
  ["epoch", 1.5],
  ["epoch", "1"],
  ["deadline", 0],
  ["reclaim_count", -1],
  ["reclaim_count", 2n ** 60n],
  ["metadata", { a: 1 }],
  ["v", "1"],
];

for (const [key, value] of refusedJobs) {
  Deno.test(`decodeJob() refuses ${key} = ${typeof value} ${JSON.stringify(`${value}`)} by name`, () => {
    assert.throws(
      () => jobOf({ [key]: value }),
      (error) =>
        isZesterError(error, "decode_failed") && error.message.startsWith(`Job: key "${key}`),
    );
  });
}

Deno.test("decode() names the place of what is wrong deep inside", () => {
  const result = { name: "a", changed: false, diff: "", duration: 0, details: {} };
  const data = {
    peel_id: "web-01",
    jid: JID,
    success: true,
    results: [result, { ...result, changed: 1 }],
  };
  assert.throws(
    () => decodeReturn(encodeBytes({ ...RETURN_WIRE, return_data: data })),
    (error) =>
      isZesterError(error) && error.message.includes('key "return_data.results.1.changed"'),
  );
});

Deno.test("decode() stops at the first wrong item of a hostile list, within 50 ms", () => {
  const payload = encodeBytes({ kind: "returns", jid: JID, returns: Array(190_000).fill({}) });
  const took = [1, 2, 3].map(() => {
    const start = performance.now();
    assert.throws(
      () => decodeFollow(payload),
      (error) => isZesterError(error) && error.message.includes('key "returns.0.jid" is missing'),
    );
    return performance.now() - start;
  });
  assert(Math.min(...took) < 50, `${took}`);
});

Deno.test("encode() names the key on the wire and what is wrong with it, never that it is missing", () => {
  assert.throws(
    () => ackMessage.encode({ jid: JID, peelId: "_x", timestampMs: 0 }),
    (error) => isZesterError(error) && error.message === 'Ack: key "peel_id": is not a peel id',
  );
  assert.throws(
    () => encodeJob({ ...jobOf({}), targets: ["a", "b.c"] }),
    (error) => isZesterError(error) && error.message === 'Job: key "targets.1": is not a peel id',
  );
});

Deno.test("decode() keeps values out of its errors, because they may be secret", () => {
  for (const key of ["jid", "function", "status", "timeout", "owner"]) {
    assert.throws(
      () => jobOf({ [key]: "hunter2 hunter2", args: "hunter2" }),
      (error) => isZesterError(error) && !error.message.includes("hunter2"),
    );
  }
});

Deno.test("encodeJob() refuses what decodeJob() would refuse", () => {
  const job = jobOf({});
  const wrong: Partial<Job>[] = [
    { jid: "x" },
    { targets: ["a.b"] },
    { timeoutMs: -1 },
    { timeoutMs: 1e300 },
    { timeoutMs: Number.NaN },
    { createdMs: Number.NaN },
    { createdMs: 1e300 },
    { epoch: -1n },
    { epoch: 2n ** 64n },
  ];
  for (const change of wrong) {
    assert.throws(
      () => encodeJob({ ...job, ...change }),
      (error) => isZesterError(error, "encode_failed") && error.message.startsWith("Job: "),
    );
  }
});

Deno.test("encodeExecRequest() and decodeExecRequest() lose nothing of any epoch", () => {
  const edges = [0n, 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n + 1n, 2n ** 60n + 1n, 2n ** 64n - 1n];
  const epochs = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
  fc.assert(fc.property(epochs, (epoch) => {
    const request = { v: 1, jid: JID, module: "test.ping", id: "", args: {}, epoch };
    assert.deepEqual(decodeExecRequest(encodeExecRequest(request)), request);
  }));
});

Deno.test("encodeJob() and decodeJob() keep durations to the microsecond and times to the millisecond", () => {
  const microseconds = fc.nat({ max: 2 ** 31 - 1 });
  const times = fc.integer({ min: -8.64e15 + 1000, max: 8.64e15 - 1000 });
  fc.assert(fc.property(microseconds, times, (duration, createdMs) => {
    const job = { ...jobOf({}), timeoutMs: duration / 1000, createdMs, deadlineMs: createdMs };
    assert.deepEqual(decodeJob(encodeJob(job)), { ...job, v: PROTOCOL_VERSION });
  }));
});

Deno.test("encodeJob() leaves out what is empty or zero, but not a deadline of zero", () => {
  const job: Job = {
    ...jobOf({}),
    user: "",
    epoch: 0n,
    reclaimCount: 0,
    offlineAtDispatch: [],
    metadata: {},
    deadlineMs: 0,
  };
  const keys = Object.keys(decodeBytes(encodeJob(job), "Job") as object);
  const expected = "args created deadline function jid status targets timeout updated v".split(" ");
  assert.deepEqual(keys.sort(), expected);
});

Deno.test("decodeFollow() refuses a kind that it does not know, and one that is missing", () => {
  const wires: [wire: unknown, found: RegExp][] = [
    [{ kind: "later", jid: JID }, /^Follow: key "kind" is "later"$/],
    [{ kind: "constructor" }, /^Follow: key "kind" is "constructor"$/],
    [{ jid: JID }, /^Follow: key "kind" is missing$/],
    [[], /^Follow: key "kind" is missing$/],
    [{ kind: "done", jid: JID }, /^Follow done: key "status" is missing$/],
  ];
  for (const [wire, found] of wires) {
    assert.throws(
      () => decodeFollow(encodeBytes(wire)),
      (error) => isZesterError(error, "decode_failed") && found.test(error.message),
    );
  }
});

Deno.test("encodeFollow() refuses a kind that it does not know", () => {
  const event = { kind: "later", jid: JID } as unknown as FollowEvent;
  assert.throws(() => encodeFollow(event), (error) => isZesterError(error, "encode_failed"));
});

Deno.test("isTerminal() follows the table of states", () => {
  const ended = Object.keys(JOB_STATUS).filter((status) =>
    isTerminal(status as keyof typeof JOB_STATUS)
  );
  assert.deepEqual(ended, ["complete", "partial", "timeout", "failed", "canceled", "not_sent"]);
});
