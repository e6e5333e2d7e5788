/** One request for messages of a consumer, from its sending to its end, which the server says or a timer decides. */
import { ZesterError } from "../errors.ts";
import { FETCH_GRACE_MS } from "../limits.ts";
import type { Message } from "../ports.ts";
import { nanos } from "../stream_config.ts";
import { type Link, retryUnserved } from "./link.ts";
import { type DeliveryInfo, parseAckSubject, toMessage } from "./messages.ts";

export interface PullRequest {
  stream: string;
  consumer: string;
  batch: number;
  waitMs: number;
  /** End with the first pause in the messages instead of waiting for a full batch. */
  noWait: boolean;
  /** The server shows this often that it is still there. */
  heartbeatMs?: number;
}

/** `full`: all that were asked for; `waited`: time is up; `crowded`: other readers come first. */
export type PullEnd = "full" | "waited" | "crowded";

export interface Pull {
  /** Rejects when the server is silent, the connection is lost or the consumer is gone. */
  readonly ended: Promise<PullEnd>;
  /** Ends it at once, as `waited`. */
  cancel(): void;
}

type Receive = (message: Message, info: DeliveryInfo) => void;

/**
 * Sends the request; each message goes to `receive` as it comes. In a cluster a new consumer is not known on every server
 * at once, so a request that nobody takes is sent again for a moment.
 */
export function startPull(link: Link, request: PullRequest, receive: Receive): Pull {
  let current: Pull | undefined;
  let isCancelled = false;
  const ended = retryUnserved(() => {
    if (isCancelled) return Promise.resolve<PullEnd>("waited");
    current = startOnce(link, request, receive);
    return current.ended;
  });
  ended.catch(() => {});
  return {
    ended,
    cancel() {
      isCancelled = true;
      current?.cancel();
    },
  };
}

function startOnce(link: Link, request: PullRequest, receive: Receive): Pull {
  const { promise, resolve, reject } = Promise.withResolvers<PullEnd>();
  const patienceMs = request.heartbeatMs === undefined
    ? request.waitMs + FETCH_GRACE_MS
    : request.heartbeatMs * 2 + FETCH_GRACE_MS;
  const doing = `pull ${request.stream}.${request.consumer}`;
  const giveUp = () => reject(new ZesterError("timeout", `${doing}: the server is silent`));
  let timer = setTimeout(giveUp, patienceMs);
  let left = request.batch;
  const inbox = link.inbox();
  const stop = link.subscribe(inbox, (each) => {
    if (request.heartbeatMs !== undefined) {
      clearTimeout(timer);
      timer = setTimeout(giveUp, patienceMs);
    }
    const message = toMessage(each);
    const info = parseAckSubject(message.reply);
    if (info === null) {
      return settle(message, each.headers?.description ?? "", doing, resolve, reject);
    }
    receive(message, info);
    if (--left === 0) resolve("full");
  });
  const ended = link.unlessLost(promise).finally(() => {
    clearTimeout(timer);
    stop();
  });
  ended.catch(() => {});
  try {
    send(link, request, inbox);
  } catch (error) {
    reject(error);
  }
  return { ended, cancel: () => resolve("waited") };
}

function send(link: Link, request: PullRequest, inbox: string): void {
  const body = {
    batch: request.batch,
    expires: nanos(request.waitMs),
    ...(request.noWait ? { no_wait: true } : {}),
    ...(request.heartbeatMs === undefined ? {} : { idle_heartbeat: nanos(request.heartbeatMs) }),
  };
  link.publish(
    `$JS.API.CONSUMER.MSG.NEXT.${request.stream}.${request.consumer}`,
    new TextEncoder().encode(JSON.stringify(body)),
    { reply: inbox },
  );
}

/** What a status line says about the request. */
function settle(
  { status }: Message,
  description: string,
  doing: string,
  resolve: (end: PullEnd) => void,
  reject: (error: ZesterError) => void,
): void {
  const text = description.toLowerCase();
  switch (status) {
    case 100:
      return;
    case 404:
      return resolve("waited");
    case 408:
      return resolve(text.includes("requests pending") ? "crowded" : "waited");
    case 409:
      if (text.includes("batch completed") || text.includes("leadership change")) {
        return resolve("waited");
      }
      if (text.includes("maxwaiting")) return resolve("crowded");
      if (text.includes("deleted")) {
        return reject(new ZesterError("not_found", `${doing}: ${text}`));
      }
      return reject(new ZesterError("store_refused", `${doing}: ${text}`));
    case 503:
      return reject(new ZesterError("no_responders", `${doing}: nobody serves this consumer`));
    default:
      return reject(new ZesterError("store_refused", `${doing}: ${status ?? "?"} ${text}`));
  }
}
