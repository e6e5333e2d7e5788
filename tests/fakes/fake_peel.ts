/** A peel that only speaks: it answers requests as a test tells it to, once per jid, and remembers what it was asked. */
import { voiceOf } from "../../core/outgoing.ts";
import type { Bus, Clock } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { encodeAck } from "../../core/wire/ack.ts";
import { decodeExecRequest, type ExecRequest } from "../../core/wire/exec.ts";
import { encodeReturn } from "../../core/wire/return.ts";
import { testSigner } from "./identities.ts";

/** `answer`: ack and return; `ack`: ack, and return when told; `silent`: nothing. */
export type Behaviour = "answer" | "ack" | "silent";

export interface FakePeel {
  readonly id: string;
  behaviour: Behaviour;
  /** Requests as they came, repeats included. */
  readonly asked: ExecRequest[];
  /** How often each jid was run. */
  readonly runs: Map<string, number>;
  /** Returns what was only acked so far. */
  finish(jid: string, success?: boolean): void;
}

/** Starts one. */
export function fakePeel(
  id: string,
  bus: Bus,
  clock: Clock,
  behaviour: Behaviour = "answer",
): FakePeel {
  const voice = voiceOf({ signer: testSigner(id), generation: 1 }, bus, clock);
  const done = new Set<string>();
  const peel: FakePeel = { id, behaviour, asked: [], runs: new Map(), finish };

  function ack(jid: string): void {
    const payload = encodeAck({ jid, peelId: id, timestampMs: clock.now() });
    voice.say(subjects.ack, subjects.ack.of({ jid, peel: id }), payload);
  }

  function finish(jid: string, success = true): void {
    done.add(jid);
    const payload = encodeReturn({
      jid,
      peelId: id,
      success,
      returnData: null,
      durationMs: 1,
      timestampMs: clock.now(),
      ...(success ? {} : { error: "failed" }),
    });
    voice.say(subjects.return, subjects.return.of({ jid, peel: id }), payload);
  }

  bus.subscribe(subjects.command.of({ peel: id }), (message) => {
    const request = decodeExecRequest(message.data);
    const { jid } = request;
    peel.asked.push(request);
    if (peel.behaviour === "silent") return;
    if (!peel.runs.has(jid)) peel.runs.set(jid, 1);
    ack(jid);
    if (peel.behaviour === "answer" || done.has(jid)) finish(jid);
  });
  return peel;
}
