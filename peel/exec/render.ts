/**
 * Renders a template in a worker of its own, without any permission and with a time limit: a template comes from whoever
 * wrote the state tree, and what it prints from anybody.
 */
import { ZesterError } from "../../core/errors.ts";
import { RENDER_MS_MAX } from "../../core/limits.ts";
import type { Clock } from "../../core/ports.ts";

export interface RenderRequest {
  readonly source: string;
  readonly values: Readonly<Record<string, unknown>>;
}

export type RenderReply = { ok: true; text: string } | { ok: false; message: string };

/** The rendered text; throws `template_failed` with what is wrong and where. */
export async function renderInWorker(
  request: RenderRequest,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<string> {
  signal.throwIfAborted();
  const worker = new Worker(new URL("./template_worker.ts", import.meta.url), {
    type: "module",
    deno: { permissions: "none" },
  });
  const { promise, resolve } = Promise.withResolvers<RenderReply>();
  const fail = (message: string) => resolve({ ok: false, message });
  const deadline = clock.after(
    RENDER_MS_MAX,
    () => fail(`the template took more than ${RENDER_MS_MAX} ms`),
  );
  const end = () => fail("ended from outside");
  signal.addEventListener("abort", end, { once: true });
  worker.onmessage = ({ data }: MessageEvent<RenderReply>) => resolve(data);
  worker.onmessageerror = () => fail("it cannot be passed on");
  worker.onerror = (event) => {
    event.preventDefault();
    fail(event.message);
  };
  worker.postMessage(request);
  try {
    const reply = await promise;
    if (reply.ok) return reply.text;
    throw new ZesterError("template_failed", reply.message);
  } finally {
    deadline.cancel();
    signal.removeEventListener("abort", end);
    worker.terminate();
  }
}
