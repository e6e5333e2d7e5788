import assert from "node:assert/strict";
import { strayWorkers } from "./stray_workers.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "strayWorkers() finds a worker that runs on after its end, once nothing should run",
  ignore,
  async fn() {
    // Ends by itself, or it would run as long as the tests do.
    const busy =
      "self.onmessage = () => { const end = Date.now() + 1_500; while (Date.now() < end); };" +
      "self.postMessage(1)";
    const worker = new Worker(`data:text/javascript,${encodeURIComponent(busy)}`, {
      type: "module",
    });
    await new Promise((resolve) => worker.onmessage = resolve);
    worker.postMessage(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    worker.terminate();
    assert.equal(strayWorkers(() => false).status, "ok");
    assert.match(strayWorkers(() => true).message ?? "", /still run: restart the peel/);
  },
});
