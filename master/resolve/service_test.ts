import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { isZesterError } from "../../core/errors.ts";
import { ingest, replyRule } from "../../core/ingress.ts";
import { keyringOf } from "../../core/keyring.ts";
import { PAYLOAD_BYTES_MAX, RESOLVE_PAGE_PEELS_MAX } from "../../core/limits.ts";
import { SILENT_LOG } from "../../core/log.ts";
import { fakeMetrics } from "../../core/metrics.ts";
import { voiceOf } from "../../core/outgoing.ts";
import { builtInRoles } from "../../core/roles.ts";
import { type Role, type Subject, subjects } from "../../core/subjects.ts";
import { FactIndex } from "../../core/target/peel_index.ts";
import {
  decodeResolveResponse,
  encodeResolveRequest,
  encodeResolveResponse,
  type ResolveRequest,
} from "../../core/wire/resolve.ts";
import {
  COMMAND_SIGNER,
  testPeelKey,
  testSigner,
  testTrust,
} from "../../tests/fakes/identities.ts";
import { ManualClock, seededRandom } from "../../tests/fakes/manual_clock.ts";
import { readGroups } from "./groups.ts";
import { resolveTarget } from "./resolve.ts";
import { answerResolve, takeResolves } from "./service.ts";

const KEY = testPeelKey("web-01");

function known(peels: Readonly<Record<string, Record<string, unknown> | undefined>>) {
  const index = new FactIndex();
  for (const [id, facts] of Object.entries(peels)) if (facts !== undefined) index.put(id, facts);
  index.put("revoked", { os: "ubuntu" });
  return {
    directory: {
      ready: true,
      ids: () => Object.keys(peels).sort(),
      key: (id: string) => Object.hasOwn(peels, id) ? KEY : undefined,
    },
    facts: { ready: true, index },
    groups: readGroups(["web=web*", "old = N@web and G@os:debian"]),
    authorizer: builtInRoles,
    clock: new ManualClock(),
    metrics: fakeMetrics(),
  };
}

const FLEET = {
  "web-01": { os: "ubuntu" },
  "web-02": { os: "debian" },
  "db-01": undefined,
};
const ALICE = { role: "operator", name: "alice", granted: "admin" } as const;
const PEEL = { role: "peel", name: "web-01" } as const;

Deno.test("resolveTarget() gives those enrolled, and nobody else", () => {
  const ports = known(FLEET);
  assert.deepEqual(resolveTarget("G@os:ubuntu", ports), { targets: ["web-01"] });
  assert.deepEqual(resolveTarget("N@old", ports), { targets: ["web-02"] });
  assert.deepEqual(resolveTarget("not G@os:ubuntu", ports), { targets: ["db-01", "web-02"] });
});

Deno.test("resolveTarget() says why there is nobody, and what was wrong", () => {
  assert.deepEqual(resolveTarget("G@os:ubunut and web-*", known(FLEET)), {
    refusal: {
      code: "nobody_matches",
      message: [
        "nobody matches  G@os:ubunut and web-*",
        "web-*        2 peels",
        "G@os:ubunut  0 peels   values of `os`: debian 1, ubuntu 1",
        "1 of 3 peels have sent no facts yet",
      ].join("\n"),
      fix: "G@os:ubuntu and web-*",
    },
  });
  const wrong = resolveTarget("(web*", known(FLEET));
  assert.ok("refusal" in wrong && wrong.refusal.code === "bad_target");
});

Deno.test("resolveTarget() does not guess before it has read the facts: `not` would be everybody", () => {
  const ports = known(FLEET);
  const early = { ...ports, facts: { ready: false, index: new FactIndex() } };
  const refused = resolveTarget("not G@os:ubuntu", early);
  assert.ok("refusal" in refused && refused.refusal.code === "busy");
  assert.deepEqual(resolveTarget("web*", early), { targets: ["web-01", "web-02"] });
  const earlier = { ...early, directory: { ...ports.directory, ready: false, ids: () => [] } };
  const unknown = resolveTarget("web*", earlier);
  assert.ok("refusal" in unknown && unknown.refusal.code === "busy");
});

Deno.test("resolveTarget() measures how long it took, also when there is nobody", () => {
  const ports = known(FLEET);
  const seen: number[] = [];
  let nowMs = 0;
  const timed = {
    ...ports,
    clock: { monotonic: () => nowMs += 20 },
    metrics: { targetingSeconds: { observe: (seconds: number) => void seen.push(seconds) } },
  };
  for (const target of ["web*", "nobody", "(web*"]) resolveTarget(target, timed);
  assert.deepEqual(seen, [0.02, 0.02, 0.02]);
});

Deno.test("answerResolve() tells an operator why each matches, and its facts", () => {
  const request = { expr: "G@os:Ubuntu or db-*", wantWhy: true, wantFacts: true };
  assert.deepEqual(answerResolve(request, ALICE, known(FLEET)), {
    peels: ["db-01", "web-01"],
    total: 2,
    why: [
      { peelId: "db-01", reasons: [{ term: "db-*" }] },
      { peelId: "web-01", reasons: [{ term: "G@os:Ubuntu", found: "os is ubuntu" }] },
    ],
    facts: { "db-01": {}, "web-01": { os: "ubuntu" } },
  });
});

Deno.test("answerResolve() tells a peel ids and no more, not even why nobody matches", () => {
  const request = { expr: "web-*", wantWhy: true, wantFacts: true };
  const nobody = { ...request, expr: "G@os:x" };
  const ports = known(FLEET);
  assert.deepEqual(answerResolve(request, PEEL, ports), {
    peels: ["web-01", "web-02"],
    total: 2,
    why: [],
  });
  assert.deepEqual(answerResolve(nobody, PEEL, ports), { peels: [], total: 0, why: [] });
  assert.equal(answerResolve({ expr: "(" }, PEEL, ports).code, "bad_target");
});

Deno.test("answerResolve() refuses an operator without a role", () => {
  const bob = { role: "operator", name: "bob", granted: "intern" } as const;
  const answer = answerResolve({ expr: "*" }, bob, known(FLEET));
  assert.deepEqual([answer.code, answer.peels], ["permission_denied", []]);
});

Deno.test("answerResolve() gives a large fleet in pages, each within one message, none left out", () => {
  const big = { note: "x".repeat(40_000) };
  for (const [count, facts, wantFacts] of [[5_001, { os: "a" }, false], [60, big, true]] as const) {
    const ids = Array.from({ length: count }, (_, at) => `peel-${String(at).padStart(5, "0")}`);
    const ports = known(Object.fromEntries(ids.map((id) => [id, facts])));
    const seen: string[] = [];
    let pages = 0;
    for (let after: string | undefined;; after = seen.at(-1)) {
      const request: ResolveRequest = { expr: "*", wantFacts, after };
      const answer = answerResolve(request, ALICE, ports);
      const bytes = encodeResolveResponse(answer).length;
      assert.ok(bytes < PAYLOAD_BYTES_MAX * 0.75, `${bytes} bytes`);
      assert.ok(answer.peels.length > 0 && answer.peels.length <= RESOLVE_PAGE_PEELS_MAX);
      assert.equal(answer.total, count);
      seen.push(...answer.peels);
      pages++;
      if (answer.more !== true) break;
    }
    assert.deepEqual(seen, ids);
    assert.ok(pages > 2);
  }
});

Deno.test("answerResolve() goes on after a peel that has gone meanwhile", () => {
  const answer = answerResolve({ expr: "*", after: "e-gone" }, ALICE, known(FLEET));
  assert.deepEqual(answer.peels, ["web-01", "web-02"]);
  assert.deepEqual(answerResolve({ expr: "*", after: "zz" }, ALICE, known(FLEET)).peels, []);
});

Deno.test("readGroups() puts together what a flag was split into", () => {
  const groups = readGroups(["a=L@x", "y", "b=N@a and G@m:>=4"]);
  assert.deepEqual([...groups], [["a", "L@x,y"], ["b", "N@a and G@m:>=4"]]);
});

const badGroups: [lines: string[], problem: RegExp][] = [
  [["web"], /is not name=expression/],
  [["a=x", "a=y"], /a is there twice/],
  [["a=(x"], /group a: target: this parenthesis is never closed/],
  [["a=N@b", "b=N@a"], /circle/],
];
for (const [lines, problem] of badGroups) {
  Deno.test(`readGroups() refuses ${lines.join("; ")} at start`, () => {
    assert.throws(() => readGroups(lines), problem);
  });
}

// ---- over the bus --------------------------------------------------------------------------------------------

async function ask(
  { role, name, rule, signedBy = name, replyOf = name }: {
    role: Extract<Role, "operator" | "peel">;
    name: string;
    rule: Subject;
    signedBy?: string;
    replyOf?: string;
  },
  payload = encodeResolveRequest({ expr: "web-*" }),
) {
  const clock = new ManualClock();
  const engine = createEngine({ clock, random: seededRandom(1) });
  const master = enginePorts(engine, { role: "master", identity: "m", clock });
  const asker = enginePorts(engine, { role, identity: replyOf, clock });
  const metrics = fakeMetrics();
  const trust = testTrust(["alice"]);
  const service = takeResolves({
    ...known(FLEET),
    bus: master.bus,
    clock,
    voice: voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, master.bus, clock),
    keyring: keyringOf(() => trust, () => testPeelKey("web-01")),
    metrics,
    log: SILENT_LOG,
  });
  const voice = voiceOf({ signer: testSigner(signedBy), generation: 1 }, asker.bus, clock);
  const subject = rule.filter({ operator: name, peel: name });
  const headers = voice.headers(rule, subject, payload);
  const pending = asker.bus.request(subject, payload, { headers, timeoutMs: 1_000 })
    .catch((error) => {
      if (isZesterError(error, "timeout")) return null;
      throw error;
    });
  await clock.advanceSettling(2_000);
  const reply = await pending;
  service.stop();
  if (reply === null) return { response: null, metrics };
  const door = ingest(reply, {
    rule: replyRule(reply.subject),
    keyring: keyringOf(() => trust),
    nowMs: clock.now(),
  });
  assert.ok(door.ok);
  return { response: decodeResolveResponse(door.payload), metrics };
}

Deno.test("takeResolves() answers operators and peels with a signature", async () => {
  for (
    const asker of [
      { role: "operator", name: "alice", rule: subjects.resolve },
      { role: "peel", name: "web-01", rule: subjects.resolveForPeel },
    ] as const
  ) {
    const { response, metrics } = await ask(asker);
    assert.deepEqual(response?.peels, ["web-01", "web-02"]);
    assert.equal(metrics.value("targetResolves", { result: "answered" }), 1);
  }
});

Deno.test("takeResolves() answers nonsense with an error", async () => {
  const asker = { role: "operator", name: "alice", rule: subjects.resolve } as const;
  const { response } = await ask(asker, Uint8Array.of(0xc1));
  assert.equal(response?.code, "decode_failed");
});

Deno.test("takeResolves() does not answer whoever is not who the subject says, nor into another's inbox", async () => {
  const forged = {
    role: "operator",
    name: "alice",
    rule: subjects.resolve,
    signedBy: "eve",
  } as const;
  const first = await ask(forged);
  assert.equal(first.response, null);
  assert.equal(first.metrics.value("ingressRefused", { reason: "unknown_key" }), 1);
  const second = await ask({ ...forged, signedBy: "alice", replyOf: "bob" });
  assert.equal(second.response, null);
  assert.equal(second.metrics.value("ingressRefused", { reason: "misaddressed" }), 1);
});
