/** Who matches a target, for people and for programs. */
import { displayPeelId } from "../../core/ids.ts";
import { printable } from "../../core/printable.ts";
import type { Matched } from "../../core/target/ask.ts";
import type { Style } from "./style.ts";
import { table } from "./table.ts";

/** One row per peel: its id, and the terms that made it match. */
export function targetTable(peels: readonly Matched[], { style }: { style: Style }): string {
  const rows = peels.map(({ peelId, reasons }) => [
    displayPeelId(peelId),
    reasons.map(reasonText).join(", "),
  ]);
  return table(["PEEL", "BECAUSE"], rows, style);
}

function reasonText({ term, found }: Matched["reasons"][number]): string {
  return found === undefined ? printable(term) : `${printable(term)} (${printable(found)})`;
}

/** One peel for programs. Field names are part of the interface: they are added, never renamed. */
export function targetData({ peelId, reasons }: Matched): Record<string, unknown> {
  return {
    peel_id: displayPeelId(peelId),
    why: reasons.map(({ term, found }) => found === undefined ? { term } : { term, found }),
  };
}
