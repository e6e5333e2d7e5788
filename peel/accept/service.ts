/**
 * Takes commands: verify, decode, look into the journal, flush, ack, run, return until the stream has it.
 * A refused command runs nothing, is counted by its reason, and is not answered.
 */
import { ingest, type IngressReason, type Keyring } from "../../core/ingress.ts";
import { isZesterError, toZesterError } from "../../core/errors.ts";
import { RETURN_RETRY_MS, RETURN_RETRY_MS_MAX } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { Bus, Clock, Message, Store, Subscription } from "../../core/ports.ts";
import { streams } from "../../core/buckets.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import { decodeExecRequest, type ExecRequest, type ExecResponse } from "../../core/wire/exec.ts";
import { encodeReturn } from "../../core/wire/return.ts";
import type { Journal } from "./journal.ts";
import { planAccept } from "./plan.ts";

export interface AcceptPorts {
  readonly peelId: string;
  readonly generation: number;
  readonly bus: Bus;
  readonly store: Store;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly journal: Journal;
  readonly metrics: Metrics;
  readonly log: Log;
  execute(request: ExecRequest): Promise<ExecResponse>;
}

export interface Acceptor {
  /** Takes no more commands, and waits for what runs. */
  stop(): Promise<void>;
}

/** Starts to take commands. */
export function acceptCommands(ports: AcceptPorts): Acceptor {
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  const subscription: Subscription = ports.bus.subscribe(
    subjects.command.of({ peel: ports.peelId }),
    (message) => {
      const work = handle(message, ports, stopping.signal).catch((thrown) => {
        ports.log.error("command failed", { error: toZesterError(thrown, "accept") });
      });
      running.add(work);
      work.finally(() => running.delete(work));
    },
  );
  return {
    async stop() {
      subscription.unsubscribe();
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

async function handle(message: Message, ports: AcceptPorts, stopping: AbortSignal): Promise<void> {
  const { peelId: peel, generation: audience, keyring, clock } = ports;
  const nowMs = clock.now();
  const door = ingest(message, { rule: subjects.command, own: { peel }, audience, keyring, nowMs });
  if (!door.ok) return refuse(ports, door.reason, door.detail);
  const request = decoded(door.payload, ports);
  if (request === null) return;
  const decision = planAccept({
    jid: request.jid,
    firstIssuedMs: door.claims.firstIssuedMs,
    known: ports.journal.has(request.jid),
    journalCompleteSinceMs: ports.journal.completeSinceMs,
  });
  if (decision.do === "refuse") return refuse(ports, decision.reason, decision.why);
  // Before the ack and before anything runs: from here on no copy of this request runs again, whatever crashes.
  await ports.journal.accept(request.jid);
  acknowledge(request.jid, ports);
  await giveBack(await ports.execute(request), ports, stopping);
}

type RefusalReason = IngressReason | "replayed" | "journal_lost" | "decode_failed";

function refuse(ports: AcceptPorts, reason: RefusalReason, detail: string): void {
  ports.metrics.ingressRefused.inc({ reason });
  ports.log.warn("command refused", { reason, detail });
}

function decoded(payload: Uint8Array, ports: AcceptPorts): ExecRequest | null {
  try {
    return decodeExecRequest(payload);
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    refuse(ports, "decode_failed", thrown.message);
    return null;
  }
}

/** Best effort: the ack is a sign of delivery, not part of the result. */
function acknowledge(jid: string, { peelId, clock, voice, log }: AcceptPorts): void {
  const subject = subjects.ack.of({ jid, peel: peelId });
  try {
    voice.say(subjects.ack, subject, encodeAck({ jid, peelId, timestampMs: clock.now() }));
  } catch (thrown) {
    log.debug("ack not sent", { jid, error: toZesterError(thrown, "ack") });
  }
}

/** Publishes the result until the stream has stored it, so that it survives even with every master down. */
async function giveBack(
  response: ExecResponse,
  ports: AcceptPorts,
  stopping: AbortSignal,
): Promise<void> {
  const { peelId, clock, store, voice, metrics, log } = ports;
  const subject = subjects.return.of({ jid: response.jid, peel: peelId });
  const payload = encodeReturn({
    jid: response.jid,
    peelId,
    success: response.success,
    returnData: response,
    ...(response.error === undefined ? {} : { error: response.error }),
    durationMs: response.results.reduce((sum, result) => sum + result.durationMs, 0),
    timestampMs: clock.now(),
    unreachable: false,
  });
  metrics.exec.inc({ result: response.success ? "success" : "error" });
  for (let waitMs = RETURN_RETRY_MS;; waitMs = Math.min(waitMs * 2, RETURN_RETRY_MS_MAX)) {
    const headers = voice.headers(subjects.return, subject, payload);
    const stored = await store.stream(streams.jobEvents.name).append(subject, payload, { headers });
    if (stored.outcome === "ok") return;
    log.warn("return not stored yet", {
      jid: response.jid,
      outcome: stored.outcome,
      retryMs: waitMs,
    });
    if (stopping.aborted) return;
    await clock.sleep(waitMs, stopping).catch(() => {}); // woken by a stop: one last try
  }
}
