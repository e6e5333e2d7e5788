/**
 * An operator's side of direct mode: peels are asked without a master, under a login and a key of its own. There is no
 * record and no resend; each peel journals it like a job and leaves an audit event.
 */
import { formatDuration } from "./duration.ts";
import { isZesterError, toZesterError, ZesterError } from "./errors.ts";
import { directReplyRule, ingest } from "./ingress.ts";
import { keyringOf, type PeelKey, peelKeyOf } from "./keyring.ts";
import { DIRECT_TOGETHER_MAX } from "./limits.ts";
import type { Voice } from "./outgoing.ts";
import type { Bus, Clock } from "./ports.ts";
import { subjects } from "./subjects.ts";
import type { Trust } from "./trust.ts";
import type { EnrollmentRecord } from "./wire/enrollment.ts";
import {
  decodeExecResponse,
  encodeExecRequest,
  type ExecRequest,
  type ExecResponse,
} from "./wire/exec.ts";

export interface DirectPorts {
  /** Connected as the role `direct`. */
  readonly bus: Bus;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly trust: Trust;
}

export interface DirectPeel {
  readonly id: string;
  /** The key of its enrollment record: its answer must be signed with it. */
  readonly key: PeelKey;
}

/**
 * Has the peel run a function and gives its answer. The same jid may be sent again: the peel runs it once. Throws
 * `no_responders` when the peel is not there, `timeout` when it is not known what happened.
 */
export async function runDirect(
  request: ExecRequest,
  peel: DirectPeel,
  { bus, clock, voice, trust }: DirectPorts,
  timeoutMs: number,
): Promise<ExecResponse> {
  const subject = subjects.command.of({ peel: peel.id });
  const payload = encodeExecRequest({ timeoutMs, ...request });
  const audience = peel.key.generation;
  const expiresMs = clock.now() + timeoutMs;
  const headers = voice.headers(subjects.command, subject, payload, { audience, expiresMs });
  const message = await bus.request(subject, payload, { headers, timeoutMs });
  const door = ingest(message, {
    rule: directReplyRule(message.subject, peel.id),
    keyring: keyringOf(() => trust, (id) => (id === peel.id ? peel.key : undefined)),
    nowMs: clock.now(),
  });
  if (!door.ok) {
    throw new ZesterError(door.reason, `answer of ${peel.id} refused: ${door.detail}`);
  }
  const response = decodeExecResponse(door.payload);
  if (response.jid === request.jid && response.peelId === peel.id) return response;
  throw new ZesterError("misaddressed", `answer of ${peel.id} is about another job`);
}

/** What became of one peel: its answer, or why there is none. */
export type DirectOutcome =
  & { readonly peelId: string; readonly durationMs: number }
  & ({ readonly response: ExecResponse } | { readonly silent: string });

export interface DirectRunOptions {
  readonly timeoutMs: number;
  /** Stops to ask further peels, and to tell of those that were asked. */
  readonly signal?: AbortSignal | undefined;
  onOutcome(outcome: DirectOutcome): void;
}

/**
 * Has many peels run the same function, and tells of each as it answers. Throws when the connection is lost: what the others did
 * is then unknown.
 */
export async function runDirectOn(
  records: readonly Pick<EnrollmentRecord, "peelId" | "publicKey" | "generation">[],
  request: ExecRequest,
  ports: DirectPorts,
  { timeoutMs, signal, onOutcome }: DirectRunOptions,
): Promise<void> {
  const waiting = records.values();
  async function work(): Promise<void> {
    for (const record of waiting) {
      if (signal?.aborted) return;
      const outcome = await askOne(record, request, ports, timeoutMs);
      if (!signal?.aborted) onOutcome(outcome);
    }
  }
  await Promise.all(Array.from({ length: DIRECT_TOGETHER_MAX }, work));
}

async function askOne(
  record: Pick<EnrollmentRecord, "peelId" | "publicKey" | "generation">,
  request: ExecRequest,
  ports: DirectPorts,
  timeoutMs: number,
): Promise<DirectOutcome> {
  const { peelId } = record;
  const startedMs = ports.clock.monotonic();
  const passed = () => ({ peelId, durationMs: ports.clock.monotonic() - startedMs });
  try {
    const peel = { id: peelId, key: peelKeyOf(record) };
    const response = await runDirect(request, peel, ports, timeoutMs);
    return { ...passed(), response };
  } catch (thrown) {
    if (isZesterError(thrown, "disconnected") || isZesterError(thrown, "closed")) {
      throw lost(thrown);
    }
    return { ...passed(), silent: silenceOf(thrown, timeoutMs) };
  }
}

function silenceOf(thrown: unknown, timeoutMs: number): string {
  const { code, message } = toZesterError(thrown, "direct");
  switch (code) {
    case "no_responders":
      return "not connected to the broker";
    case "timeout":
      return `no answer within ${formatDuration(timeoutMs)}; it may have run`;
    default:
      return message;
  }
}

function lost(cause: ZesterError): ZesterError {
  const message = "the connection to the broker was lost\n" +
    "peels that were told may have run it; each leaves an audit event when it can";
  return new ZesterError("disconnected", message, { cause });
}
