/** The consumer port: fetches by pull requests, and the four things one can say about a delivered message. */
import { isZesterError, ZesterError } from "../errors.ts";
import { FETCH_WAIT_MS_MIN, STORE_TIMEOUT_MS } from "../limits.ts";
import type { Consumer, Delivery, Message } from "../ports.ts";
import { nanos } from "../stream_config.ts";
import type { JetStreamApi } from "./api.ts";
import type { Link } from "./link.ts";
import type { DeliveryInfo } from "./messages.ts";
import { type PullEnd, startPull } from "./pull.ts";

interface ConsumerInfoJson {
  num_pending: number;
  num_ack_pending: number;
}

/** A consumer that exists on the server. */
export function natsConsumer(api: JetStreamApi, stream: string, consumer: string): Consumer {
  return {
    fetch: (options) => fetchFrom(api.link, { stream, consumer, ...options }),
    async info() {
      const info = await api.demand<ConsumerInfoJson>(`CONSUMER.INFO.${stream}.${consumer}`);
      return { pending: info.num_pending, ackPending: info.num_ack_pending };
    },
    async delete() {
      await api.demand(`CONSUMER.DELETE.${stream}.${consumer}`);
    },
  };
}

interface Fetch {
  stream: string;
  consumer: string;
  max: number;
  waitMs: number;
}

/** Takes what is there; waits only when there is nothing, and then for the first only. */
async function fetchFrom(
  link: Link,
  { stream, consumer, max, waitMs }: Fetch,
): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  async function pull(batch: number, noWait: boolean): Promise<PullEnd> {
    const request = {
      stream,
      consumer,
      batch,
      waitMs: Math.max(waitMs, FETCH_WAIT_MS_MIN),
      noWait,
    };
    const { ended } = startPull(
      link,
      request,
      (message, info) => deliveries.push(toDelivery(link, message, info)),
    );
    return await ended;
  }
  try {
    const end = await pull(max, true);
    if (end === "crowded" && deliveries.length === 0 && waitMs > 0) await pull(1, false);
  } catch (error) {
    // What has been delivered is in hand, whatever happened afterwards.
    if (deliveries.length === 0) throw error;
  }
  return deliveries;
}

function toDelivery(link: Link, message: Message, info: DeliveryInfo): Delivery {
  const { subject, headers, data, reply = "" } = message;
  /** Lost words do no harm: without an ack the message comes again after AckWait. */
  function say(word: string): void {
    try {
      link.publish(reply, new TextEncoder().encode(word));
    } catch (error) {
      if (!isZesterError(error, "disconnected") && !isZesterError(error, "closed")) throw error;
    }
  }
  return {
    subject,
    headers,
    data,
    sequence: info.sequence,
    storedMs: info.storedMs,
    deliveries: info.deliveries,
    ack: () => acknowledge(link, reply, `ack of ${subject}`),
    nak: (delayMs) =>
      say(delayMs === undefined ? "-NAK" : `-NAK ${JSON.stringify({ delay: nanos(delayMs) })}`),
    working: () => say("+WPI"),
    term: (reason) => say(reason === undefined ? "+TERM" : `+TERM ${reason}`),
  };
}

async function acknowledge(link: Link, reply: string, doing: string): Promise<void> {
  const word = new TextEncoder().encode("+ACK");
  try {
    await link.request(reply, word, { timeoutMs: STORE_TIMEOUT_MS });
  } catch (cause) {
    if (!isZesterError(cause, "no_responders")) throw cause;
    throw new ZesterError("timeout", `${doing}: nobody took it; it may come again`, { cause });
  }
}
