/** `zester version`. Needs no configuration and no connection. */
import { VERSION } from "../../core/version.ts";
import type { Io } from "../io.ts";

/** Prints the version of this program. */
export function version(output: string | undefined, io: Pick<Io, "stdout">): number {
  io.stdout(
    output === "json" || output === "jsonl"
      ? `${JSON.stringify({ version: VERSION })}\n`
      : `zester ${VERSION}\n`,
  );
  return 0;
}
