/**
 * Hears every cancel of the fleet and hands the jid on. Only a master's word counts: it has checked the operator's right.
 * The jid comes from the subject, so nothing is decoded. A cancel that is repeated does nothing new.
 */
import { toZesterError } from "../../core/errors.ts";
import { type Accepted, ingest, type Keyring } from "../../core/ingress.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Bus, Clock, Message, Subscription } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";

export interface CancelPorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly keyring: Keyring;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Starts to listen; `cancel` is called with each jid that is to end, and when a master said so, by its signature. */
export function takeCancels(
  ports: CancelPorts,
  cancel: (jid: string, issuedMs: number) => Promise<void>,
): Subscription {
  return ports.bus.subscribe(subjects.jobCancel.filter(), (message) => {
    const door = opened(message, ports);
    if (door === null) return;
    const { fields: { jid }, claims: { issuedMs } } = door;
    cancel(jid, issuedMs).catch((thrown) => {
      ports.log.error("cancel not kept", { jid, error: toZesterError(thrown, "cancel") });
    });
  });
}

function opened(
  message: Message,
  ports: CancelPorts,
): Accepted<typeof subjects.jobCancel.pattern> | null {
  const { keyring, clock, metrics, log } = ports;
  const door = ingest(message, { rule: subjects.jobCancel, keyring, nowMs: clock.now() });
  if (door.ok) return door;
  metrics.ingressRefused.inc({ reason: door.reason });
  if (door.isNews) log.warn("cancel refused", { reason: door.reason, detail: door.detail });
  return null;
}
