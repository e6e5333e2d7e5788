/** What the guides promise about a peel's part in a job, on a simulated clock. Each name holds the sentence it covers. */
import assert from "node:assert/strict";
import { ZesterError } from "../../core/errors.ts";
import type { Store, Stream } from "../../core/ports.ts";
import { encodeExecRequest } from "../../core/wire/exec.ts";
import { MUTATING, peelLab, responseTo } from "../../tests/fakes/peel_lab.ts";

const DAY_MS = 86_400_000;

/** A store whose streams take nothing while `state.isDown`; tells of each attempt. */
function flaky(state: { isDown: boolean }, tried: () => void): (store: Store) => Store {
  return (store) => ({
    ...store,
    stream(name) {
      const stream = store.stream(name);
      const append: Stream["append"] = (...given) => {
        tried();
        if (!state.isDown) return stream.append(...given);
        return Promise.resolve({
          outcome: "unknown",
          cause: new ZesterError("timeout", "no answer"),
        });
      };
      return new Proxy(stream, {
        get: (target, method) =>
          method === "append" ? append : Reflect.get(target, method).bind(target),
      });
    },
  });
}

Deno.test('"The moment a peel accepts a job dispatch, before execution starts, it publishes an Ack"; "Duration is measured on the peel"', async () => {
  const lab = await peelLab();
  const ackedAtStart: number[] = [];
  await lab.start({
    async execute(request) {
      ackedAtStart.push(lab.acks.length);
      await lab.clock.sleep(12_300);
      return responseTo(request);
    },
  });
  const jid = lab.jid();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  assert.deepEqual(lab.acks.map((ack) => ack.jid), [jid]);
  assert.deepEqual(ackedAtStart, [1]);
  lab.clock.advance(12_300);
  await lab.settled();
  assert.deepEqual(lab.returns.map((given) => given.durationMs), [12_300]);
});

Deno.test('"The peel resends until the stream has acknowledged": after 2 s, doubling up to 30 s, for as long as it takes', async () => {
  const lab = await peelLab();
  const state = { isDown: true };
  const triesMs: number[] = [];
  await lab.start({ store: flaky(state, () => triesMs.push(lab.clock.monotonic())) });
  lab.say(lab.requestOf(lab.jid()));
  await lab.settled();
  await lab.clock.advanceSettling(3_600_000, 500);
  const gaps = triesMs.slice(1).map((atMs, n) => atMs - triesMs[n]!);
  assert.deepEqual(gaps.slice(0, 6), [2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
  assert.ok(gaps.slice(4).every((gap) => gap === 30_000) && gaps.length > 100);
  state.isDown = false;
  await lab.clock.advanceSettling(30_000, 500);
  const count = triesMs.length;
  await lab.clock.advanceSettling(120_000, 500);
  assert.equal(triesMs.length, count, "once the stream has it, no more");
  assert.equal(lab.returns.length, 1);
});

Deno.test('"The journal by jid is kept for 8 days": a resend within them is answered and not run, also after a restart', async () => {
  const lab = await peelLab();
  const jid = lab.jid();
  const firstIssuedMs = lab.clock.now();
  let life = await lab.start();
  lab.say(lab.requestOf(jid));
  await lab.settled();
  /** Time passes, a master signs another request, by whose time the first one is as old as it is, and the peel restarts. */
  async function restartAt(ageMs: number): Promise<void> {
    await lab.clock.advanceSettling(firstIssuedMs + ageMs - lab.clock.now(), DAY_MS);
    lab.say(lab.requestOf(lab.jid()));
    await lab.settled();
    life.crash();
    life = await lab.start();
  }
  await restartAt(8 * DAY_MS - 60_000);
  assert.equal(life.journal.entry(jid)?.jid, jid);
  lab.say(lab.requestOf(jid), { firstIssuedMs, expiresMs: lab.clock.now() + DAY_MS });
  await lab.settled();
  assert.equal(lab.executed.filter((each) => each === jid).length, 1, "a jid runs at most once");
  await restartAt(8 * DAY_MS + 60_000);
  assert.equal(life.journal.entry(jid), undefined, "no signature lives as long");
});

Deno.test('"A jid runs at most once, at any epoch; a resend gets the journaled answer"', async () => {
  const lab = await peelLab();
  await lab.start();
  const jid = lab.jid();
  for (const epoch of [5n, 4n, 9n]) {
    lab.say(encodeExecRequest({ jid, module: "test.ping", id: "", args: {}, epoch }));
    await lab.settled();
    await lab.clock.advanceSettling(2_000);
  }
  assert.deepEqual(lab.executed, [jid]);
  assert.deepEqual(lab.acks.map((ack) => ack.jid), [jid, jid, jid]);
  assert.equal(lab.returns.length, 3);
});

Deno.test('"Everything else goes to one worker through a 64-slot queue; full: peel busy: execution queue full", and read-only functions run beside it', async () => {
  const lab = await peelLab();
  let release = () => {};
  const held = new Promise<void>((resolve) => release = resolve);
  const { acceptor } = await lab.start({
    async execute(request) {
      if (request.module.startsWith(MUTATING)) await held;
      return responseTo(request);
    },
  });
  const jids = Array.from({ length: 1 + 64 + 1 }, () => lab.jid());
  for (const jid of jids) {
    lab.say(lab.requestOf(jid, `${MUTATING}it`));
    await lab.settled();
  }
  assert.deepEqual([acceptor.running().jobs.length, acceptor.running().queueLength], [65, 64]);
  assert.deepEqual(lab.returns.map(({ jid, error }) => [jid, error]), [
    [jids.at(-1), "peel busy: execution queue full"],
  ]);
  const reading = lab.jid();
  lab.say(lab.requestOf(reading));
  await lab.settled();
  assert.equal(lab.returns.at(-1)?.jid, reading);
  release();
  await lab.settled();
  await acceptor.stop();
});
