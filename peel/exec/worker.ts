/** Entry of the workers in which modules run. It has the permissions its maker gave it, and nothing else. */
import { modules } from "../../modules/mod.ts";
import type { WorkerReply, WorkerRequest } from "./sandbox.ts";

const scope = self as unknown as {
  onmessage: (event: MessageEvent<WorkerRequest>) => void;
  postMessage(reply: WorkerReply): void;
};

scope.onmessage = async ({ data: { module, params } }) => {
  try {
    const load = Object.hasOwn(modules, module) ? modules[module] : undefined;
    if (load === undefined) throw new Error(`no module ${module}`);
    const { default: spec } = await load();
    scope.postMessage({ ok: true, value: await spec.run(params) });
  } catch (thrown) {
    scope.postMessage({
      ok: false,
      message: thrown instanceof Error ? thrown.message : String(thrown),
    });
  }
};
