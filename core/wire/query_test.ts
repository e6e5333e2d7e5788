import assert from "node:assert/strict";
import { decode, encode } from "../msgpack.ts";
import { isZesterError } from "../errors.ts";
import { decodeJobRequest, decodeQuery, decodeReply, encodeQuery, encodeReply } from "./query.ts";

const JID = "2hPx1FNsSgJMqVn5bLSTXeBQMpO";
const NOW = new Date(1_000);

Deno.test("encodeQuery() writes these keys, and leaves out what was not asked", () => {
  const asked = { jid: "2hP", limit: 5, after: "x", failed: true, user: "bob", sinceMs: 1_000 };
  assert.deepEqual(decode(encodeQuery({ ...asked, function: "test.ping", peel: "a" }), "Query"), {
    v: 1,
    jid: "2hP",
    peel: "a",
    limit: 5,
    after: "x",
    failed: true,
    function: "test.ping",
    user: "bob",
    since: NOW,
  });
  assert.deepEqual(decode(encodeQuery({}), "Query"), { v: 1 });
});

Deno.test("decodeQuery() and decodeJobRequest() refuse what is not one", () => {
  for (const wrong of [{ limit: -1 }, { jid: 7 }, { peel: "a.b" }, []]) {
    assert.throws(() => decodeQuery(encode(wrong)), (e) => isZesterError(e, "decode_failed"));
  }
  assert.throws(() => decodeJobRequest(encode({})), (e) => isZesterError(e, "decode_failed"));
});

Deno.test("encodeReply() writes these keys for a page of targets", () => {
  const target = { peel: "a", acked: true, late: false, reason: "no answer" };
  const reply = { kind: "job", master: "m1", nowMs: 1_000, jid: JID, next: "a" } as const;
  const bytes = encodeReply({ ...reply, targetCount: 2, targets: [target], canceledBy: "bob" });
  assert.deepEqual(decode(bytes, "Reply"), {
    v: 1,
    kind: "job",
    master: "m1",
    now: NOW,
    next: "a",
    jid: JID,
    target_count: 2,
    targets: [{ peel: "a", acked: true, reason: "no answer" }],
    canceled_by: "bob",
  });
  assert.deepEqual(decodeReply(bytes), {
    ...reply,
    v: 1,
    targetCount: 2,
    targets: [target],
    canceledBy: "bob",
  });
});

Deno.test("encodeReply() writes these keys for peels, masters and a refusal", () => {
  const page = { master: "m1", nowMs: 1_000 };
  const peels = [{ peel: "a", presence: "offline", lastSeenMs: 1_000, os: "debian" }] as const;
  assert.deepEqual(decode(encodeReply({ kind: "peels", ...page, peels }), "Reply"), {
    v: 1,
    kind: "peels",
    master: "m1",
    now: NOW,
    peels: [{ peel: "a", presence: "offline", last_seen: NOW, os: "debian" }],
  });
  const masters = [{ master: "m2", activeJobs: [JID], activeCount: 1, heartbeatMs: 1_000 }];
  assert.deepEqual(decode(encodeReply({ kind: "masters", ...page, masters }), "Reply"), {
    v: 1,
    kind: "masters",
    master: "m1",
    now: NOW,
    masters: [{ master: "m2", active_jobs: [JID], active_count: 1, heartbeat: NOW }],
  });
  const refusal = { kind: "refused", code: "job_unknown", message: "no job", fix: "look" } as const;
  assert.deepEqual(decode(encodeReply(refusal), "Reply"), { v: 1, ...refusal });
});
