/**
 * The peel's half of the talk with whoever runs modules, be it a worker or a process: hands out tasks, answers host calls
 * through the door of the task that makes them, and believes nothing. Every task has a deadline; whoever talks too fast or
 * out of turn is ended; and what a task started outside ends with it.
 */
import { toZesterError, ZesterError } from "../../core/errors.ts";
import {
  HOST_CALLS_AT_ONCE_MAX,
  WORKER_MESSAGE_WINDOW_MS,
  WORKER_MESSAGES_PER_WINDOW_MAX,
} from "../../core/limits.ts";
import type { HostCallName } from "../../core/module/host.ts";
import type { Clock } from "../../core/ports.ts";
import type { Answer, FromWorker, PassedError, Reply, Task, ToWorker } from "./protocol.ts";
import { checkedReply, plainRefusal, shortened } from "./reply.ts";

/** Does one host call for a task, or throws why not. */
export type HostDoor = (
  call: { readonly name: HostCallName; readonly args: readonly unknown[] },
  signal: AbortSignal,
) => Promise<unknown>;

export interface TaskOptions {
  readonly timeoutMs: number;
  /** Ends the worker, and with it every task of it, when it aborts. */
  readonly signal: AbortSignal;
  readonly door: HostDoor;
}

/** Where modules run, cut off from everything else. */
export interface Sandbox {
  /** Gives the worker a task. Never rejects: what goes wrong is the reply. */
  perform(task: Omit<Task, "id">, options: TaskOptions): Promise<Reply>;
  /** Ends the worker and all that its tasks started. Harmless when called again. */
  close(): void;
  readonly isClosed: boolean;
}

/** The other side, as far as it can be reached. */
export interface Line {
  send(message: ToWorker): void;
  /** Ends whoever is there. */
  end(): void;
}

export interface Exchange {
  readonly sandbox: Sandbox;
  /** Takes what the other side said, whatever it is. */
  take(message: unknown): void;
  /** Ends it all for a reason. */
  close(why: PassedError): void;
}

type HostCall = FromWorker & { kind: "call" };

interface Running {
  readonly door: HostDoor;
  readonly ended: AbortController;
  readonly work: Task["work"]["do"];
  reply(reply: Reply): void;
}

/** Begins the talk over a line. */
export function openExchange(line: Line, clock: Clock): Exchange {
  const tasks = new Map<number, Running>();
  const waiting: HostCall[] = [];
  let answering = 0;
  let lastId = 0;
  let whyClosed: PassedError | null = null;
  let window = { beganMs: clock.monotonic(), messages: 0 };

  function close(why: PassedError): void {
    if (whyClosed !== null) return;
    whyClosed = { ...why, message: shortened(why.message) };
    line.end();
    waiting.length = 0;
    for (const each of [...tasks.values()]) each.reply({ ok: false, error: whyClosed });
  }

  /** True while the other side speaks no faster than it may. */
  function isPaced(): boolean {
    const now = clock.monotonic();
    if (now - window.beganMs >= WORKER_MESSAGE_WINDOW_MS) window = { beganMs: now, messages: 0 };
    return ++window.messages <= WORKER_MESSAGES_PER_WINDOW_MAX;
  }

  function send(message: ToWorker): void {
    if (whyClosed === null) line.send(message);
  }

  /** Few at once: a module must not start a thousand programs. The others wait their turn. */
  async function answer(call: HostCall): Promise<void> {
    if (answering >= HOST_CALLS_AT_ONCE_MAX) return void waiting.push(call);
    answering += 1;
    const running = tasks.get(call.task);
    send({ kind: "answer", call: call.call, answer: await answerTo(call, running) });
    answering -= 1;
    const next = waiting.shift();
    if (next !== undefined) void answer(next);
  }

  function takeCall(call: HostCall): void {
    if (!Number.isSafeInteger(call.task) || call.task < 1 || call.task > lastId) {
      return close({ message: "it called its host in the name of a task that it does not have" });
    }
    const why = plainRefusal(call.args, { bytes: true });
    if (why !== null) return close({ message: `it called its host with ${why}` });
    void answer(call);
  }

  return {
    close,
    take(message) {
      if (whyClosed !== null) return;
      if (!isPaced()) return close({ message: "it sent messages too fast and was ended" });
      const said = message as Partial<FromWorker> | null;
      if (said?.kind === "call") return takeCall(said as HostCall);
      if (said?.kind === "broken") {
        return close({ message: String(said.message), code: "execution_failed" });
      }
      if (said?.kind !== "reply") {
        return close({ message: "it sent what is no message and was ended" });
      }
      const running = tasks.get(said.task as number);
      running?.reply(checkedReply(running.work, said.reply));
    },
    sandbox: {
      perform(task, { timeoutMs, signal, door }) {
        if (whyClosed !== null) return Promise.resolve({ ok: false, error: whyClosed });
        if (signal.aborted) return Promise.resolve({ ok: false, error: ENDED });
        const id = ++lastId;
        const ended = new AbortController();
        const { promise, resolve } = Promise.withResolvers<Reply>();
        const deadline = clock.after(
          timeoutMs,
          () =>
            close({
              message: `still running after ${Math.round(timeoutMs)} ms, ended`,
              code: "timeout",
            }),
        );
        const end = () => close(ENDED);
        signal.addEventListener("abort", end, { once: true });
        tasks.set(id, {
          door,
          ended,
          work: task.work.do,
          reply(reply) {
            tasks.delete(id);
            deadline.cancel();
            signal.removeEventListener("abort", end);
            ended.abort();
            resolve(reply);
          },
        });
        send({ kind: "task", task: { ...task, id } });
        return promise;
      },
      close: () => close({ message: "its worker was closed" }),
      get isClosed() {
        return whyClosed !== null;
      },
    },
  };
}

/** What is left of work that somebody else ended. */
const ENDED: PassedError = { message: "ended from outside", code: "closed" };

/** A task that is over may have left calls behind that it did not wait for: they are not done. */
const OVER: PassedError = { message: "the task that makes this call is over", code: "closed" };

async function answerTo({ name, args }: HostCall, running: Running | undefined): Promise<Answer> {
  if (running === undefined) return { ok: false, error: OVER };
  try {
    return { ok: true, value: await running.door({ name, args }, running.ended.signal) };
  } catch (thrown) {
    const { code, message } = thrown instanceof ZesterError ? thrown : toZesterError(thrown, name);
    return { ok: false, error: { code, message } };
  }
}
