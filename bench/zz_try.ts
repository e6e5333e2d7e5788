import { startEmulatedFleet } from "./emulated_fleet.ts";
import { cpuOf } from "./cpu.ts";
const [n = "1000", shared] = Deno.args;
const t = performance.now();
const f = await startEmulatedFleet({ peels: Number(n), sharedLogin: shared === "shared" });
console.log("started", ((performance.now() - t) / 1000).toFixed(2), "connect", f.connectSeconds);
const parts = { broker: f.broker, master: f.masters[0]!, emulator: f.emulator, bare: f.bare };
try {
  for (let i = 0; i < 6; i++) {
    for (const [name, run] of [["bare", f.pingBare], ["ping", f.ping]] as const) {
      const before = Object.values(parts).map((c) => cpuOf(c.pid)).concat(cpuOf("self"));
      const at = performance.now();
      await run();
      const ms = performance.now() - at;
      await f.settle();
      const ms2 = performance.now() - at;
      const after = Object.values(parts).map((c) => cpuOf(c.pid)).concat(cpuOf("self"));
      console.log(
        name,
        ms.toFixed(0),
        "ms",
        ms2.toFixed(0),
        [...Object.keys(parts), "self"].map((k, j) =>
          `${k} ${((after[j]! - before[j]!) * 1000).toFixed(0)}`
        ).join("  "),
      );
    }
  }
} finally {
  await f.stop();
}
