import assert from "node:assert/strict";
import { silenceReason, type SilenceView } from "./silence.ts";

const VIEW: SilenceView = {
  job: { status: "running" },
  peel: "web-01",
  acked: false,
  seen: { presence: "online" },
  nowMs: 3_600_000,
};
const OFFLINE = { presence: "offline", lastSeenMs: 3_600_000 - 180_000 } as const;
const BUSY = { jid: "2hPx1FNsSgJMqVn5bLSTXeBQMpO", function: "state.apply", user: "bob" };

const rows: [change: Partial<SilenceView>, want: string][] = [
  [{}, "no ack yet"],
  [{ job: { status: "partial" } }, "not delivered: no ack"],
  [{ job: { status: "claimed" } }, "not told yet"],
  [{ job: { status: "not_sent" } }, "not sent: its time was over before any peel was told"],
  [{ seen: OFFLINE }, "offline for 3m, not delivered"],
  [{ seen: { presence: "offline" } }, "offline, not delivered"],
  [
    { job: { status: "timeout", offlineAtDispatch: ["web-01"] } },
    "offline at dispatch, not delivered",
  ],
  [
    { job: { status: "timeout", offlineAtDispatch: ["web-02"] } },
    "not delivered: no ack",
  ],
  [{ acked: true }, "accepted the job, no answer yet"],
  [{ acked: true, job: { status: "timeout" } }, "accepted the job, then no answer in time"],
  [{ acked: true, seen: OFFLINE }, "accepted the job, then went offline for 3m"],
  [{ acked: true, busy: BUSY }, `busy with job ${BUSY.jid} (bob, state.apply)`],
];
for (const [change, want] of rows) {
  Deno.test(`silenceReason() says "${want}" for ${JSON.stringify(change)}`, () => {
    assert.equal(silenceReason({ ...VIEW, ...change }), want);
  });
}
