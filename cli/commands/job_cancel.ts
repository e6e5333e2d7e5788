/** `zester job cancel <jid>`: stops a job, and says who stopped it. */
import type { Fleet } from "../app.ts";
import type { Io } from "../io.ts";
import { jsonLine } from "../render/run_data.ts";
import type { CommonFlags } from "./flags.ts";

/** Asks for it. A job that has ended stays as it is, which is said. */
export async function jobCancel(
  given: string,
  flags: CommonFlags,
  io: Io,
  fleet: Pick<Fleet, "cancel">,
): Promise<number> {
  const { jid, status, ended } = await fleet.cancel(given);
  const output = flags.output ?? "text";
  if (output === "json" || output === "jsonl" || output === "yaml") {
    io.stdout(jsonLine({ jid, status, canceled: !ended }));
  } else if (output === "ids") {
    io.stdout(`${jid}\n`);
  } else {
    io.stdout(
      ended
        ? `Job ${jid} had ended already: ${status}. Nothing was canceled.\n`
        : `Job ${jid} is being canceled; it was ${status}.\n`,
    );
    if (!ended && !flags.quiet && io.stderrIsTerminal) {
      io.stderr(`Next    zester job show ${jid}\n`);
    }
  }
  return 0;
}
