import assert from "node:assert/strict";
import { join } from "node:path";
import {
  AckPolicy,
  type Consumer,
  type ConsumerMessages,
  DeliverPolicy,
  DiscardPolicy,
  jetstream,
  type JetStreamClient,
  type JetStreamManager,
  jetstreamManager,
  type JsMsg,
  RetentionPolicy,
} from "@nats-io/jetstream";
import { type KV, type KvEntry, Kvm } from "@nats-io/kv";
import {
  connect,
  type ConnectionOptions,
  createInbox,
  headers,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { systemClock } from "../core/adapters/system_clock.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
import { createEngine } from "./engine.ts";
import { type EmbeddedBroker, type EmbeddedOptions, startEmbedded, startServer } from "./server.ts";

// ---- helpers -------------------------------------------------------------------------------------------------

interface Lab {
  broker: EmbeddedBroker;
  client(options?: ConnectionOptions): Promise<NatsConnection>;
  raw(): Promise<RawClient>;
}

/** A broker on a port of its own, and clients that are closed with it. */
async function withBroker(
  run: (lab: Lab) => Promise<void>,
  options: Partial<EmbeddedOptions> = {},
): Promise<void> {
  const faults: Error[] = [];
  const broker = await startEmbedded({
    clock: systemClock,
    random: systemRandom,
    onError: (error) => faults.push(error),
    ...options,
  });
  const clients: NatsConnection[] = [];
  const raws: RawClient[] = [];
  try {
    await run({
      broker,
      async client(connectOptions = {}) {
        const client = await connect({ servers: broker.url, reconnect: false, ...connectOptions });
        clients.push(client);
        return client;
      },
      async raw() {
        const raw = await RawClient.open(broker.port);
        raws.push(raw);
        return raw;
      },
    });
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    for (const raw of raws) raw.close();
    await broker.close();
  }
  assert.deepEqual(faults, []);
}

/** Speaks the protocol byte by byte. */
class RawClient {
  readonly #socket: Deno.TcpConn;
  #seen = "";
  #isClosed = false;

  constructor(socket: Deno.TcpConn) {
    this.#socket = socket;
  }

  static async open(port: number): Promise<RawClient> {
    return new RawClient(await Deno.connect({ hostname: "127.0.0.1", port }));
  }

  async send(text: string): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    for (let done = 0; done < bytes.length;) done += await this.#socket.write(bytes.subarray(done));
  }

  /** All that came until the pattern was seen, or the server closed. */
  async until(pattern: RegExp): Promise<string> {
    const buffer = new Uint8Array(65_536);
    while (!pattern.test(this.#seen)) {
      const count = await this.#socket.read(buffer).catch(() => null);
      if (count === null) break;
      this.#seen += new TextDecoder().decode(buffer.subarray(0, count));
    }
    const seen = this.#seen;
    this.#seen = "";
    return seen;
  }

  /** All that came until the server closed the connection. */
  untilClosed(): Promise<string> {
    return this.until(/(?!)/);
  }

  close(): void {
    if (!this.#isClosed) this.#socket.close();
    this.#isClosed = true;
  }
}

function listen(
  client: NatsConnection,
  subject: string,
  handle: (message: Msg) => unknown,
  queue?: string,
): void {
  const callback = (_: Error | null, message: Msg) => void handle(message);
  client.subscribe(subject, queue === undefined ? { callback } : { callback, queue });
}

function at<T>(list: readonly T[], index: number): T {
  const value = list[index];
  assert.ok(value !== undefined, `nothing at ${index}`);
  return value;
}

async function take<T>(source: AsyncIterable<T>, count: number): Promise<T[]> {
  const taken: T[] = [];
  if (count === 0) return taken;
  for await (const each of source) {
    taken.push(each);
    if (taken.length === count) break;
  }
  return taken;
}

function texts(messages: readonly { string(): string }[]): string[] {
  return messages.map((message) => message.string());
}

// ---- core protocol -------------------------------------------------------------------------------------------

Deno.test("startServer() greets a client as a server of at least 2.10 with headers and JetStream", async () => {
  await withBroker(async ({ client }) => {
    const { info } = await client();
    assert.ok(info !== undefined);
    assert.match(info.version, /^2\.1\d\./);
    assert.match(info.server_name, /^zester-embedded-/);
    assert.deepEqual([info.headers, info.jetstream, info.auth_required ?? false], [
      true,
      true,
      false,
    ]);
    assert.equal(info.max_payload, 1_048_576);
  });
});

Deno.test("the server carries messages, wildcards and headers between clients", async () => {
  await withBroker(async ({ client }) => {
    const [from, to] = [await client(), await client()];
    const inbox: Subscription = to.subscribe("a.*.>", { max: 3 });
    await to.flush();
    const fields = headers();
    fields.append("Name", "one");
    fields.append("Name", "two");
    from.publish("a.b.c", "plain");
    from.publish("a.b.c.d", new Uint8Array(1_048_576).fill(65));
    from.publish("a.b", "not this");
    from.publish("a.b.c", "with", { headers: fields, reply: "answer.here" });
    const messages = await take<Msg>(inbox, 3);
    assert.equal(at(messages, 0).string(), "plain");
    assert.equal(at(messages, 1).data.length, 1_048_576);
    assert.deepEqual(at(messages, 2).headers?.values("Name"), ["one", "two"]);
    assert.equal(at(messages, 2).reply, "answer.here");
  });
});

Deno.test("the server gives each message to one member of a queue group", async () => {
  await withBroker(async ({ client }) => {
    const counts = [0, 0, 0];
    const members = await Promise.all(counts.map(() => client()));
    members.forEach((member, index) =>
      listen(member, "work", () => counts[index] = (counts[index] ?? 0) + 1, "q")
    );
    await Promise.all(members.map((member) => member.flush()));
    const sender = await client();
    for (let sent = 0; sent < 300; sent++) sender.publish("work");
    await sender.flush();
    await Promise.all(members.map((member) => member.flush()));
    assert.equal(counts.reduce((sum, count) => sum + count), 300);
    assert.ok(counts.every((count) => count > 0));
  });
});

Deno.test("the server answers a request to nobody with no responders, and carries others", async () => {
  await withBroker(async ({ client }) => {
    const [asker, answerer] = [await client(), await client()];
    await assert.rejects(asker.request("nobody", "", { timeout: 2000 }), /no responders/);
    listen(answerer, "add", (message) => message.respond(`${message.string()}!`));
    await answerer.flush();
    assert.equal((await asker.request("add", "x", { timeout: 2000 })).string(), "x!");
  });
});

Deno.test("the server does not echo to a client that asked not to be echoed", async () => {
  await withBroker(async ({ client }) => {
    const [silent, loud] = [await client({ noEcho: true }), await client()];
    const seen: string[] = [];
    listen(silent, "x", (message) => seen.push(`silent ${message.string()}`));
    listen(loud, "x", (message) => seen.push(`loud ${message.string()}`));
    await Promise.all([silent.flush(), loud.flush()]);
    silent.publish("x", "1");
    await silent.flush();
    loud.publish("x", "2");
    await Promise.all([silent.flush(), loud.flush()]);
    await silent.flush();
    assert.deepEqual(seen.sort(), ["loud 1", "loud 2", "silent 2"]);
  });
});

Deno.test("the server confirms every operation of a verbose client", async () => {
  await withBroker(async ({ raw }) => {
    const client = await raw();
    await client.until(/^INFO .*\r\n/);
    await client.send('CONNECT {"verbose":true}\r\nSUB a 1\r\nPUB a 1\r\nx\r\nUNSUB 1\r\nPING\r\n');
    const answer = await client.until(/PONG\r\n/);
    assert.equal(answer, "+OK\r\n+OK\r\nMSG a 1 1\r\nx\r\n+OK\r\n+OK\r\nPONG\r\n");
  });
});

Deno.test("the server strips headers for a client that does not know them", async () => {
  await withBroker(async ({ raw, client }) => {
    const old = await raw();
    await old.send('CONNECT {"headers":false}\r\nSUB a 1\r\nPING\r\n');
    await old.until(/PONG\r\n/);
    const fields = headers();
    fields.set("A", "b");
    (await client()).publish("a", "x", { headers: fields });
    assert.equal(await old.until(/MSG[^]*x\r\n/), "MSG a 1 1\r\nx\r\n");
  });
});

Deno.test("the server ends a subscription after as many messages as UNSUB says", async () => {
  await withBroker(async ({ raw }) => {
    const client = await raw();
    const publish = "PUB a 1\r\nx\r\n";
    await client.send(`CONNECT {}\r\nSUB a 1\r\nUNSUB 1 2\r\n${publish.repeat(5)}PING\r\n`);
    const answer = await client.until(/PONG\r\n/);
    assert.equal(answer.match(/MSG a 1 1/g)?.length, 2);
  });
});

// ---- bad clients ---------------------------------------------------------------------------------------------

const malformed: [name: string, input: string, answer: RegExp][] = [
  ["noise", "\x00\x01\x02\xff\r\n", /Unknown Protocol Operation/],
  ["an HTTP request", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", /Unknown Protocol Operation/],
  ["a publication before CONNECT", "PUB a 1\r\nx\r\n", /Authorization Violation/],
  ["a line that never ends", `CONNECT ${"x".repeat(10_000)}`, /Maximum Control Line Exceeded/],
  ["too large a payload", "CONNECT {}\r\nPUB a 1048577\r\n", /Maximum Payload Violation/],
  ["a subject with an empty token", "CONNECT {}\r\nPUB a..b 0\r\n\r\n", /Invalid Publish Subject/],
  ["broken headers", "CONNECT {}\r\nHPUB a 4 4\r\nnope\r\n", /Parser Error/],
];

Deno.test("the server closes the connection of a client that breaks the protocol, and no other", async () => {
  await withBroker(async ({ broker, client, raw }) => {
    const [good, other] = [await client(), await client()];
    const inbox = good.subscribe("still.here");
    await good.flush();
    for (const [name, input, answer] of malformed) {
      const bad = await raw();
      await bad.send(input);
      assert.match(await bad.untilClosed(), answer, name);
    }
    other.publish("still.here", "yes");
    assert.deepEqual(texts(await take(inbox, 1)), ["yes"]);
    assert.equal(broker.connections, 2);
  });
});

Deno.test("the server performs what came before a protocol error in the same bytes", async () => {
  await withBroker(async ({ client, raw }) => {
    const good = await client();
    const inbox = good.subscribe("a");
    await good.flush();
    const bad = await raw();
    await bad.send("CONNECT {}\r\nPUB a 5\r\nfirst\r\nBROKEN\r\nPUB a 6\r\nsecond\r\n");
    await bad.untilClosed();
    good.publish("a", "third");
    assert.deepEqual(texts(await take(inbox, 2)), ["first", "third"]);
  });
});

Deno.test("the server cuts off a client that does not introduce itself in time", async () => {
  await withBroker(async ({ raw }) => {
    const silent = await raw();
    assert.match(await silent.untilClosed(), /-ERR 'Authentication Timeout'/);
  }, { limits: { connectMsMax: 20 } });
});

Deno.test("the server pings a silent client and gives up on one that does not answer", async () => {
  await withBroker(async ({ client, raw }) => {
    const good = await client();
    const silent = await raw();
    await silent.send("CONNECT {}\r\n");
    const seen = await silent.untilClosed();
    assert.equal(seen.match(/PING/g)?.length, 2);
    assert.match(seen, /-ERR 'Stale Connection'/);
    await good.flush(); // this one answered
  }, { limits: { pingIntervalMs: 20 } });
});

Deno.test("the server refuses connections beyond its limit and takes new ones when some have gone", async () => {
  await withBroker(async ({ broker, raw }) => {
    const first = await raw();
    await first.send("CONNECT {}\r\nPING\r\n");
    await first.until(/PONG/);
    assert.match(await (await raw()).untilClosed(), /maximum connections exceeded/);
    first.close();
    while (broker.connections > 0) await systemClock.sleep(1);
    const next = await raw();
    await next.send("CONNECT {}\r\nPING\r\n");
    assert.match(await next.until(/PONG/), /PONG/);
  }, { limits: { connectionsMax: 1 } });
});

Deno.test("the server cuts off a client that reads too slowly, and only that one", async () => {
  await withBroker(async ({ broker, client, raw }) => {
    const [sender, reader] = [await client(), await client()];
    let received = 0;
    listen(reader, "flood", () => received++);
    await reader.flush();
    const slow = await raw();
    await slow.send("CONNECT {}\r\nSUB flood 1\r\nPING\r\n");
    await slow.until(/PONG/);
    const payload = new Uint8Array(1_000_000);
    let sent = 0;
    while (broker.connections === 3 && sent < 200) {
      sender.publish("flood", payload);
      sent++;
      await sender.flush();
      await reader.flush();
    }
    await reader.flush();
    assert.ok(sent < 200, "the slow reader was never cut off");
    assert.equal(received, sent);
  }, { limits: { pendingBytesMax: 8_000_000 } });
});

// ---- logins and permissions ----------------------------------------------------------------------------------

const USERS = [
  { user: "admin", password: "right" },
  {
    user: "peel",
    password: "narrow",
    permissions: {
      publish: {
        allow: ["out.>", "$JS.API.DIRECT.GET.KV_open.$KV.open.mine"],
        deny: ["out.secret"],
      },
      subscribe: { allow: ["in.>", "_INBOX.peel.>"], deny: ["in.secret"] },
    },
  },
];

const logins: [name: string, options: ConnectionOptions][] = [
  ["no login", {}],
  ["a wrong password", { user: "admin", pass: "wrong" }],
  ["an empty password", { user: "admin", pass: "" }],
  ["an unknown user", { user: "nobody", pass: "right" }],
  ["another user's password", { user: "peel", pass: "right" }],
];

for (const [name, options] of logins) {
  Deno.test(`the server refuses ${name} with an authorization violation`, async () => {
    await withBroker(async ({ client, broker }) => {
      await assert.rejects(client(options), /uthorization/);
      const admin = await client({ user: "admin", pass: "right" });
      await admin.flush();
      assert.equal(broker.connections, 1);
    }, { users: USERS });
  });
}

Deno.test("the server refuses what permissions do not allow, says so, and keeps the connection", async () => {
  await withBroker(async ({ raw, client }) => {
    const admin = await client({ user: "admin", pass: "right" });
    const seen: string[] = [];
    listen(admin, ">", (message) => seen.push(message.subject));
    await admin.flush();
    const peel = await raw();
    await peel.send('CONNECT {"user":"peel","pass":"narrow"}\r\n');
    for (const subject of ["out.x", "out.secret", "other", "$JS.API.STREAM.NAMES"]) {
      await peel.send(`PUB ${subject} 0\r\n\r\n`);
    }
    await peel.send("SUB in.x 1\r\nSUB in.secret 2\r\nSUB > 3\r\nSUB other q 4\r\nPING\r\n");
    const answers = (await peel.until(/PONG/)).split("\r\n").filter((line) => line.startsWith("-"));
    assert.deepEqual(answers, [
      `-ERR 'Permissions Violation for Publish to "out.secret"'`,
      `-ERR 'Permissions Violation for Publish to "other"'`,
      `-ERR 'Permissions Violation for Publish to "$JS.API.STREAM.NAMES"'`,
      `-ERR 'Permissions Violation for Subscription to "in.secret"'`,
      `-ERR 'Permissions Violation for Subscription to ">"'`,
      `-ERR 'Permissions Violation for Subscription to "other" using queue "q"'`,
    ]);
    admin.publish("in.x", "yes");
    assert.match(await peel.until(/MSG in\.x 1 3/), /MSG in\.x 1 3/);
    await admin.flush();
    assert.deepEqual(seen, ["out.x", "in.x"]);
  }, { users: USERS });
});

Deno.test("the API lets a client read by direct get exactly the key it may ask for", async () => {
  await withBroker(async ({ client }) => {
    const admin = await client({ user: "admin", pass: "right" });
    const kv = await new Kvm(admin).create("open");
    await kv.put("mine", "1");
    await kv.put("yours", "2");
    const peel = await client({ user: "peel", pass: "narrow", inboxPrefix: "_INBOX.peel" });
    const get = (key: string) =>
      peel.request(`$JS.API.DIRECT.GET.KV_open.$KV.open.${key}`, "", { timeout: 1000 });
    const mine = await get("mine");
    assert.equal(mine.string(), "1");
    assert.equal(mine.headers?.get("Nats-Stream"), "KV_open");
    assert.equal(mine.headers?.get("Nats-Subject"), "$KV.open.mine");
    assert.equal(mine.headers?.get("Nats-Sequence"), "1");
    assert.ok(Number.isFinite(Date.parse(mine.headers?.get("Nats-Time-Stamp") ?? "")));
    await assert.rejects(get("yours"), /[Pp]ermissions/);
  }, { users: USERS });
});

Deno.test("the API sends no answer to the broker's own subjects, so that stored bytes order nothing", async () => {
  await withBroker(async ({ client }) => {
    const admin = await client({ user: "admin", pass: "right" });
    const kv = await new Kvm(admin).create("open");
    await kv.put("mine", "{}");
    const peel = await client({ user: "peel", pass: "narrow" });
    const reply = "$JS.API.STREAM.DELETE.KV_open";
    peel.publish("$JS.API.DIRECT.GET.KV_open.$KV.open.mine", "", { reply });
    await peel.flush();
    assert.equal((await kv.get("mine"))?.string(), "{}");
  }, { users: USERS });
});

// ---- JetStream through the client ----------------------------------------------------------------------------

interface Streams {
  js: JetStreamClient;
  jsm: JetStreamManager;
}

async function withStreams(run: (streams: Streams & Lab) => Promise<void>): Promise<void> {
  await withBroker(async (lab) => {
    const client = await lab.client();
    await run({ ...lab, js: jetstream(client), jsm: await jetstreamManager(client) });
  });
}

Deno.test("the API makes, changes, lists, purges and deletes streams", async () => {
  await withStreams(async ({ js, jsm }) => {
    const made = await jsm.streams.add({ name: "orders", subjects: ["orders.>"], max_msgs: 10 });
    assert.equal(made.config.name, "orders");
    assert.equal(made.config.max_msgs, 10);
    assert.equal(made.config.retention, RetentionPolicy.Limits);
    assert.equal(made.config.discard, DiscardPolicy.Old);
    await assert.rejects(
      jsm.streams.add({ name: "orders", subjects: ["other.>"] }),
      /already in use/,
    );
    await assert.rejects(jsm.streams.add({ name: "clash", subjects: ["orders.x"] }), /overlap/);
    const updated = await jsm.streams.update("orders", { max_msgs: 20 });
    assert.equal(updated.config.max_msgs, 20);
    await jsm.streams.add({ name: "second", subjects: ["second"] });
    assert.deepEqual(await collect(jsm.streams.names()), ["orders", "second"]);
    assert.equal((await collect(jsm.streams.list())).length, 2);
    assert.equal(await jsm.streams.find("orders.x"), "orders");
    for (const key of ["a", "b", "a"]) await js.publish(`orders.${key}`, key);
    const info = await jsm.streams.info("orders", { subjects_filter: ">" });
    assert.deepEqual(info.state.subjects, { "orders.a": 2, "orders.b": 1 });
    assert.deepEqual([info.state.messages, info.state.last_seq], [3, 3]);
    assert.equal((await jsm.streams.purge("orders", { filter: "orders.a" })).purged, 2);
    assert.equal(await jsm.streams.deleteMessage("orders", 2), true);
    assert.equal((await jsm.streams.info("orders")).state.messages, 0);
    assert.equal(await jsm.streams.delete("orders"), true);
    await assert.rejects(jsm.streams.info("orders"), /stream not found/);
    assert.equal((await jsm.getAccountInfo()).streams, 1);
  });
});

async function collect<T>(lister: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const each of lister) all.push(each);
  return all;
}

const refusedSettings: [name: string, settings: Record<string, unknown>][] = [
  ["a mirror", { mirror: { name: "x" } }],
  ["sources", { sources: [{ name: "x" }] }],
  ["republishing", { republish: { src: ">", dest: "x.>" } }],
  ["message lifetimes", { allow_msg_ttl: true }],
  ["settings of the wrong kind", { max_msgs: "many" }],
];

Deno.test("the API refuses stream settings that it does not have instead of ignoring them", async () => {
  await withStreams(async ({ jsm, client }) => {
    const nc = await client();
    for (const [name, settings] of refusedSettings) {
      const body = JSON.stringify({ name: "s", subjects: ["s"], ...settings });
      const answer = (await nc.request("$JS.API.STREAM.CREATE.s", body)).json<Answer>();
      assert.ok(answer.error !== undefined, name);
    }
    assert.deepEqual(await collect(jsm.streams.names()), []);
  });
});

interface Answer {
  type: string;
  error?: { code: number; err_code: number; description: string };
}

const badRequests: [subject: string, body: string, code: number][] = [
  ["STREAM.CREATE.s", "{", 10025],
  ["STREAM.CREATE.s", "[".repeat(100_000), 10025],
  ["STREAM.CREATE.s", '{"name":"other","subjects":["x"]}', 10056],
  ["STREAM.INFO.missing", "", 10059],
  ["STREAM.MSG.GET.base", '{"seq":99}', 10037],
  ["STREAM.MSG.GET.base", "{}", 10003],
  ["CONSUMER.INFO.base.missing", "", 10014],
  ["CONSUMER.CREATE.base", '{"stream_name":"other","config":{}}', 10056],
  ["CONSUMER.CREATE.base", '{"config":{}}', 10056],
  ["CONSUMER.CREATE.base", '{"stream_name":"base","config":{"durable_name":"d"}}', 10020],
  ["CONSUMER.CREATE.base.one", '{"stream_name":"base","config":{"name":"two"}}', 10017],
  [
    "CONSUMER.CREATE.base.one.base.a",
    '{"stream_name":"base","config":{"filter_subject":"base.b"}}',
    10131,
  ],
  ["CONSUMER.DURABLE.CREATE.base.one", '{"stream_name":"base","config":{}}', 10018],
  [
    "CONSUMER.DURABLE.CREATE.base.one",
    '{"stream_name":"base","config":{"durable_name":"two"}}',
    10017,
  ],
];

Deno.test("the API answers bad requests with the errors of nats-server", async () => {
  await withStreams(async ({ jsm, client }) => {
    await jsm.streams.add({ name: "base", subjects: ["base.>"] });
    const nc = await client();
    for (const [subject, body, code] of badRequests) {
      const answer = (await nc.request(`$JS.API.${subject}`, body)).json<Answer>();
      assert.equal(answer.error?.err_code, code, `${subject} ${body.slice(0, 60)}`);
      assert.match(answer.type, /^io\.nats\.jetstream\.api\.v1\.[a-z_]+_response$/);
    }
    await assert.rejects(nc.request("$JS.API.STREAM.SNAPSHOT.base"), /no responders/);
    await assert.rejects(nc.request("$JS.API.DIRECT.GET.missing.x"), /no responders/);
    await assert.rejects(nc.request("$JS.API.CONSUMER.MSG.NEXT.base.x", "1"), /no responders/);
  });
});

Deno.test("the server stores publications with ids and expected sequences", async () => {
  await withStreams(async ({ js, jsm }) => {
    await jsm.streams.add({ name: "s", subjects: ["s.>"] });
    const first = await js.publish("s.a", "1", { msgID: "m1" });
    assert.deepEqual([first.stream, first.seq, first.duplicate], ["s", 1, false]);
    assert.equal((await js.publish("s.a", "1", { msgID: "m1" })).duplicate, true);
    const expecting = (expect: object) => js.publish("s.b", "2", { expect });
    await assert.rejects(expecting({ lastSequence: 5 }), /wrong last sequence/);
    await assert.rejects(expecting({ lastSubjectSequence: 1 }), /wrong last sequence/);
    await assert.rejects(expecting({ streamName: "t" }), /expected stream does not match/);
    assert.equal((await expecting({ lastSequence: 1, lastSubjectSequence: 0 })).seq, 2);
    await assert.rejects(js.publish("nowhere", "x"), /not enabled/);
    const stored = await jsm.streams.getMessage("s", { last_by_subj: "s.a" });
    assert.deepEqual([stored?.string(), stored?.seq, stored?.header.get("Nats-Msg-Id")], [
      "1",
      1,
      "m1",
    ]);
    assert.equal(await jsm.streams.getMessage("s", { last_by_subj: "s.z" }), null);
  });
});

Deno.test("the API answers direct gets by sequence, by subject and by next subject", async () => {
  await withStreams(async ({ js, jsm }) => {
    await jsm.streams.add({ name: "s", subjects: ["s.>"], allow_direct: true });
    for (const key of ["a", "b", "a"]) await js.publish(`s.${key}`, key);
    const get = (query: Parameters<typeof jsm.direct.getMessage>[1]) =>
      jsm.direct.getMessage("s", query);
    assert.equal((await get({ seq: 2 }))?.subject, "s.b");
    assert.equal((await get({ last_by_subj: "s.a" }))?.seq, 3);
    assert.equal((await get({ seq: 2, next_by_subj: "s.a" }))?.seq, 3);
    assert.equal(await get({ seq: 9 }), null);
    assert.equal(await get({ last_by_subj: "s.z" }), null);
  });
});

async function withConsumer(
  run: (lab: { consumer: Consumer } & Streams & Lab) => Promise<void>,
): Promise<void> {
  await withStreams(async (streams) => {
    const { js, jsm } = streams;
    await jsm.streams.add({ name: "s", subjects: ["s.>"] });
    await jsm.consumers.add("s", {
      durable_name: "reader",
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: 60_000_000_000,
    });
    for (const value of ["1", "2", "3", "4"]) await js.publish(`s.${value}`, value);
    await run({ ...streams, consumer: await js.consumers.get("s", "reader") });
  });
}

async function fetch(consumer: Consumer, count: number): Promise<JsMsg[]> {
  return await collect(await consumer.fetch({ max_messages: count, expires: 1000 }));
}

Deno.test("a pull consumer fetches, acknowledges, refuses, delays and ends messages", async () => {
  await withConsumer(async ({ consumer }) => {
    const messages = await fetch(consumer, 4);
    assert.deepEqual(texts(messages), ["1", "2", "3", "4"]);
    assert.deepEqual(messages.map(({ info }) => info.deliveryCount), [1, 1, 1, 1]);
    assert.equal(await at(messages, 0).ackAck(), true);
    at(messages, 1).nak();
    at(messages, 2).term("no use");
    at(messages, 3).working();
    const [again] = await fetch(consumer, 1);
    assert.equal(again?.string(), "2");
    assert.equal(again?.info.deliveryCount, 2);
    await again?.ackAck();
    const info = await consumer.info();
    assert.deepEqual([info.num_ack_pending, info.num_pending], [1, 0]);
    assert.equal(await consumer.next({ expires: 1000 }), null);
  });
});

Deno.test("a pull consumer consumes without end, also what is published later", async () => {
  await withConsumer(async ({ consumer, js }) => {
    const messages: ConsumerMessages = await consumer.consume({ max_messages: 2 });
    const seen: string[] = [];
    for await (const message of messages) {
      seen.push(message.string());
      message.ack();
      if (seen.length === 4) await js.publish("s.5", "5");
      if (seen.length === 5) break;
    }
    assert.deepEqual(seen, ["1", "2", "3", "4", "5"]);
  });
});

Deno.test("an ordered consumer reads a stream from its beginning", async () => {
  await withConsumer(async ({ js }) => {
    const ordered = await js.consumers.get("s", { filter_subjects: ["s.2", "s.3"] });
    assert.deepEqual(texts(await fetch(ordered, 2)), ["2", "3"]);
  });
});

Deno.test("the API lists and deletes consumers", async () => {
  await withConsumer(async ({ jsm }) => {
    const listed = await collect(jsm.consumers.list("s"));
    assert.deepEqual(listed.map(({ name }) => name), ["reader"]);
    assert.equal(await jsm.consumers.delete("s", "reader"), true);
    await assert.rejects(jsm.consumers.info("s", "reader"), /consumer not found/);
  });
});

async function withBucket(run: (kv: KV, lab: Lab) => Promise<void>): Promise<void> {
  await withBroker(async (lab) => {
    const client = await lab.client();
    await run(await new Kvm(client).create("box", { history: 5 }), lab);
  });
}

Deno.test("a bucket creates, puts, gets, updates by revision and deletes", async () => {
  await withBucket(async (kv, { client }) => {
    assert.equal(await kv.get("a"), null);
    assert.equal(await kv.create("a", "1"), 1);
    await assert.rejects(kv.create("a", "again"), /wrong last sequence|exists/);
    assert.equal(await kv.put("a", "2"), 2);
    await assert.rejects(kv.update("a", "3", 1), /wrong last sequence/);
    assert.equal(await kv.update("a", "3", 2), 3);
    const other = await new Kvm(await client()).open("box");
    assert.equal((await other.get("a"))?.string(), "3");
    assert.equal((await other.get("a", { revision: 1 }))?.string(), "1");
    await other.delete("a");
    assert.equal((await kv.get("a"))?.operation, "DEL");
    assert.equal(await kv.create("a", "new"), 5);
    assert.deepEqual((await kv.status()).values, 5);
  });
});

Deno.test("a bucket lists keys and history and tells watchers", async () => {
  await withBucket(async (kv) => {
    await kv.put("a.x", "1");
    await kv.put("a.y", "2");
    await kv.put("b", "3");
    await kv.put("a.x", "4");
    assert.deepEqual((await collect(await kv.keys())).sort(), ["a.x", "a.y", "b"]);
    assert.deepEqual((await collect(await kv.keys("a.*"))).sort(), ["a.x", "a.y"]);
    const history = await collect(await kv.history({ key: "a.x" }));
    assert.deepEqual(history.map((entry: KvEntry) => entry.string()), ["1", "4"]);
    const watch = await kv.watch({ key: "a.>" });
    const seen: string[] = [];
    for await (const entry of watch) {
      seen.push(`${entry.operation} ${entry.key} ${entry.string()}`);
      if (seen.length === 2) await kv.put("a.z", "5");
      if (seen.length === 3) await kv.delete("a.y");
      if (seen.length === 4) break;
    }
    assert.deepEqual(seen, ["PUT a.y 2", "PUT a.x 4", "PUT a.z 5", "DEL a.y "]);
  });
});

Deno.test("a bucket purges a key and forgets its history", async () => {
  await withBucket(async (kv) => {
    await kv.put("a", "1");
    await kv.put("a", "2");
    await kv.purge("a");
    const history = await collect(await kv.history({ key: "a" }));
    assert.deepEqual(history.map((entry: KvEntry) => entry.operation), ["PURGE"]);
  });
});

Deno.test("concurrent creates of one key have one winner", async () => {
  await withBucket(async (_, { client }) => {
    const attempts = await Promise.allSettled(
      Array.from({ length: 8 }, async (_, index) => {
        const kv = await new Kvm(await client()).open("box");
        return await kv.create("lease", `${index}`);
      }),
    );
    assert.equal(attempts.filter(({ status }) => status === "fulfilled").length, 1);
  });
});

// ---- restart -------------------------------------------------------------------------------------------------

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("startEmbedded() finds streams, buckets and consumers again after a restart", async () => {
  await inFolder(async (storePath) => {
    await withBroker(async ({ client }) => {
      const nc = await client();
      const jsm = await jetstreamManager(nc);
      await jsm.streams.add({ name: "s", subjects: ["s.>"] });
      await jsm.consumers.add("s", { durable_name: "reader", ack_policy: AckPolicy.Explicit });
      for (const value of ["1", "2", "3"]) await jetstream(nc).publish("s.x", value);
      const consumer = await jetstream(nc).consumers.get("s", "reader");
      await (await consumer.next())?.ackAck();
      const kv = await new Kvm(nc).create("box");
      await kv.put("a", "kept");
    }, { storePath });
    await withBroker(async ({ client }) => {
      const nc = await client();
      const consumer = await jetstream(nc).consumers.get("s", "reader");
      assert.deepEqual(texts(await fetch(consumer, 2)), ["2", "3"]);
      const kv = await new Kvm(nc).open("box");
      assert.equal((await kv.get("a"))?.string(), "kept");
      assert.equal(await kv.put("a", "newer"), 2);
    }, { storePath });
  });
});

Deno.test("startEmbedded() shrinks a log that is mostly dead, and loses nothing by it", async () => {
  await inFolder(async (storePath) => {
    const log = join(storePath, "broker.log");
    await withBroker(async ({ client }) => {
      const kv = await new Kvm(await client()).create("box");
      for (let count = 1; count <= 40; count++) {
        await kv.put("a", new Uint8Array(50_000).fill(count));
      }
      await kv.put("b", "small");
    }, { storePath });
    assert.ok((await Deno.stat(log)).size > 2_000_000);
    for (let start = 1; start <= 2; start++) {
      await withBroker(async ({ client }) => {
        const kv = await new Kvm(await client()).open("box");
        const entry = await kv.get("a");
        assert.deepEqual(entry?.value, new Uint8Array(50_000).fill(40));
        assert.equal(entry?.revision, 40);
        assert.equal((await kv.get("b"))?.string(), "small");
      }, { storePath });
      assert.ok((await Deno.stat(log)).size < 100_000);
    }
  });
});

Deno.test("startEmbedded() loses no acknowledged message when its log is cut at any byte of the last record", async () => {
  await inFolder(async (storePath) => {
    const log = join(storePath, "broker.log");
    let acknowledgedBytes = 0;
    await withBroker(async ({ client }) => {
      const nc = await client();
      await (await jetstreamManager(nc)).streams.add({ name: "s", subjects: ["s"] });
      const js = jetstream(nc);
      for (let count = 1; count <= 20; count++) {
        acknowledgedBytes = (await Deno.stat(log)).size; // all before this publication is acknowledged
        await js.publish("s", `message ${count}`, { msgID: `m${count}` });
      }
    }, { storePath });
    const whole = await Deno.readFile(log);
    assert.ok(whole.length > acknowledgedBytes);
    for (let cut = acknowledgedBytes; cut <= whole.length; cut++) {
      await Deno.writeFile(log, whole.subarray(0, cut));
      const kept = await storedMessages(storePath);
      const want = Array.from({ length: cut === whole.length ? 20 : 19 }, (_, at) => at + 1);
      assert.deepEqual(kept, want.map((count) => `message ${count}`), `cut at ${cut}`);
    }
  });
});

/** What the stream `s` holds after a start on this folder. */
async function storedMessages(storePath: string): Promise<string[]> {
  const broker = await startEmbedded({ clock: systemClock, random: systemRandom, storePath });
  try {
    const { state } = broker.engine.jetstream.streamInfo("s");
    const kept: string[] = [];
    for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
      const { data } = broker.engine.jetstream.getMessage("s", { seq });
      kept.push(new TextDecoder().decode(data));
    }
    return kept;
  } finally {
    await broker.close();
  }
}

Deno.test("the server acknowledges a publication only after it is on disk", async () => {
  await inFolder(async (storePath) => {
    await withBroker(async ({ client }) => {
      const nc = await client();
      await (await jetstreamManager(nc)).streams.add({ name: "s", subjects: ["s"] });
      const js = jetstream(nc);
      const log = join(storePath, "broker.log");
      for (let count = 0; count < 5; count++) {
        const secret = createInbox("unique");
        await js.publish("s", secret);
        const onDisk = new TextDecoder().decode(await Deno.readFile(log));
        assert.ok(onDisk.includes(secret));
      }
    }, { storePath });
  });
});

Deno.test("startEmbedded() refuses a folder in use, and leaves nothing open", async () => {
  await inFolder(async (storePath) => {
    await withBroker(async () => {
      await assert.rejects(
        startEmbedded({ clock: systemClock, random: systemRandom, storePath }),
        { code: "config_invalid", message: /another broker/ },
      );
    }, { storePath });
  });
});

Deno.test("startServer() refuses a port that is in use with a clear error", async () => {
  await withBroker(({ broker }) => {
    const engine = createEngine({ clock: systemClock, random: systemRandom });
    const listen = { hostname: "127.0.0.1", port: broker.port };
    assert.throws(
      () => startServer({ engine, listen, clock: systemClock, random: systemRandom }),
      { code: "config_invalid", message: /broker, listening on 127\.0\.0\.1:\d+/ },
    );
    engine.close();
    return Promise.resolve();
  });
});
