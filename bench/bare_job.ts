/**
 * The least that a job can cost: the messages and stored values that it needs and nothing else, without signatures, checks or
 * decoding, written directly against the client. As a program it stands in for the master.
 *
 *     bare_job.ts URL USER PASSWORD COUNT
 *
 * Takes jobs for all emulated peels. The payload of the request and of the commands is the jid.
 */
import { connect, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { stopSignal } from "../core/adapters/stop_signal.ts";
import { buckets } from "../core/buckets.ts";
import { FOLLOW_BATCH_MAX } from "../core/limits.ts";
import { bucketSubject } from "../core/stream_config.ts";
import { subjects } from "../core/subjects.ts";
import { emulatedIds } from "./emulated_identity.ts";

/** Sizes of what a real ping carries, signatures included. */
const ACK_BYTES = 70 + 290;
const RETURN_BYTES = 240 + 290;
const RECORD_BYTES_PER_PEEL = 10;
const RECORD_BYTES = 400;

const DISPATCH = "bench.dispatch";
const ACK = new Uint8Array(ACK_BYTES).fill(1);
const RETURN = new Uint8Array(RETURN_BYTES).fill(2);
const TEXT = { to: new TextEncoder(), from: new TextDecoder() };
const TIMEOUT = { timeout: 20_000 };

export function bareAck(): Uint8Array {
  return ACK;
}

export function bareReturn(): Uint8Array {
  return RETURN;
}

/** The job that a bare command is about. */
export function bareJidIn(data: Uint8Array): string {
  return TEXT.from.decode(data);
}

/** Sends a bare job and waits for its last word. */
export async function askBare(near: NatsConnection, jid: string): Promise<void> {
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const inbox = `_INBOX.bench.${jid}`;
  const subscription = near.subscribe(inbox, {
    callback: (_error, { data }) => data.length === 0 ? resolve() : undefined,
  });
  near.publish(DISPATCH, TEXT.to.encode(jid), { reply: inbox });
  await done;
  subscription.unsubscribe();
}

/** One job, in the order that the real one has to keep: stored before it is sent, returns stored before it ends. */
async function run(message: Msg, ids: readonly string[], near: NatsConnection): Promise<void> {
  const jid = bareJidIn(message.data);
  const inbox = message.reply ?? "";
  const record = new Uint8Array(RECORD_BYTES + ids.length * RECORD_BYTES_PER_PEEL);
  const put = (bucket: string, key: string, value: Uint8Array) =>
    near.request(bucketSubject(bucket, key), value, TIMEOUT);
  const jobs = buckets.jobs.name;
  const writes: Promise<unknown>[] = [];
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let batch = 0;
  const acks = near.subscribe(subjects.ack.filter({ jid }), { callback: () => {} });
  const returns = near.subscribe(subjects.return.filter({ jid }), {
    callback: (_error, { subject, data }) => {
      const { peel = "" } = subjects.return.parse(subject) ?? {};
      writes.push(put(buckets.jobReturns.name, `${jid}.${peel}`, data));
      if (++batch === FOLLOW_BATCH_MAX) tell();
      if (writes.length === ids.length) resolve();
    },
  });
  function tell(): void {
    near.publish(inbox, new Uint8Array(batch * RETURN_BYTES));
    batch = 0;
  }
  await put(jobs, `active.${jid}`, new Uint8Array(50));
  await put(jobs, jid, record);
  await near.request(subjects.jobDispatched.of({ jid }), new Uint8Array(RECORD_BYTES), TIMEOUT);
  await put(jobs, jid, record);
  near.publish(inbox, record);
  for (const peel of ids) near.publish(subjects.command.of({ peel }), message.data);
  await all;
  acks.unsubscribe();
  returns.unsubscribe();
  if (batch > 0) tell();
  await Promise.all(writes);
  await put(jobs, jid, record);
  near.publish(inbox);
}

if (import.meta.main) {
  const [servers = "", user = "", pass = "", count = ""] = Deno.args;
  const near = await connect({ servers, user, pass, noAsyncTraces: true });
  const ids = emulatedIds(Number(count));
  near.subscribe(DISPATCH, { callback: (_error, message) => void run(message, ids, near) });
  await near.flush();
  console.log("bare master ready");
  await stopSignal({ withParent: true });
  Deno.exit(0);
}
