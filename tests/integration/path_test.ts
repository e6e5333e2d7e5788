/** The whole path of a job on the in-process engine, and everything that must not get through it. */
import assert from "node:assert/strict";
import { createEngine, type Engine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { dispatchAndFollow, type FollowEvent } from "../../core/client.ts";
import { systemClock } from "../../core/adapters/system_clock.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { grantsFor } from "../../core/grants.ts";
import { newKsuid } from "../../core/ids.ts";
import { voiceOf } from "../../core/outgoing.ts";
import { subjects } from "../../core/subjects.ts";
import { decodeExecRequest, encodeExecRequest } from "../../core/wire/exec.ts";
import { encodeReturn } from "../../core/wire/return.ts";
import { startTestFleet, type TestFleet, testJob, until } from "../fakes/fleet.ts";
import { COMMAND_SIGNER, testSigner } from "../fakes/identities.ts";

const clock = systemClock;
const random = systemRandom;

async function withFleet(use: (fleet: TestFleet, engine: Engine) => Promise<void>): Promise<void> {
  const engine = createEngine({ clock, random });
  const fleet = await startTestFleet(["web-01", "web-02", "db-01"], {
    silent: ["silent"],
    clock,
    random,
    connect: (role, identity) =>
      Promise.resolve(
        enginePorts(engine, { role, identity, clock, permissions: grantsFor(role, identity) }),
      ),
  });
  try {
    await use(fleet, engine);
  } finally {
    await fleet.stop();
  }
}

Deno.test("a ping of several peels comes back from each, verified at every step", () =>
  withFleet(async (fleet) => {
    const events = await fleet.run("*b-0*", "test.ping");
    const returns = events.flatMap((event) => event.kind === "returns" ? event.returns : []);
    assert.deepEqual(returns.map((each) => each.peelId).sort(), ["db-01", "web-01", "web-02"]);
    assert.ok(returns.every((each) => each.success));
    const done = events.at(-1);
    assert.ok(done?.kind === "done" && done.status === "complete" && done.successCount === 3);
    assert.deepEqual(fleet.peels.map((peel) => peel.ran.length), [1, 1, 1]);
  }));

Deno.test("a target takes only the peels that it matches, and nobody is an error that says how many match", () =>
  withFleet(async (fleet) => {
    await fleet.run("web*", "test.ping");
    assert.deepEqual(fleet.peels.map((peel) => peel.ran.length), [1, 1, 0]);
    const [refused] = await fleet.run("nope*", "test.ping");
    assert.ok(refused?.kind === "refused" && refused.code === "nobody_matches");
    assert.match(refused.message, /nope\* +0 peels/);
  }));

Deno.test("a function that runs in a worker answers, and an unknown one fails with the nearest name", () =>
  withFleet(async (fleet) => {
    const [echo] = (await fleet.run("db-01", "test.echo")).flatMap((e) =>
      e.kind === "returns" ? e.returns : []
    );
    assert.equal(echo?.success, true);
    const [wrong] = (await fleet.run("db-01", "test.pong")).flatMap((e) =>
      e.kind === "returns" ? e.returns : []
    );
    assert.equal(wrong?.success, false);
    assert.match(wrong?.error ?? "", /did you mean test\.ping/);
  }));

Deno.test("a jid that was dispatched once is not dispatched again", () =>
  withFleet(async (fleet) => {
    const jid = newKsuid(clock.now(), random);
    await fleet.run("db-01", "test.ping", { jid });
    const second = await fleet.run("db-01", "test.ping", { jid });
    assert.ok(second.at(-1)?.kind === "done", "the same intent is told how it ended");
    const [third] = await fleet.run("web-01", "test.ping", { jid });
    assert.ok(third?.kind === "refused" && third.code === "jid_conflict");
    assert.equal(fleet.peels[2]?.ran.length, 1);
  }));

Deno.test("a forged, replayed, expired, misaddressed or unsigned command runs nothing and is counted", () =>
  withFleet(async (fleet) => {
    const [victim] = fleet.peels;
    assert.ok(victim);
    const { bus } = fleet.master.ports; // the strongest position: it may publish commands
    const subject = subjects.command.of({ peel: victim.id });
    const genuine = voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, bus, clock);
    const forger = voiceOf({ signer: testSigner("forger"), generation: 1 }, bus, clock);
    const payload = () =>
      encodeExecRequest({
        jid: newKsuid(clock.now(), random),
        module: "test.ping",
        id: "",
        args: {},
        epoch: 1n,
        reactorDepth: 0,
      });
    const past = clock.now() - 3_600_000;

    // A genuine one first, kept to be replayed.
    const original = payload();
    const headers = genuine.headers(subjects.command, subject, original, { audience: 1 });
    bus.publish(subject, original, { headers });
    await until(() => victim.ran.length === 1, "the genuine command");

    const attacks: [reason: string, send: () => void][] = [
      ["replayed", () => bus.publish(subject, original, { headers })],
      ["unsigned", () => bus.publish(subject, payload())],
      ["unknown_key", () => forger.say(subjects.command, subject, payload(), { audience: 1 })],
      ["bad_signature", () => bus.publish(subject, payload(), { headers })],
      ["expired", () =>
        bus.publish(subject, original, {
          headers: voiceOf({ signer: COMMAND_SIGNER, generation: 1 }, bus, {
            ...clock,
            now: () => past,
          })
            .headers(subjects.command, subject, original, { audience: 1 }),
        })],
      [
        "stale_generation",
        () => genuine.say(subjects.command, subject, payload(), { audience: 2 }),
      ],
      ["spoof", () => {
        const copy = payload();
        const signed = genuine.headers(subjects.command, subject, copy, { audience: 1 });
        bus.publish(subject, copy, { headers: [...signed, ["Nats-Stream", "KV_state-files"]] });
      }],
      [
        "decode_failed",
        () => genuine.say(subjects.command, subject, Uint8Array.of(0xc1), { audience: 1 }),
      ],
      ["bad_signature", () => { // made for another peel, delivered to this one
        const copy = payload();
        const other = subjects.command.of({ peel: "web-02" });
        bus.publish(subject, copy, {
          headers: genuine.headers(subjects.command, other, copy, { audience: 1 }),
        });
      }],
    ];
    const counted = (reason: string) => victim.metrics.value("ingressRefused", { reason });
    for (const [reason, send] of attacks) {
      const before = counted(reason);
      send();
      await until(() => counted(reason) === before + 1, reason);
    }
    assert.equal(victim.ran.length, 1, "only the genuine command ran");
  }));

Deno.test("an answer in a silent peel's name by anybody else is refused, and the job does not end by it", () =>
  withFleet(async (fleet, engine) => {
    const outsider = enginePorts(engine, { role: "peel", identity: "outsider", clock }).bus; // no permissions hold it
    const jid = newKsuid(clock.now(), random);
    const subject = subjects.return.of({ jid, peel: "silent" });
    const lie = encodeReturn({
      jid,
      peelId: "silent",
      success: true,
      returnData: null,
      durationMs: 1,
      timestampMs: clock.now(),
      unreachable: false,
    });
    const events: FollowEvent[] = [];
    const take = (event: FollowEvent): void => {
      events.push(event);
      if (event.kind !== "accepted") return;
      for (const name of ["web-01", "alice", "nobody"]) {
        voiceOf({ signer: testSigner(name), generation: 1 }, outsider, clock).say(
          subjects.return,
          subject,
          lie,
        );
      }
      outsider.publish(subject, lie);
    };
    await dispatchAndFollow(testJob(jid, "silent", "test.ping", 300, clock), take, fleet.client);
    const done = events.at(-1);
    assert.ok(done?.kind === "done" && done.status === "timeout");
    assert.deepEqual(done.missing.map(({ peel }) => peel), ["silent"]);
    const refused = (reason: string) => fleet.master.metrics.value("ingressRefused", { reason });
    assert.ok(
      refused("unknown_key") >= 3,
      "refused as they came, and again where the stream had kept them",
    );
    assert.ok(refused("unsigned") >= 1);
  }));

Deno.test("decodeExecRequest() of what the master publishes carries the epoch of the record", () =>
  withFleet(async (fleet) => {
    await fleet.run("db-01", "test.ping");
    const request = fleet.peels[2]?.ran[0];
    assert.ok(request && (request.epoch ?? 0n) > 0n);
    assert.equal(decodeExecRequest(encodeExecRequest(request)).epoch, request.epoch);
  }));
