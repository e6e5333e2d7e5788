/** Sends an event in the name of the peel, and waits until the stream has it. */
import { streams } from "../../core/buckets.ts";
import { ZesterError } from "../../core/errors.ts";
import { newEventId } from "../../core/ids.ts";
import { EVENT_SEND_TRIES_MAX } from "../../core/limits.ts";
import type { PlainValue } from "../../core/module.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { AppendResult, Clock, Random, Store } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeEvent } from "../../core/wire/event.ts";

export interface EventPorts {
  readonly peelId: string;
  readonly store: Store;
  readonly voice: Voice;
  readonly clock: Clock;
  readonly random: Random;
}

export interface OutgoingEvent {
  /** `deploy/done` or `deploy.done`. */
  readonly tag: string;
  readonly data: Readonly<Record<string, PlainValue>>;
  /** Depth of the reaction that it comes from. */
  readonly depth: number;
}

/**
 * Publishes the event. Whether an unanswered try was stored is not known, so it is made again under the same message id,
 * which the stream takes once. Throws when no try was answered.
 */
export async function sendEvent(
  { tag, data, depth }: OutgoingEvent,
  ports: EventPorts,
): Promise<void> {
  const { peelId, store, voice, clock, random } = ports;
  const parts = tag.split(/[./]/);
  const id = newEventId(clock.now(), random);
  const payload = encodeEvent({
    id,
    tag: parts.join("."),
    data,
    timestampMs: clock.now(),
    origin: peelId,
    ...(depth === 0 ? {} : { depth }),
  });
  const subject = subjects.eventSend.of({ peel: peelId, tag: parts });
  let last: AppendResult | undefined;
  for (let tries = 0; tries < EVENT_SEND_TRIES_MAX; tries++) {
    last = await store.stream(streams.events.name).append(subject, payload, {
      headers: voice.headers(subjects.eventSend, subject, payload),
      messageId: id,
    });
    if (last.outcome === "ok") return;
  }
  throw new ZesterError("unreachable", `event ${tag}: the stream did not take it`, {
    ...(last?.outcome === "unknown" ? { cause: last.cause } : {}),
    fix: "see whether the peel is connected; nobody has reacted to this event",
  });
}
