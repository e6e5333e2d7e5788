/** An operator's side of a job: send it, and follow what the masters say about it. */
import { ZesterError } from "./errors.ts";
import { ingest, type Keyring, replyRule } from "./ingress.ts";
import { FOLLOW_GRACE_MS, REQUEST_TIMEOUT_MS } from "./limits.ts";
import type { Voice } from "./outgoing.ts";
import type { Bus, Clock, Message, Timer } from "./ports.ts";
import { subjects } from "./subjects.ts";
import { decodeFollow, type FollowEvent } from "./wire/follow.ts";
import { encodeJob, type Job } from "./wire/job.ts";

export type { FollowEvent } from "./wire/follow.ts";

export interface ClientPorts {
  readonly operator: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
}

/**
 * Sends the job and hands each event to `onEvent` as it comes; resolves after `done` or `refused`. Throws
 * `no_responders` when no master is there, `timeout` when one took it and then fell silent: what happened is then unknown.
 */
export async function dispatchAndFollow(
  job: Job,
  onEvent: (event: FollowEvent) => void,
  ports: ClientPorts,
): Promise<void> {
  const { bus, clock, voice, operator } = ports;
  const inbox = bus.inbox();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let patience: Timer | undefined;
  function expect(withinMs: number, waitingFor: string): void {
    patience?.cancel();
    patience = clock.after(withinMs, () => reject(silence(job, waitingFor)));
  }
  const subscription = bus.subscribe(inbox, (message) => {
    try {
      const event = opened(message, inbox, ports);
      onEvent(event);
      if (event.kind === "accepted") expect(job.timeoutMs + FOLLOW_GRACE_MS, "its end");
      if (event.kind === "done" || event.kind === "refused") resolve();
    } catch (thrown) {
      reject(thrown);
    }
  });
  expect(REQUEST_TIMEOUT_MS, "a master to take it");
  try {
    const subject = subjects.dispatch.of({ operator });
    voice.say(subjects.dispatch, subject, encodeJob(job), { reply: inbox });
    await promise;
  } finally {
    patience?.cancel();
    subscription.unsubscribe();
  }
}

function opened(message: Message, inbox: string, { keyring, clock }: ClientPorts): FollowEvent {
  if (message.status === 503) {
    throw new ZesterError("no_responders", "no master answers", {
      fix: "start a master, or check that this context names the right fleet",
    });
  }
  const door = ingest(message, { rule: replyRule(inbox), keyring, nowMs: clock.now() });
  if (!door.ok) throw new ZesterError(door.reason, `answer refused: ${door.detail}`);
  return decodeFollow(door.payload);
}

function silence(job: Job, waitingFor: string): ZesterError {
  return new ZesterError(
    "timeout",
    `job ${job.jid}: waited for ${waitingFor} in vain; it may have run all the same`,
  );
}
