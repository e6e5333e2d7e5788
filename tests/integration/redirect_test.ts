/**
 * The lab behind `core/ingress.ts`: logged in as a peel whose only right is one direct get, an attacker has the server carry
 * stored bytes to other subjects. On a real nats-server this works, as the first assertion shows; nothing may come of it.
 */
import assert from "node:assert/strict";
import { systemClock } from "../../core/adapters/system_clock.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { buckets, streams } from "../../core/buckets.ts";
import { grantsFor } from "../../core/grants.ts";
import { newKsuid } from "../../core/ids.ts";
import { connectNats } from "../../core/nats/mod.ts";
import { sealed } from "../../core/outgoing.ts";
import type { Message } from "../../core/ports.ts";
import { bucketSubject } from "../../core/stream_config.ts";
import { type Role, type Subject, subjects } from "../../core/subjects.ts";
import { encodeExecRequest } from "../../core/wire/exec.ts";
import { startTestFleet, until } from "../fakes/fleet.ts";
import { COMMAND_SIGNER } from "../fakes/identities.ts";
import { natsServerOrSkip, startNats } from "../fakes/nats_server.ts";

const clock = systemClock;
const random = systemRandom;
const JID = newKsuid(clock.now(), random);

/** Where the attacker would like to be heard. */
const DESTINATIONS: [name: string, rule: Subject, subject: string][] = [
  ["an operator's dispatch", subjects.dispatch, "zester.dispatch.alice"],
  ["another peel's commands", subjects.command, "zester.cmd.victim"],
  ["a master's events", subjects.eventMaster, "zester.event._master.enroll.pending"],
  ["another peel's facts", subjects.fact, "zester.fact.victim"],
  ["another peel's return", subjects.return, `zester.job.${JID}.return.victim`],
];

const name =
  "bytes that a peel has the server redirect reach every subject and are accepted on none";
Deno.test({ name, ignore: await natsServerOrSkip() === null, fn: redirect });

async function redirect(): Promise<void> {
  const identities: [Role, string][] = [
    ["bootstrap", "bootstrap"],
    ["master", "m1"],
    ["peel", "attacker"],
    ["peel", "victim"],
    ["operator", "alice"],
  ];
  const server = await startNats({
    users: identities.map(([role, identity]) => ({
      user: `${role}-${identity}`,
      password: "pw",
      permissions: grantsFor(role, identity),
    })),
  });
  const connect = (role: Role, identity: string) =>
    connectNats({
      servers: [server.url],
      role,
      identity,
      mode: "cli",
      name: identity,
      user: `${role}-${identity}`,
      password: "pw",
    });
  try {
    const fleet = await startTestFleet(["attacker", "victim"], { connect, clock, random });
    try {
      const [attacker, victim] = fleet.peels;
      assert.ok(attacker && victim);
      const heard: Message[] = [];
      for (const [, rule] of DESTINATIONS.filter(([, rule]) => rule !== subjects.command)) {
        fleet.master.ports.bus.subscribe(rule.filter(), (message) => heard.push(message));
      }
      await fleet.master.ports.bus.flush(5_000);

      // Control: the direct way is closed to the attacker.
      for (const [name, , subject] of DESTINATIONS) {
        attacker.ports.bus.publish(subject, new Uint8Array());
        await attacker.ports.bus.flush(5_000);
        assert.ok(!heard.some((message) => message.subject === subject), `${name} is closed`);
      }

      // The worst stored bytes there could be: for each destination, a message with a genuine signature for it.
      const files = fleet.master.ports.store.stream(`KV_${buckets.stateFiles.name}`);
      for (const [index, [, rule, subject]] of DESTINATIONS.entries()) {
        const payload = encodeExecRequest({
          jid: JID,
          module: "test.ping",
          id: "",
          args: {},
          epoch: 1n,
          reactorDepth: 0,
        });
        const headers = sealed(
          { signer: COMMAND_SIGNER, generation: 1 },
          { domain: rule.domain ?? "", subject },
          payload,
          clock.now(),
          { audience: 1 },
        );
        const key = bucketSubject(buckets.stateFiles.name, `bait-${index}`);
        assert.equal((await files.append(key, payload, { headers })).outcome, "ok");
      }
      for (const [index, [, , subject]] of DESTINATIONS.entries()) {
        const key = bucketSubject(buckets.stateFiles.name, `bait-${index}`);
        const get = `$JS.API.DIRECT.GET.KV_${buckets.stateFiles.name}.${key}`;
        attacker.ports.bus.publish(get, new Uint8Array(), { reply: subject });
      }
      await until(
        () => heard.length >= DESTINATIONS.length - 1,
        "the redirected bytes at the master",
      );
      await until(
        () => victim.metrics.value("ingressRefused", { reason: "spoof" }) === 1,
        "the count at the victim",
      );
      await until(
        () => fleet.master.metrics.value("ingressRefused", { reason: "spoof" }) >= 1,
        "the count at the master",
      );

      assert.equal(victim.ran.length, 0, "the victim ran nothing");
      assert.ok(heard.every((message) => message.headers.some(([name]) => /^nats-/i.test(name))));
      const stored = await fleet.master.ports.store.stream(streams.events.name).info();
      assert.equal(
        stored.messages,
        1,
        "the stream captured it, which is why stored messages pass the same door",
      );
    } finally {
      await fleet.stop();
    }
  } finally {
    await server.stop();
  }
}
