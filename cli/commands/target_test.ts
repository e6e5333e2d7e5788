import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { buckets } from "../../core/buckets.ts";
import { isZesterError } from "../../core/errors.ts";
import { newEnrollmentId, newMasterId } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { voiceOf } from "../../core/outgoing.ts";
import { subjects } from "../../core/subjects.ts";
import { askTarget, type Resolution } from "../../core/target/ask.ts";
import { encodeEnrollment, type EnrollmentState } from "../../core/wire/enrollment.ts";
import { encodeFactsRecord } from "../../core/wire/facts.ts";
import {
  decodeResolveRequest,
  encodeResolveResponse,
  type ResolveResponse,
} from "../../core/wire/resolve.ts";
import { fakeIo } from "../../tests/fakes/cli_io.ts";
import { COMMAND_SIGNER, testSigner, testTrust } from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import type { CommonFlags } from "./flags.ts";
import { target } from "./target.ts";

const FOUND: Resolution = {
  peels: [
    { peelId: "web-01_example_com", reasons: [{ term: "web-*" }, { term: "not db-*" }] },
    { peelId: "web-2", reasons: [{ term: "G@os:ubuntu", found: "os is Ubuntu\u001b[2J" }] },
  ],
};

const shown: [name: string, flags: CommonFlags, stdout: string, stderr: string][] = [
  [
    "a table",
    {},
    "PEEL                BECAUSE\n" +
    "web-01.example.com  web-*, not db-*\n" +
    "web-2               G@os:ubuntu (os is Ubuntu\\u001b[2J)\n",
    "2 peels match\n",
  ],
  ["only the answer", { quiet: true, output: "ids" }, "web-01.example.com\nweb-2\n", ""],
  [
    "lines for programs",
    { output: "jsonl" },
    '{"peel_id":"web-01.example.com","why":[{"term":"web-*"},{"term":"not db-*"}]}\n' +
    '{"peel_id":"web-2","why":[{"term":"G@os:ubuntu","found":"os is Ubuntu\\u001b[2J"}]}\n',
    "",
  ],
];
for (const [name, flags, stdout, stderr] of shown) {
  Deno.test(`target() prints ${name}`, async () => {
    const io = fakeIo();
    assert.equal(await target("x", flags, io, { resolve: () => Promise.resolve(FOUND) }), 0);
    assert.deepEqual(io.text(), { stdout, stderr });
  });
}

Deno.test("target() warns in one line when the answer is not a master's, also when quiet", async () => {
  const io = fakeIo();
  const resolve = () => Promise.resolve({ ...FOUND, warning: "no master answers" });
  await target("x", { quiet: true, output: "ids" }, io, { resolve });
  assert.equal(io.text().stderr, "warning: no master answers\n");
});

// ---- asking --------------------------------------------------------------------------------------------------

interface PeelInStore {
  readonly state?: EnrollmentState;
  readonly facts?: Record<string, unknown>;
}

/** An operator, a store, and masters that answer like this; absent: there are none. */
async function setUp(
  peels: Readonly<Record<string, PeelInStore>>,
  answer?: (after: string | undefined) => ResolveResponse | null,
) {
  const clock = new ManualClock();
  const random = seededRandom(1);
  const engine = createEngine({ clock, random });
  const master = enginePorts(engine, { role: "master", identity: "m", clock });
  const { bus, store } = enginePorts(engine, { role: "operator", identity: "alice", clock });
  await master.admin.ensureBucket(buckets.facts);
  await master.admin.ensureBucket(buckets.enrollments);
  for (const [peelId, { state = "active", facts }] of Object.entries(peels)) {
    const id = newEnrollmentId(clock.now(), random);
    const enrollments = master.store.bucket(buckets.enrollments.name);
    const times = { createdAtMs: 0, updatedAtMs: 0 };
    const key = { publicKey: "U", curvePublicKey: "", generation: 1, metadata: {} };
    await enrollments.put(`peel.${peelId}`, new TextEncoder().encode(id));
    await enrollments.put(id, encodeEnrollment({ id, peelId, state, ...key, ...times }));
    if (facts === undefined) continue;
    const age = { boot: 1n, sequence: 1n, storedMs: 0, master: newMasterId(0, random) };
    const record = encodeFactsRecord({ peelId, facts, ...age });
    await master.store.bucket(buckets.facts.name).put(peelId, record);
  }
  const masterVoice = voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, master.bus, clock);
  if (answer !== undefined) {
    master.bus.subscribe(subjects.resolve.filter(), ({ data, reply }) => {
      const response = answer(decodeResolveRequest(data).after);
      if (response !== null) masterVoice.answer(reply!, encodeResolveResponse(response));
    });
  }
  const ports = {
    operator: "alice",
    bus,
    store,
    listPeels: () => Promise.resolve(Object.keys(peels)),
    clock,
    voice: voiceOf({ signer: testSigner("alice"), generation: 1 }, bus, clock),
    keyring: keyringOf(() => testTrust(["alice"])),
  };
  return { clock, ask: (text: string) => askTarget(text, ports) };
}

const PAGE = { total: 3, why: [] };

Deno.test("askTarget() puts the masters' pages together", async () => {
  const { ask } = await setUp(
    {},
    (after) =>
      after === undefined
        ? {
          ...PAGE,
          peels: ["a", "b"],
          more: true,
          why: [{ peelId: "b", reasons: [{ term: "b" }] }],
        }
        : { ...PAGE, peels: ["c"] },
  );
  const { peels, warning } = await ask("*");
  assert.deepEqual(peels.map(({ peelId, reasons }) => [peelId, reasons.length]), [
    ["a", 0],
    ["b", 1],
    ["c", 0],
  ]);
  assert.equal(warning, undefined);
});

Deno.test("askTarget() does not go round in a circle with a master that repeats itself", async () => {
  const { ask } = await setUp({}, () => ({ ...PAGE, peels: ["a"], more: true }));
  await assert.rejects(ask("*"), /does not go on after a/);
});

Deno.test("askTarget() throws what the masters refuse with, and looks nothing up then", async () => {
  const refusal = { peels: [], total: 0, why: [], code: "bad_target", err: "target: no", fix: "x" };
  const { ask } = await setUp({ a: {} }, () => refusal);
  await assert.rejects(ask("a"), (error) => {
    assert.ok(isZesterError(error, "bad_target"));
    assert.deepEqual([error.message, error.fix], ["target: no", "x"]);
    return true;
  });
});

const FLEET = {
  "a_example": { facts: { os: "ubuntu" } },
  b: { facts: { os: "debian" } },
  revoked: { state: "revoked", facts: { os: "ubuntu" } },
  mute: {},
} as const;

const lookedUp: [target: string, want: string[]][] = [
  ["a.example", ["a_example"]],
  ["L@a.example,b,revoked,nobody,mute", ["a_example", "b", "mute"]],
  ["L@a.example,b,revoked and G@os:ubuntu", ["a_example"]],
  ["not G@os:ubuntu and (b or mute)", ["b", "mute"]],
  ["*", ["a_example", "b", "mute"]],
  ["G@os:ubuntu", ["a_example"]],
  ["not b", ["a_example", "mute"]],
  ["E@^[ab]", ["a_example", "b"]],
];
for (const [text, want] of lookedUp) {
  Deno.test(`askTarget() looks ${text} up in the store when no master is there`, async () => {
    const { ask } = await setUp(FLEET);
    const { peels, warning } = await ask(text);
    assert.deepEqual(peels.map(({ peelId }) => peelId), want);
    assert.ok(peels.every(({ reasons }) => reasons.length > 0));
    assert.match(warning ?? "", /no master answers/);
  });
}

Deno.test("askTarget() looks up as well when a master took the question and is silent", async () => {
  const { ask, clock } = await setUp(FLEET, () => null);
  const asked = ask("b");
  await clock.advanceSettling(10_000);
  assert.deepEqual((await asked).peels.map(({ peelId }) => peelId), ["b"]);
});

Deno.test("askTarget() explains from the store as well why nobody matches, and does not guess at groups", async () => {
  const { ask } = await setUp(FLEET);
  await assert.rejects(ask("(b"), (error) => isZesterError(error, "bad_target"));
  await assert.rejects(ask("L@nobody"), (error) => isZesterError(error, "nobody_matches"));
  await assert.rejects(ask("G@os:ubunut"), (error) => {
    assert.ok(isZesterError(error, "nobody_matches"));
    assert.match(error.message, /values of `os`: debian 1, ubuntu 1/);
    assert.equal(error.fix, "G@os:ubuntu");
    return true;
  });
  await assert.rejects(ask("revoked"), (error) => isZesterError(error, "nobody_matches"));
  await assert.rejects(ask("N@web"), (error) => {
    assert.ok(isZesterError(error, "no_responders"));
    assert.match(error.message, /what group N@web means/);
    return true;
  });
});
