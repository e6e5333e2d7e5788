/** `zester peel list`: the enrolled peels, and which of them are there. */
import { displayPeelId } from "../../core/ids.ts";
import type { PeelRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { peelData } from "../render/job_data.ts";
import { peelTable } from "../render/job_text.ts";
import { printList } from "../render/list.ts";
import { comparePeels } from "../render/run_model.ts";
import type { CommonFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";

/** Prints them, sorted. */
export async function peelList(flags: CommonFlags, io: Io, fleet: Asking): Promise<number> {
  const { rows, nowMs } = await allRows("peels", {}, (reply) => reply.peels, fleet);
  const id = ({ peel }: PeelRow) => displayPeelId(peel);
  const sorted = [...rows].sort((a, b) => comparePeels(id(a), id(b)));
  const forms = { table: peelTable, data: peelData, id, none: "No peel is enrolled." };
  await printList({ rows: sorted, nowMs }, forms, flags, io);
  return 0;
}
