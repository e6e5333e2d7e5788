/**
 * An operator's side of direct mode: one peel is asked without a master, under a login and a key of its own. There is no
 * record and no resend; the peel journals it like a job and leaves an audit event.
 */
import { ZesterError } from "./errors.ts";
import { directReplyRule, ingest } from "./ingress.ts";
import { keyringOf, type PeelKey } from "./keyring.ts";
import type { Voice } from "./outgoing.ts";
import type { Bus, Clock } from "./ports.ts";
import { subjects } from "./subjects.ts";
import type { Trust } from "./trust.ts";
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
  const payload = encodeExecRequest(request);
  const audience = peel.key.generation;
  const headers = voice.headers(subjects.command, subject, payload, { audience });
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
