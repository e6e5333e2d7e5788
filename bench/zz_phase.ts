import { startEmulatedFleet } from "./emulated_fleet.ts";
import { dispatchAndFollow } from "../core/client.ts";
import { newJob } from "../core/wire/job.ts";
import { newKsuid } from "../core/ids.ts";
import { systemRandom } from "../core/adapters/system_random.ts";
const f = await startEmulatedFleet({ peels: Number(Deno.args[0] ?? 1000) });
try {
  for (let i = 0; i < 8; i++) {
    const job = newJob({
      jid: newKsuid(Date.now(), systemRandom),
      function: "test.ping",
      args: {},
      targetExpr: "*",
      timeoutMs: 60_000,
    }, Date.now());
    const t0 = performance.now();
    const at: Record<string, number> = {};
    const n: Record<string, number> = {};
    await dispatchAndFollow(job, (e) => {
      const t = performance.now() - t0;
      at[e.kind + "_first"] ??= t;
      at[e.kind + "_last"] = t;
      n[e.kind] = (n[e.kind] ?? 0) + 1;
    }, f.client);
    const d = performance.now();
    await f.settle();
    at.settled = performance.now() - d;
    console.log(
      Object.entries(at).map(([k, v]) => `${k} ${v.toFixed(0)}`).join(" "),
      JSON.stringify(n),
    );
  }
} finally {
  await f.stop();
}
