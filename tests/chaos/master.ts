/** A master as it is, but for the one fail point at which it kills itself. */
import { runDaemon } from "../../core/adapters/daemon.ts";
import { MASTER_DAEMON, startMaster } from "../../master/main.ts";
import { killSwitch } from "./kill_switch.ts";

const [order = "", ...args] = Deno.args;
const failPoints = killSwitch(order);
Deno.exit(
  await runDaemon(
    { ...MASTER_DAEMON, start: (context) => startMaster(context, failPoints) },
    args,
  ),
);
