import assert from "node:assert/strict";
import { JOB_TARGETS_INLINE_MAX } from "../../core/limits.ts";
import type { FollowEvent } from "../../core/wire/follow.ts";
import { tellAccepted } from "./accepted.ts";

const JOB = { jid: "2hPx1FNsSgJMqVn5bLSTXeBQMpO", user: "alice", offlineAtDispatch: ["b"] };

Deno.test("tellAccepted() says who is offline, of whom nobody can tell, and how many are enrolled", () => {
  const told: FollowEvent[] = [];
  const ports = {
    masterId: "m1",
    enrolled: () => 9,
    isUnheard: (peel: string) => peel !== "a",
  };
  tellAccepted(JOB, ["a", "b", "c"], ports, (event) => void told.push(event));
  assert.deepEqual(told, [{
    kind: "accepted",
    jid: JOB.jid,
    targets: ["a", "b", "c"],
    master: "m1",
    user: "alice",
    offline: ["b"],
    unheard: ["c"],
    enrolled: 9,
  }]);
});

Deno.test("tellAccepted() sends a long list in parts, each with the number of all", () => {
  const targets = Array.from({ length: JOB_TARGETS_INLINE_MAX + 1 }, (_, at) => `p-${at}`);
  const told: FollowEvent[] = [];
  tellAccepted(JOB, targets, { masterId: "m1" }, (event) => void told.push(event));
  const parts = told.map((event) =>
    event.kind === "accepted" && [event.targets.length, event.matched]
  );
  assert.deepEqual(parts, [[JOB_TARGETS_INLINE_MAX, targets.length], [1, targets.length]]);
});
