import assert from "node:assert/strict";
import fc from "fast-check";
import { ZesterError } from "../../core/errors.ts";
import {
  LEASE_RELEASE_MS,
  LEASE_RENEW_MS,
  LEASE_TTL_MS,
  STORE_TIMEOUT_MS,
} from "../../core/limits.ts";
import {
  type Answer,
  begin,
  decodeLease,
  encodeLease,
  type LeaseAction,
  type LeaseEvent,
  type LeaseState,
  next,
  type Sight,
  tenureOf,
} from "./plan.ts";

const T0 = 1_000_000;
const moment = (nowMs: number, chance = 0) => ({ nowMs, chance });
const unknown: Answer = { outcome: "unknown", cause: new ZesterError("timeout", "no answer") };
const ok = (revision: bigint): Answer => ({ outcome: "ok", revision });

const resting = begin("m1", "run");
const creating = next(resting, { on: "due", ...moment(T0) }).state;
const looking = answered(creating, unknown, T0 + STORE_TIMEOUT_MS);
const held = answered(creating, ok(7n), T0 + 10);
const renewing = next(held, { on: "due", ...moment(T0 + LEASE_RENEW_MS) }).state;
const renewed = answered(renewing, ok(8n), T0 + LEASE_RENEW_MS + 10);
const releasing = next(held, { on: "stop", ...moment(T0 + 20) }).state;
const stoppingCreate = next(creating, { on: "stop", ...moment(T0 + 20) }).state;
const stoppingRenewal = next(renewing, { on: "stop", ...moment(T0 + LEASE_RENEW_MS) }).state;
const stoppingLook = next(looking, { on: "stop", ...moment(T0 + STORE_TIMEOUT_MS) }).state;
const ended = next(resting, { on: "stop", ...moment(T0) }).state;
const own: Sight = { found: "value", value: { holder: "m1", nonce: "run-1" }, revision: 9n };
const notOwn: Sight = { found: "value", value: { holder: "m1", nonce: "other-1" }, revision: 9n };
const nobody: Sight = { found: "nothing" };
const blind: Sight = { found: "failed", message: "no answer" };

function answered(state: LeaseState, answer: Answer, nowMs: number): LeaseState {
  return next(state, written(state, answer, nowMs)).state;
}

function written(state: LeaseState, answer: Answer, nowMs: number): LeaseEvent {
  return { on: "written", attempt: state.attempt, answer, ...moment(nowMs) };
}

function seen(state: LeaseState, sight: Sight, nowMs: number): LeaseEvent {
  return { on: "seen", attempt: state.attempt, sight, ...moment(nowMs) };
}

const due = (nowMs: number): LeaseEvent => ({ on: "due", ...moment(nowMs) });
const stop = (nowMs: number): LeaseEvent => ({ on: "stop", ...moment(nowMs) });

const soon = T0 + 100;
const late = T0 + LEASE_TTL_MS;

const cases: [
  name: string,
  state: LeaseState,
  event: LeaseEvent,
  want: LeaseAction["do"][],
  at: LeaseState["at"],
][] = [
  ["tries when it is time", resting, due(T0), ["create"], "creating"],
  [
    "holds what it created",
    creating,
    written(creating, ok(7n), soon),
    ["acquired", "wait"],
    "held",
  ],
  ["rests when another holds it", creating, written(creating, { outcome: "conflict" }, soon), [
    "wait",
  ], "resting"],
  [
    "rests when the store refuses",
    creating,
    written(creating, {
      outcome: "failed",
      message: "denied",
    }, soon),
    ["wait"],
    "resting",
  ],
  ["looks when a create's outcome is unknown", creating, written(creating, unknown, soon), [
    "look",
  ], "looking"],
  ["does not hold a create that was answered too late", creating, written(creating, ok(7n), late), [
    "wait",
  ], "resting"],
  ["holds when it sees its own nonce", looking, seen(looking, own, T0 + 6_000), [
    "acquired",
    "wait",
  ], "held"],
  ["does not hold a key of an earlier run of its own", looking, seen(looking, notOwn, T0 + 6_000), [
    "wait",
  ], "resting"],
  ["rests when its create is not there", looking, seen(looking, nobody, T0 + 6_000), [
    "wait",
  ], "resting"],
  ["does not hold its own nonce when that is a TTL old", looking, seen(looking, own, late), [
    "wait",
  ], "resting"],
  ["renews when it is time", held, due(T0 + LEASE_RENEW_MS), ["renew", "wait"], "renewing"],
  ["loses when it slept through the TTL", held, due(late), ["lost", "wait"], "resting"],
  ["goes on when renewed", renewing, written(renewing, ok(8n), T0 + 5_100), ["wait"], "held"],
  [
    "loses at once when a renewal is refused",
    renewing,
    written(renewing, {
      outcome: "conflict",
    }, T0 + 5_100),
    ["lost", "wait"],
    "resting",
  ],
  ["loses at once when a renewal's outcome is unknown", renewing, written(renewing, unknown, T0), [
    "lost",
    "wait",
  ], "resting"],
  [
    "loses at once when a renewal fails",
    renewing,
    written(renewing, {
      outcome: "failed",
      message: "denied",
    }, T0 + 5_100),
    ["lost", "wait"],
    "resting",
  ],
  ["loses when a renewal hangs for a TTL", renewing, due(late), ["lost", "wait"], "resting"],
  [
    "ignores the answer to an older call",
    renewed,
    written(renewing, { outcome: "conflict" }, soon),
    [],
    "held",
  ],
  ["releases when stopped", held, stop(soon), ["lost", "release", "wait"], "releasing"],
  ["ends when released", releasing, written(releasing, ok(9n), soon), ["end"], "ended"],
  [
    "ends when the release is refused",
    releasing,
    written(releasing, { outcome: "conflict" }, soon),
    [
      "end",
    ],
    "ended",
  ],
  ["ends when the release takes too long", releasing, due(soon), ["end"], "ended"],
  ["ends at once when stopped at rest", resting, stop(T0), ["end"], "ended"],
  ["waits for a create when stopped", creating, stop(T0), ["wait"], "stopping"],
  ["waits for a look when stopped", looking, stop(T0), ["wait"], "stopping"],
  [
    "gives up before it waits for a renewal when stopped",
    renewing,
    stop(T0),
    ["lost", "wait"],
    "stopping",
  ],
  [
    "releases a create that came through after the stop",
    stoppingCreate,
    written(
      stoppingCreate,
      ok(7n),
      soon,
    ),
    ["release", "wait"],
    "releasing",
  ],
  [
    "ends when the create was refused after the stop",
    stoppingCreate,
    written(stoppingCreate, {
      outcome: "conflict",
    }, soon),
    ["end"],
    "ended",
  ],
  [
    "releases a renewal that came through after the stop",
    stoppingRenewal,
    written(
      stoppingRenewal,
      ok(8n),
      soon,
    ),
    ["release", "wait"],
    "releasing",
  ],
  ["releases its own nonce seen after the stop", stoppingLook, seen(stoppingLook, own, soon), [
    "release",
    "wait",
  ], "releasing"],
  ["releases nobody else's key after the stop", stoppingLook, seen(stoppingLook, notOwn, soon), [
    "end",
  ], "ended"],
  ["does not wait for ever after the stop", stoppingCreate, due(soon), ["end"], "ended"],
  ["needs no second stop", releasing, stop(soon), [], "releasing"],
  ["says again that it has ended", ended, stop(soon), ["end"], "ended"],
];

for (const [name, state, event, want, at] of cases) {
  Deno.test(`lease next() ${name}`, () => {
    const step = next(state, event);
    assert.deepEqual(step.actions.map((action) => action.do), want);
    assert.equal(step.state.at, at);
    for (const action of step.actions) assert.notEqual(action.why, "");
  });
}

Deno.test("lease next() looks again when it could not, and tries anew once a TTL has passed", () => {
  const unsure = next(looking, seen(looking, blind, T0 + 6_000)).state;
  assert.deepEqual(next(unsure, due(T0 + 11_000)).actions.map((each) => each.do), ["look"]);
  assert.deepEqual(next(unsure, due(late)).actions.map((each) => each.do), ["create"]);
});

Deno.test("lease next() counts the TTL from when the write was sent", () => {
  assert.equal(tenureOf(held, T0 + LEASE_TTL_MS - 1)?.revision, 7n);
  assert.equal(tenureOf(held, T0 + LEASE_TTL_MS), null);
  assert.equal(tenureOf(renewed, T0 + LEASE_RENEW_MS + LEASE_TTL_MS - 1)?.revision, 8n);
  assert.equal(tenureOf(renewed, T0 + LEASE_RENEW_MS + LEASE_TTL_MS), null);
  assert.equal(tenureOf(renewed, T0 + LEASE_RENEW_MS)?.acquired, 7n);
});

Deno.test("lease next() renews, releases and waits with the right numbers", () => {
  const [renew, guard] = next(held, due(T0 + LEASE_RENEW_MS)).actions;
  assert.ok(renew?.do === "renew" && guard?.do === "wait");
  assert.equal(renew.revision, 7n);
  assert.deepEqual(renew.value, { holder: "m1", nonce: "run-1" });
  assert.equal(guard.ms, LEASE_TTL_MS - LEASE_RENEW_MS);
  const release = next(renewed, stop(T0 + 6_000)).actions.find((each) => each.do === "release");
  assert.equal(release?.revision, 8n);
  const [, limit] = next(stoppingCreate, written(stoppingCreate, ok(7n), T0 + 520)).actions;
  assert.ok(limit?.do === "wait");
  assert.equal(limit.ms, LEASE_RELEASE_MS - 500, "the limit covers waiting and releasing together");
});

Deno.test("lease next() waits TTL/3 to TTL/2 between attempts, as chance has it", () => {
  for (const [chance, ms] of [[0, 5_000], [0.5, 6_250], [0.9999, 7_500]] as const) {
    const event = { ...written(creating, { outcome: "conflict" }, soon), chance };
    const [wait] = next(creating, event).actions;
    assert.ok(wait?.do === "wait");
    assert.equal(wait.ms, ms);
  }
});

Deno.test("lease next() never believes without a successful write, whatever happens", () => {
  const answer = fc.constantFrom<Answer>({ outcome: "conflict" }, unknown, {
    outcome: "failed",
    message: "denied",
  });
  const sight = fc.constantFrom<Sight>(notOwn, nobody, blind);
  const what = fc.oneof(
    fc.constant({ on: "due" as const }),
    fc.record({ on: fc.constant("written" as const), answer }),
    fc.record({ on: fc.constant("seen" as const), sight }),
  );
  fc.assert(fc.property(fc.array(fc.tuple(what, fc.nat(20_000))), (happenings) => {
    let state = begin("m1", "run");
    let nowMs = T0;
    for (const [happening, passedMs] of happenings) {
      nowMs += passedMs;
      const event = { ...happening, attempt: state.attempt, ...moment(nowMs) };
      state = next(state, event).state;
      assert.equal(tenureOf(state, nowMs), null);
    }
  }));
});

Deno.test("decodeLease() reads what encodeLease() wrote", () => {
  const value = { holder: "m-1", nonce: "abc-12" };
  assert.deepEqual(decodeLease(encodeLease(value)), value);
  assert.equal(new TextDecoder().decode(encodeLease(value)), "m-1 abc-12");
  assert.deepEqual(decodeLease(new TextEncoder().encode("m1")), { holder: "m1", nonce: "" });
});
