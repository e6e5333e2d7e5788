/** Entry of the workers in which modules run. A worker has no permission at all: what it does outside, its peel does for it. */
import { modules } from "../../modules/mod.ts";
import { lockDown } from "./lockdown.ts";
import { openPerformer } from "./performer.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";

const scope = self as unknown as EventTarget & { postMessage(message: FromWorker): void };

const performer = openPerformer({ post: scope.postMessage.bind(scope), shipped: modules });
scope.addEventListener("message", (event) => {
  performer.take((event as MessageEvent<ToWorker>).data);
});
performer.watch(scope);
lockDown(scope);
