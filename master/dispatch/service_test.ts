import assert from "node:assert/strict";
import { createEngine } from "../../broker/engine.ts";
import { enginePorts } from "../../broker/ports.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { type ClientPorts, dispatchAndFollow, query } from "../../core/client.ts";
import { grantsFor } from "../../core/grants.ts";
import { newKsuid } from "../../core/ids.ts";
import { keyringOf } from "../../core/keyring.ts";
import { encode } from "../../core/msgpack.ts";
import { voiceOf } from "../../core/outgoing.ts";
import type { Clock } from "../../core/ports.ts";
import { type Role, subjects } from "../../core/subjects.ts";
import { decodeFollow, type FollowEvent } from "../../core/wire/follow.ts";
import {
  startTestFleet,
  type TestFleet,
  testJob,
  type TestPorts,
  until,
} from "../../tests/fakes/fleet.ts";
import { testSigner, testTrust } from "../../tests/fakes/identities.ts";

interface Lab {
  readonly fleet: TestFleet;
  /** The operator's login once more. */
  readonly alice: TestPorts;
}

async function withFleet(use: (lab: Lab) => Promise<void>): Promise<void> {
  const engine = createEngine({ clock, random });
  const connect = (role: Role, identity: string) =>
    enginePorts(engine, { role, identity, clock, permissions: grantsFor(role, identity) });
  const fleet = await startTestFleet(["a"], {
    clock,
    random,
    connect: (role, identity) => Promise.resolve(connect(role, identity)),
  });
  try {
    await use({ fleet, alice: connect("operator", "alice") });
  } finally {
    await fleet.stop();
  }
}

/** The operator at a machine whose clock is off. */
function clientOff({ bus }: TestPorts, offMs: number): ClientPorts {
  const off: Clock = { ...clock, now: () => clock.now() + offMs };
  const voice = voiceOf({ signer: testSigner("alice"), generation: 1 }, bus, off);
  return { operator: "alice", bus, clock: off, voice, keyring: keyringOf(() => testTrust()) };
}

const clocks: [name: string, offMs: number, isTaken: boolean][] = [
  ["30 s ahead", 30_000, true],
  ["30 s behind", -30_000, true],
  ["an hour ahead", 3_600_000, false],
  ["an hour behind", -3_600_000, false],
];
for (const [name, offMs, isTaken] of clocks) {
  Deno.test(`takeDispatches() by an operator whose clock is ${name} ${isTaken ? "is taken" : "is refused, and the operator is told at once that it is the clock"}`, () =>
    withFleet(async ({ fleet, alice }) => {
      const client = clientOff(alice, offMs);
      const job = testJob(newKsuid(clock.now(), random), "*", "test.ping", 5_000, client.clock);
      const events: FollowEvent[] = [];
      const run = dispatchAndFollow(job, (event) => events.push(event), client);
      if (isTaken) {
        await run;
        assert.equal(events.at(-1)?.kind, "done");
      } else {
        await assert.rejects(run, /clock here or at the sender is wrong/);
        await assert.rejects(query("masters", {}, client), /clock here or at the sender is wrong/);
        assert.deepEqual(fleet.peels[0]?.ran, []);
      }
    }));
}

Deno.test("takeDispatches() refuses a job that names no version of the protocol, and says so", () =>
  withFleet(async ({ fleet, alice }) => {
    const { bus, voice } = clientOff(alice, 0);
    const inbox = bus.inbox();
    const heard: FollowEvent[] = [];
    bus.subscribe(inbox, ({ data }) => heard.push(decodeFollow(data)));
    const at = new Date(clock.now());
    const payload = encode({
      jid: newKsuid(clock.now(), random),
      function: "test.ping",
      args: {},
      targets: [],
      target_expr: "*",
      timeout: 0,
      status: "pending",
      created: at,
      updated: at,
    });
    const subject = subjects.dispatch.of({ operator: "alice" });
    voice.say(subjects.dispatch, subject, payload, { reply: inbox });
    await until(() => heard.length > 0, "an answer");
    assert.ok(heard[0]?.kind === "refused" && /version 0/.test(heard[0].message));
    assert.deepEqual(fleet.peels[0]?.ran, []);
  }));

Deno.test("takeDispatches() tells an operator's clock to nobody but its own inbox", () =>
  withFleet(async ({ fleet, alice }) => {
    const { voice } = clientOff(alice, 3_600_000);
    const heard: string[] = [];
    fleet.master.ports.bus.subscribe(subjects.heartbeat.filter(), ({ subject }) => {
      heard.push(subject);
    });
    const subject = subjects.dispatch.of({ operator: "alice" });
    const reply = subjects.heartbeat.of({ peel: "a" });
    voice.say(subjects.dispatch, subject, new Uint8Array(), { reply });
    const refused = () => fleet.master.metrics.value("ingressRefused", { reason: "clock_skew" });
    await until(() => refused() === 1, "the refusal");
    await fleet.master.ports.bus.flush(1_000);
    assert.deepEqual(heard, []);
  }));
