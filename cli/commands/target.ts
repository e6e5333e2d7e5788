/** `zester target '<expr>'`: who matches, and why each one does. */
import { displayPeelId } from "../../core/ids.ts";
import type { Matched, Resolution } from "../../core/target/ask.ts";
import type { Io } from "../io.ts";
import { isTable, printList } from "../render/list.ts";
import { targetData, targetTable } from "../render/target_text.ts";
import type { CommonFlags } from "./flags.ts";

/** Who can be asked. */
export interface Resolving {
  resolve(target: string): Promise<Resolution>;
}

/** Prints those that match. Nobody is an error, thrown with its explanation. */
export async function target(
  expression: string,
  flags: CommonFlags,
  io: Io,
  fleet: Resolving,
): Promise<number> {
  const { peels, warning } = await fleet.resolve(expression);
  if (warning !== undefined) io.stderr(`warning: ${warning}\n`);
  const forms = {
    table: targetTable,
    data: targetData,
    id: ({ peelId }: Matched) => displayPeelId(peelId),
    none: "Nobody matches.",
  };
  await printList({ rows: peels, nowMs: io.clock.now() }, forms, flags, io);
  if (!flags.quiet && isTable(flags)) {
    io.stderr(`${peels.length} ${peels.length === 1 ? "peel matches" : "peels match"}\n`);
  }
  return 0;
}
