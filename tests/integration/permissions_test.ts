/**
 * What peels and operators may do on a broker, allowed and refused, asked of the broker itself: a row that only the lists of
 * `core/grants.ts` know would not show a server that reads them in another way. Then the ways around permissions: whoever asks
 * a stream names the reply subject, and the broker sends the answer there as itself.
 */
import assert from "node:assert/strict";
import { buckets, streams } from "../../core/buckets.ts";
import { listKeys } from "../../core/nats/key_list.ts";
import type { NatsConnection } from "../../core/nats/mod.ts";
import type { Role } from "../../core/subjects.ts";
import { FLEET_BROKERS, type FleetBroker } from "../fakes/fleet_brokers.ts";
import type { WireClient } from "../fakes/wire_client.ts";

const IDENTITIES: [Role, string][] = [
  ["bootstrap", "bootstrap"],
  ["master", "m1"],
  ["peel", "web-01"],
  ["peel", "web-02"],
  ["operator", "alice"],
  ["direct", "dora"],
];
const JID = "2ZZZZZZZZZZZZZZZZZZZZZZZZZZ";
const GET = "$JS.API.DIRECT.GET";
const LIST = "$JS.API.STREAM.INFO.KV_enrollments";
/** The same, as it is called where clients have an account of their own. */
const CROSSED_LIST = "zester.keys.enrollments";

type Verb = "publish" | "subscribe" | "join";

/** Rows for all kinds of clients: nothing of this is anybody's. Commands are those who have direct mode; see `DIRECT`. */
const NOBODY: [Verb, string][] = [
  ["publish", `${GET}.KV_secrets`],
  ["publish", `${GET}.KV_state-files`],
  ["publish", `${GET}.KV_secrets.$KV.secrets.web-02`],
  ["publish", `${GET}.KV_secrets.$KV.secrets.*`],
  ["publish", `${GET}.KV_secrets.$KV.secrets.>`],
  ["publish", `${GET}.KV_secrets.>`],
  ["publish", `${GET}.KV_master-settings.$KV.master-settings.a`],
  ["publish", `${GET}.KV_leases.$KV.leases.publisher`],
  ["publish", `${GET}.job-events.zester.job.${JID}.return.web-02`],
  ["publish", `${GET}.events.zester.event._master.a`],
  ["publish", "$JS.API.INFO"],
  ["publish", "$JS.API.STREAM.MSG.GET.KV_secrets"],
  ["publish", "$JS.API.STREAM.MSG.GET.KV_state-files"],
  ["publish", "$JS.API.STREAM.MSG.DELETE.events"],
  ["publish", "$JS.API.STREAM.CREATE.mirror"],
  ["publish", "$JS.API.STREAM.UPDATE.events"],
  ["publish", "$JS.API.STREAM.DELETE.events"],
  ["publish", "$JS.API.STREAM.PURGE.events"],
  ["publish", "$JS.API.STREAM.SNAPSHOT.KV_secrets"],
  ["publish", "$JS.API.STREAM.RESTORE.KV_secrets"],
  ["publish", "$JS.API.STREAM.INFO.KV_secrets"],
  ["publish", "$JS.API.STREAM.INFO.KV_facts"],
  ["publish", "$JS.API.STREAM.INFO.job-events"],
  ["publish", "$JS.API.STREAM.INFO.unheard-of"],
  ["publish", "zester.keys.secrets"],
  ["publish", "$JS.API.STREAM.NAMES"],
  ["publish", "$JS.API.STREAM.LIST"],
  ["publish", "$JS.API.STREAM.LEADER.STEPDOWN.events"],
  ["publish", "$JS.API.CONSUMER.CREATE.KV_state-files"],
  ["publish", "$JS.API.CONSUMER.CREATE.KV_state-files.x"],
  ["publish", "$JS.API.CONSUMER.CREATE.KV_state-files.x.$KV.state-files.a"],
  ["publish", "$JS.API.CONSUMER.CREATE.events.reactor"],
  ["publish", "$JS.API.CONSUMER.DURABLE.CREATE.events.reactor"],
  ["publish", "$JS.API.CONSUMER.DELETE.events.reactor"],
  ["publish", "$JS.API.CONSUMER.INFO.events.reactor"],
  ["publish", "$JS.API.CONSUMER.NAMES.events"],
  ["publish", "$JS.API.CONSUMER.LIST.events"],
  ["publish", "$JS.API.CONSUMER.MSG.NEXT.events.reactor"],
  ["publish", "$JS.API.CONSUMER.PAUSE.events.reactor"],
  ["publish", "$JS.ACK.events.reactor.1.1.1.1.0"],
  ["publish", "$JS.FC.KV_state-files.x.y"],
  ["publish", "$KV.secrets.web-01"],
  ["publish", "$KV.facts.web-01"],
  ["publish", "$KV.jobs.x"],
  ["publish", "$KV.leases.publisher"],
  ["publish", "$SYS.REQ.SERVER.PING"],
  ["publish", "zester.notice.states"],
  ["publish", "zester.event._master.a"],
  ["publish", "zester.event.web-02.send.a"],
  ["publish", "zester.fact.web-02"],
  ["publish", "zester.basket.web-02.f"],
  ["publish", "zester.heartbeat.web-02"],
  ["publish", `zester.job.${JID}.ack.web-02`],
  ["publish", `zester.job.${JID}.return.web-02`],
  ["publish", `zester.job.${JID}.schedule.web-02`],
  ["publish", `zester.job.${JID}.dispatch`],
  ["publish", `zester.job.${JID}.status`],
  ["publish", "zester.dispatch.bob"],
  ["publish", "zester.admin.enroll.approve.bob"],
  ["publish", "zester.dead.a"],
  ["publish", "_INBOX.master.m1.x"],
  ["publish", "_INBOX.operator.bob.x"],
  ["publish", "_INBOX.peel.web-02.x"],
  ["subscribe", ">"],
  ["subscribe", "*"],
  ["subscribe", "zester.>"],
  ["subscribe", "zester.cmd.*"],
  ["subscribe", "zester.cmd.web-02"],
  ["join", "zester.cmd.web-02"],
  ["subscribe", "zester.job.>"],
  ["subscribe", "zester.job.*.return.*"],
  ["subscribe", `zester.job.${JID}.return.web-02`],
  ["subscribe", "zester.dispatch.*"],
  ["join", "zester.dispatch.*"],
  ["join", "zester.heartbeat.*"],
  ["subscribe", "zester.event.>"],
  ["subscribe", "zester.fact.web-02"],
  ["subscribe", "_INBOX.>"],
  ["subscribe", "_INBOX.*.>"],
  ["subscribe", "_INBOX.peel.>"],
  ["subscribe", "_INBOX.operator.>"],
  ["subscribe", "_INBOX.peel.web-02.>"],
  ["subscribe", "_INBOX.master.m1.>"],
  ["subscribe", "$KV.>"],
  ["subscribe", "$KV.secrets.web-01"],
  ["subscribe", "$JS.>"],
  ["subscribe", "$JS.ACK.>"],
  ["subscribe", "$JS.EVENT.ADVISORY.>"],
  ["subscribe", "$SYS.>"],
];

const PEEL: [Verb, string, allowed: boolean][] = [
  ["publish", `${GET}.KV_secrets.$KV.secrets.web-01`, true],
  ["publish", `${GET}.KV_secrets.$KV.secrets._trust`, true],
  ["publish", `${GET}.KV_state-files.$KV.state-files.b.abc`, true],
  ["publish", `${GET}.KV_settings-files.$KV.settings-files.a`, true],
  ["publish", "zester.event.web-01.send.a.b", true],
  ["publish", "zester.event.web-01.beacon.disk", true],
  ["publish", "zester.fact.web-01", true],
  ["publish", "zester.heartbeat.web-01", true],
  ["publish", `zester.job.${JID}.ack.web-01`, true],
  ["publish", `zester.job.${JID}.return.web-01`, true],
  ["subscribe", "zester.cmd.web-01", true],
  ["subscribe", "zester.notice.states", true],
  ["subscribe", "_INBOX.peel.web-01.x", true],
  ["publish", `${GET}.KV_facts.$KV.facts.web-01`, false],
  ["publish", `${GET}.KV_jobs.$KV.jobs.${JID}`, false],
  ["publish", `${GET}.KV_enrollments.$KV.enrollments.peel.web-01`, false],
  ["publish", LIST, false],
  ["publish", CROSSED_LIST, false],
  ["publish", "zester.cmd.web-01", false],
  ["publish", "zester.cmd.web-02", false],
  ["publish", "zester.dispatch.alice", false],
  ["publish", "zester.query.alice.jobs", false],
  ["publish", "zester.event._admin.send.a", false],
  ["publish", "_INBOX.operator.alice.x", false],
  ["subscribe", "_INBOX.operator.alice.>", false],
];

const OPERATOR: [Verb, string, allowed: boolean][] = [
  ["publish", "zester.dispatch.alice", true],
  ["publish", "zester.query.alice.jobs", true],
  ["publish", "zester.admin.enroll.approve.alice", true],
  ["publish", "zester.event._admin.send.a", true],
  ["publish", `${GET}.KV_jobs.$KV.jobs.${JID}`, true],
  ["publish", `${GET}.KV_enrollments.$KV.enrollments.peel.web-01`, true],
  ["publish", LIST, true],
  ["publish", CROSSED_LIST, true],
  ["subscribe", "_INBOX.operator.alice.x", true],
  ["publish", "zester.cmd.web-01", false],
  ["publish", `${GET}.KV_secrets.$KV.secrets.web-01`, false],
  ["publish", `${GET}.KV_state-files.$KV.state-files.a`, false],
  ["publish", "zester.event.web-01.send.a", false],
  ["publish", "zester.fact.web-01", false],
  ["publish", "zester.heartbeat.web-01", false],
  ["publish", `zester.job.${JID}.ack.web-01`, false],
  ["publish", `zester.job.${JID}.return.web-01`, false],
  ["subscribe", "zester.cmd.web-01", false],
  ["subscribe", "zester.notice.states", false],
  ["subscribe", "_INBOX.peel.web-01.>", false],
];

const DIRECT: [Verb, string, allowed: boolean][] = [
  ["publish", "zester.cmd.web-01", true],
  ["publish", "zester.cmd.web-02", true],
  ["publish", `${GET}.KV_facts.$KV.facts.web-01`, true],
  ["publish", `${GET}.KV_enrollments.$KV.enrollments.peel.web-01`, true],
  ["publish", LIST, true],
  ["publish", CROSSED_LIST, true],
  ["subscribe", "_INBOX.direct.dora.x", true],
  ["publish", "zester.dispatch.dora", false],
  ["publish", "zester.query.dora.jobs", false],
  ["publish", "zester.event._admin.send.a", false],
  ["publish", "zester.event.web-01.send.a", false],
  ["publish", `zester.job.${JID}.return.web-01`, false],
  ["publish", `${GET}.KV_secrets.$KV.secrets.web-01`, false],
  ["publish", "_INBOX.direct.dora.x", false],
  ["subscribe", "_INBOX.direct.>", false],
  ["subscribe", "_INBOX.operator.dora.x", false],
  ["subscribe", "zester.cmd.web-01", false],
];

async function isAllowed(client: WireClient, verb: Verb, subject: string): Promise<boolean> {
  const answer = verb === "publish"
    ? await client.publish(subject)
    : await client.subscribe(subject, verb === "join" ? "zester.masters" : "");
  assert.ok(answer === null || /Permissions Violation/.test(answer), `${subject}: ${answer}`);
  return answer === null;
}

for (const maker of FLEET_BROKERS) {
  const { ignore } = maker;

  Deno.test({
    name: `on ${maker.name} peels and operators may do what the tables say and nothing else`,
    ignore,
    async fn() {
      const broker = await maker.start(IDENTITIES);
      const wrong: string[] = [];
      try {
        for (
          const [role, identity, rows] of [
            ["peel", "web-01", PEEL],
            ["operator", "alice", OPERATOR],
            ["direct", "dora", DIRECT],
          ] as const
        ) {
          const client = await broker.attack(role, identity);
          const all = [
            ...rows,
            ...NOBODY.map(([verb, subject]) => [verb, subject, false] as const),
          ];
          for (const [verb, subject, allowed] of all) {
            if (await isAllowed(client, verb, subject) !== allowed) {
              wrong.push(`${role} may ${allowed ? "not " : ""}${verb} ${subject}`);
            }
          }
          client.close();
        }
      } finally {
        await broker.stop();
      }
      assert.deepEqual(wrong, []);
    },
  });

  Deno.test({
    name:
      `on ${maker.name} no reply subject of a client makes the broker delete, write or acknowledge`,
    ignore,
    fn: () => withStreams(maker.start(IDENTITIES), replyGames),
  });

  Deno.test({
    name: `on ${maker.name} operators learn by listKeys() which peels there are, and peels do not`,
    ignore,
    fn: () => withStreams(maker.start(IDENTITIES), listing),
  });

  Deno.test({
    name: `on ${maker.name} no header or body of a client reaches beyond its own subject`,
    ignore,
    fn: () => withStreams(maker.start(IDENTITIES), headerGames),
  });
}

interface Lab {
  readonly broker: FleetBroker;
  readonly bootstrap: NatsConnection;
  readonly master: NatsConnection;
}

async function withStreams(
  starting: Promise<FleetBroker>,
  use: (lab: Lab) => Promise<void>,
): Promise<void> {
  const broker = await starting;
  try {
    const bootstrap = await broker.connect("bootstrap", "bootstrap");
    for (const spec of Object.values(buckets)) await bootstrap.admin.ensureBucket(spec);
    for (const spec of Object.values(streams)) await bootstrap.admin.ensureStream(spec);
    const master = await broker.connect("master", "m1");
    await use({ broker, bootstrap, master });
    await master.close();
    await bootstrap.close();
  } finally {
    await broker.stop();
  }
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Everything that an answer at a wrong place could change: what streams there are, what they hold, what is pending. */
async function fingerprint({ bootstrap }: Lab): Promise<unknown> {
  const ask = async (subject: string, body = "") => {
    const { data } = await bootstrap.bus.request(subject, bytes(body), { timeoutMs: 5_000 });
    return JSON.parse(new TextDecoder().decode(data));
  };
  const { streams: names } = await ask("$JS.API.STREAM.NAMES");
  const held = [];
  for (const name of (names as string[]).sort()) {
    const { config, state } = await ask(`$JS.API.STREAM.INFO.${name}`, '{"subjects_filter":">"}');
    held.push([name, config.subjects, state.subjects, state.last_seq]);
  }
  const { num_ack_pending, ack_floor } = await ask("$JS.API.CONSUMER.INFO.events.reactor");
  return { held, num_ack_pending, acknowledged: ack_floor.stream_seq };
}

/** Where an answer would do harm. */
const HARM = [
  "$JS.API.STREAM.DELETE.KV_enrollments",
  "$JS.API.STREAM.DELETE.dead-letters",
  "$JS.API.STREAM.PURGE.events",
  "$JS.API.STREAM.MSG.DELETE.events",
  "$JS.API.CONSUMER.DELETE.events.reactor",
  "$JS.API.CONSUMER.CREATE.KV_state-files",
  "$JS.API.STREAM.CREATE.evil",
  "$JS.API.STREAM.UPDATE.KV_state-files",
  "$KV.secrets.web-02",
  "$KV.secrets._trust",
  "$KV.leases.publisher",
  "$KV.enrollments.peel.web-02",
];

async function replyGames(lab: Lab): Promise<void> {
  const { broker, master } = lab;
  const files = master.store.bucket(buckets.stateFiles.name);
  await files.put("a", bytes("stored"));
  await files.put("stream", bytes('{"name":"evil","subjects":["evil"],"storage":"memory"}'));
  await master.store.bucket(buckets.secrets.name).put("web-02", bytes("sealed"));
  const peel = await broker.attack("peel", "web-01");
  const operator = await broker.attack("operator", "alice");
  const direct = await broker.attack("direct", "dora");
  await peel.publish("zester.event.web-01.send.a", { payload: "event" });
  const [spec] = streams.events.durables;
  const reactor = await master.store.stream(streams.events.name).consumer({
    durable: spec.name,
    filter: spec.filter,
    deliver: spec.deliver,
    ackWaitMs: spec.ackWaitMs,
    maxAckPending: spec.maxAckPending,
  });
  const [delivery] = await reactor.fetch({ max: 1, waitMs: 2_000 });
  assert.ok(delivery, "the reactor has an event in hands");
  const before = await fingerprint(lab);
  const pending = "$JS.ACK.events.reactor.1.1.1.1700000000000000000.0";
  const file = `${GET}.KV_${buckets.stateFiles.name}.$KV.${buckets.stateFiles.name}`;

  for (const reply of [...HARM, pending]) {
    for (const key of ["a", "stream", "nothing-there"]) {
      await peel.publish(`${file}.${key}`, { reply });
    }
    for (const client of [operator, direct]) {
      await client.publish(`${GET}.KV_jobs.$KV.jobs.${JID}`, { reply });
      for (const list of [LIST, CROSSED_LIST]) {
        await client.publish(list, { reply });
        await client.publish(list, { reply, payload: '{"subjects_filter":">"}' });
      }
    }
  }
  // The answer of a stream to what was published: it moves only the publisher's own stream on.
  const own = `zester.job.${JID}.ack.web-01`;
  for (const reply of HARM) assert.equal(await peel.publish(own, { reply }), null);
  await hearsLast(peel, "_INBOX.peel.web-01.last", `${file}.a`);
  await hearsLast(operator, "_INBOX.operator.alice.last", LIST);
  await hearsLast(direct, "_INBOX.direct.dora.last", LIST);
  const after = await fingerprint(lab) as { held: [string, unknown, object, number][] };
  const jobEvents = after.held.find(([name]) => name === streams.jobEvents.name);
  assert.equal(jobEvents?.[3], HARM.length, "control: the peel's own acks were stored");
  assert.deepEqual(withoutJobs(after), withoutJobs(before));
  for (const client of [peel, operator, direct]) client.close();
}

/** A last question whose answer we hear: by then the answers before it have arrived wherever they went. */
async function hearsLast(client: WireClient, inbox: string, question: string): Promise<void> {
  assert.equal(await client.subscribe(inbox), null);
  await client.publish(question, { reply: inbox });
  while (!client.messages.some(({ subject }) => subject === inbox)) await client.send("PING");
}

function withoutJobs(print: unknown): unknown {
  const { held, ...rest } = print as { held: [string, ...unknown[]][] };
  return { ...rest, held: held.filter(([name]) => name !== streams.jobEvents.name) };
}

async function listing({ broker, master }: Lab): Promise<void> {
  const enrollments = master.store.bucket(buckets.enrollments.name);
  await enrollments.put("enr-1", bytes("record"));
  for (const id of ["web-02", "web-01"]) await enrollments.put(`peel.${id}`, bytes("enr-1"));
  for (const [role, identity] of [["operator", "alice"], ["direct", "dora"]] as const) {
    const client = await broker.connect(role, identity);
    const keys = await listKeys(client.bus, buckets.enrollments.name, "peel");
    assert.deepEqual(keys, ["peel.web-01", "peel.web-02"], role);
    assert.deepEqual(await listKeys(client.bus, buckets.enrollments.name, "none"), []);
    await client.close();
  }
  const peel = await broker.connect("peel", "web-01");
  await assert.rejects(listKeys(peel.bus, buckets.enrollments.name, "peel"));
  await peel.close();
}

async function headerGames(lab: Lab): Promise<void> {
  const { broker, master } = lab;
  const secrets = master.store.bucket(buckets.secrets.name);
  await secrets.put("web-01", bytes("mine"));
  await secrets.put("web-02", bytes("not mine"));
  const peel = await broker.attack("peel", "web-01");
  const own = `zester.job.${JID}.return.web-01`;
  const inbox = "_INBOX.peel.web-01.answers";
  await peel.subscribe(inbox);
  const answer = async (): Promise<string> => {
    while (peel.messages.length === 0) await peel.send("PING");
    return peel.messages.shift()?.text ?? "";
  };
  for (let count = 0; count < 3; count++) {
    await peel.publish(own, { payload: "x", reply: inbox });
    await answer();
  }
  for (const header of ["Nats-Rollup: all", "Nats-Rollup: sub", "Nats-TTL: 1s"]) {
    await peel.publish(own, { headers: header, reply: inbox });
    assert.match(await answer(), /"error"/, header);
  }
  const stored = await master.store.stream(streams.jobEvents.name).info();
  assert.equal(stored.messages, 3, "nothing was rolled up, nothing refused was stored");
  for (
    const body of [
      '{"seq":2}',
      '{"last_by_subj":"$KV.secrets.web-02"}',
      '{"next_by_subj":">"}',
      '{"multi_last":[">"],"batch":10}',
    ]
  ) {
    const key = `${GET}.KV_secrets.$KV.secrets.web-01`;
    await peel.publish(key, { payload: body, reply: inbox });
    const found = await answer();
    assert.doesNotMatch(found, /not mine/, body);
    assert.match(found, /^NATS\/1\.0 408/, body);
  }
  peel.close();
}
