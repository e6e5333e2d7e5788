/**
 * Entry of the processes in which modules of the state tree run when they are to have one of their own. Like a worker it
 * has no permission at all; unlike one it can run out of memory alone. It ends when its peel closes the pipe.
 */
import { lockDown } from "../lockdown.ts";
import { openPerformer } from "../performer.ts";
import type { ToWorker } from "../protocol.ts";
import { encodeFrame, FrameReader } from "./frames.ts";

const { stdin, stdout, exit } = Deno;

function post(message: unknown): void {
  const frame = encodeFrame(message);
  for (let sent = 0; sent < frame.length;) sent += stdout.writeSync(frame.subarray(sent));
}

async function listen(): Promise<void> {
  const reader = new FrameReader();
  for await (const piece of stdin.readable) {
    for (const message of reader.add(piece)) performer.take(message as ToWorker);
  }
}

const performer = openPerformer({ post, shipped: {} });
performer.watch(globalThis);
const heard = listen();
lockDown(globalThis);
await heard;
exit(0);
