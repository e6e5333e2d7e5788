import assert from "node:assert/strict";
import { encodePublicNkey } from "./crypto/nkey.ts";
import { type DirectOutcome, runDirectOn } from "./direct.ts";
import { type ErrorCode, isZesterError, ZesterError } from "./errors.ts";
import { voiceOf } from "./outgoing.ts";
import type { Bus } from "./ports.ts";
import { ManualClock } from "../tests/fakes/manual_clock.ts";
import { testSigner, testTrust } from "../tests/fakes/identities.ts";

const REQUEST = {
  jid: "2hPx1FNsSgJMqVn5bLSTXeBQMpO",
  module: "test.ping",
  id: "",
  args: {},
  epoch: 0n,
};

function record(peelId: string) {
  const publicKey = encodePublicNkey("user", testSigner(peelId).publicKey);
  return { peelId, publicKey, generation: 1 };
}

/** A bus on which every request fails like this. */
function failing(code: ErrorCode): Bus {
  return { request: () => Promise.reject(new ZesterError(code, "no")) } as unknown as Bus;
}

async function run(code: ErrorCode, signal?: AbortSignal): Promise<DirectOutcome[]> {
  const clock = new ManualClock();
  const bus = failing(code);
  const voice = voiceOf({ signer: testSigner("dora"), generation: 1 }, bus, clock);
  const outcomes: DirectOutcome[] = [];
  await runDirectOn(
    [record("a"), record("b")],
    REQUEST,
    { bus, clock, voice, trust: testTrust() },
    {
      timeoutMs: 5_000,
      signal,
      onOutcome: (outcome) => void outcomes.push(outcome),
    },
  );
  return outcomes;
}

const silences: [code: ErrorCode, says: string][] = [
  ["no_responders", "not connected to the broker"],
  ["timeout", "no answer within 5s; it may have run"],
  ["permission_denied", "no"],
];
for (const [code, says] of silences) {
  Deno.test(`runDirectOn() calls a peel silent, and says why, after ${code}`, async () => {
    const outcomes = await run(code);
    assert.deepEqual(outcomes.map((each) => [each.peelId, "silent" in each && each.silent]), [
      ["a", says],
      ["b", says],
    ]);
  });
}

Deno.test("runDirectOn() gives up when the connection is lost: what the others did is unknown", async () => {
  await assert.rejects(run("closed"), (error) => {
    assert.ok(isZesterError(error, "disconnected"));
    assert.match(error.message, /may have run it/);
    return true;
  });
});

Deno.test("runDirectOn() asks nobody once it was stopped", async () => {
  assert.deepEqual(await run("timeout", AbortSignal.abort()), []);
});
