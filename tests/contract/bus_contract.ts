/** What every bus must do, whatever carries it. */
import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import type { Message } from "../../core/ports.ts";
import { bytes, type Client, eventually, fresh, type TargetMaker, text } from "./target.ts";

const FLUSH_MS = 5_000;

type Step = [name: string, run: (a: Client, b: Client) => Promise<void>];

/** Runs the suite on one target, with two clients on it. */
export function busContract({ name, ignore = false, make }: TargetMaker): void {
  Deno.test({
    name: `bus contract on ${name}`,
    ignore,
    async fn(t) {
      const target = await make();
      try {
        const a = await target.connect("alice");
        const b = await target.connect("bob");
        for (const [step, run] of STEPS) await t.step(step, () => run(a, b));
        await a.close();
        await b.close();
      } finally {
        await target.close();
      }
    },
  });
}

/** Listens on a client and returns what came in, live. */
async function listen(client: Client, subject: string, queue?: string): Promise<Message[]> {
  const heard: Message[] = [];
  client.bus.subscribe(subject, (each) => heard.push(each), queue === undefined ? {} : { queue });
  await client.bus.flush(FLUSH_MS);
  return heard;
}

const STEPS: Step[] = [
  ["publish() reaches every subscriber, in order, with its bytes", async (a, b) => {
    const subject = fresh("order");
    const [one, two] = [await listen(a, subject), await listen(b, subject)];
    const sent = Array.from({ length: 100 }, (_, at) => Uint8Array.of(at, 0, 255));
    for (const each of sent) a.bus.publish(subject, each);
    await eventually("all messages", () => [one.length, two.length], (n) => n.join() === "100,100");
    assert.deepEqual(one.map((each) => [...each.data]), sent.map((each) => [...each]));
    assert.deepEqual(two.map((each) => [...each.data]), sent.map((each) => [...each]));
  }],
  ["publish() carries an empty payload and a reply subject", async (a, b) => {
    const subject = fresh("reply");
    const heard = await listen(b, subject);
    a.bus.publish(subject, new Uint8Array(), { reply: "some.where" });
    await eventually("the message", () => heard.length, (n) => n === 1);
    assert.equal(heard[0]!.reply, "some.where");
    assert.equal(heard[0]!.data.length, 0);
    assert.equal(heard[0]!.status, undefined);
    assert.deepEqual(heard[0]!.headers, []);
  }],
  ["publish() keeps headers, with their spelling and all values of a name", async (a, b) => {
    const subject = fresh("headers");
    const heard = await listen(b, subject);
    const headers = [["Zester-Sig", "a b"], ["x-LOWER", "1"], ["x-LOWER", "2"]] as const;
    a.bus.publish(subject, bytes("body"), { headers });
    await eventually("the message", () => heard.length, (n) => n === 1);
    assert.deepEqual(heard[0]!.headers, headers);
    assert.equal(text(heard[0]!.data), "body");
  }],
  ["subscribe() with wildcards takes whole tokens only", async (a, b) => {
    const root = fresh("wild");
    const one = await listen(b, `${root}.*.x`);
    const tail = await listen(b, `${root}.>`);
    const subjects = [`${root}.a.x`, `${root}.b.x`, `${root}.a.y`, `${root}.a.b.x`, root];
    for (const each of subjects) a.bus.publish(each, bytes(""));
    a.bus.publish(`${root}.last`, bytes(""));
    await eventually("the last", () => tail.at(-1)?.subject, (each) => each === `${root}.last`);
    assert.deepEqual(one.map((each) => each.subject), subjects.slice(0, 2));
    assert.deepEqual(tail.map((each) => each.subject), [...subjects.slice(0, 4), `${root}.last`]);
  }],
  ["subscribe() with a queue gives each message to one of many", async (a, b) => {
    const subject = fresh("queue");
    const members = [
      await listen(a, subject, "workers"),
      await listen(a, subject, "workers"),
      await listen(b, subject, "workers"),
    ];
    const everyone = await listen(b, subject);
    for (let at = 0; at < 60; at++) a.bus.publish(subject, bytes(String(at)));
    const total = () => members.reduce((sum, each) => sum + each.length, 0);
    await eventually("all messages", () => [total(), everyone.length], (n) => n[1] === 60);
    await eventually("the queue's messages", total, (n) => n >= 60);
    const seen = members.flat().map((each) => Number(text(each.data))).sort((x, y) => x - y);
    assert.deepEqual(seen, Array.from({ length: 60 }, (_, at) => at));
    assert.ok(members.every((each) => each.length > 0), "every member gets some");
  }],
  ["unsubscribe() ends delivery and may be called again", async (a, b) => {
    const subject = fresh("unsubscribe");
    const heard: Message[] = [];
    const subscription = b.bus.subscribe(subject, (each) => heard.push(each));
    await b.bus.flush(FLUSH_MS);
    subscription.unsubscribe();
    subscription.unsubscribe();
    await b.bus.flush(FLUSH_MS);
    const other = await listen(b, subject);
    a.bus.publish(subject, bytes("late"));
    await eventually("the other subscription", () => other.length, (n) => n === 1);
    assert.deepEqual(heard, []);
  }],
  ["request() gets the first reply, at an inbox of its own", async (a, b) => {
    const subject = fresh("service");
    const subscription = b.bus.subscribe(subject, (each) => {
      b.bus.publish(each.reply!, bytes(`${text(each.data)}!`), { headers: [["From", "bob"]] });
      b.bus.publish(each.reply!, bytes("second"));
    });
    await b.bus.flush(FLUSH_MS);
    const answers = await Promise.all(
      ["x", "y", "z"].map((each) => a.bus.request(subject, bytes(each), { timeoutMs: 2_000 })),
    );
    assert.deepEqual(answers.map((each) => text(each.data)), ["x!", "y!", "z!"]);
    assert.deepEqual(answers[0]!.headers, [["From", "bob"]]);
    subscription.unsubscribe();
  }],
  ["request() fails with no_responders where nobody listens", async (a) => {
    await assert.rejects(
      a.bus.request(fresh("nobody"), bytes(""), { timeoutMs: 5_000 }),
      (error) => isZesterError(error, "no_responders"),
    );
  }],
  ["publish() with a reply gets a 503 there where nobody listens", async (a) => {
    const inbox = a.bus.inbox();
    const heard = await listen(a, inbox);
    a.bus.publish(fresh("nobody"), bytes(""), { reply: inbox });
    await eventually("the status", () => heard.length, (n) => n === 1);
    assert.equal(heard[0]!.status, 503);
  }],
  ["request() fails with timeout where the listener is silent", async (a, b) => {
    const subject = fresh("silent");
    await listen(b, subject);
    await assert.rejects(
      a.bus.request(subject, bytes(""), { timeoutMs: 50 }),
      (error) => isZesterError(error, "timeout"),
    );
  }],
  ["inbox() is fresh each time and below the client's own prefix", (a, b) => {
    assert.notEqual(a.bus.inbox(), a.bus.inbox());
    assert.ok(a.bus.inbox().startsWith("_INBOX.master.alice."), a.bus.inbox());
    assert.ok(b.bus.inbox().startsWith("_INBOX.master.bob."), b.bus.inbox());
    return Promise.resolve();
  }],
];
