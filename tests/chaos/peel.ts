/** A peel as it is, but for the one fail point at which it kills itself, and for functions that leave a mark when they run. */
import { runDaemon } from "../../core/adapters/daemon.ts";
import { PEEL_CONFIG_PATH, PEEL_OPTIONS } from "../../peel/config.ts";
import { startPeel } from "../../peel/main.ts";
import { markingStandIns } from "./executions.ts";
import { killSwitch } from "./kill_switch.ts";

const [order = "", peelId = "", log = "", ...args] = Deno.args;
const standIns = { failPoints: killSwitch(order), ...markingStandIns(peelId, log) };
Deno.exit(
  await runDaemon({
    component: "peel",
    table: PEEL_OPTIONS,
    configPath: PEEL_CONFIG_PATH,
    id: () => peelId,
    start: (context) => startPeel(context, standIns),
  }, args),
);
