/** `zester peel list`: the enrolled peels, and which of them are there. */
import { displayPeelId } from "../../core/ids.ts";
import type { PeelRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { peelData } from "../render/job_data.ts";
import { peelTable } from "../render/job_text.ts";
import { comparePeels } from "../render/run_model.ts";
import type { ListFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";
import { showList } from "./watch_list.ts";

/** Prints them, sorted. */
export async function peelList(flags: ListFlags, io: Io, fleet: Asking): Promise<number> {
  const id = ({ peel }: PeelRow) => displayPeelId(peel);
  const forms = { table: peelTable, data: peelData, id, none: "No peel is enrolled." };
  return await showList(
    async () => {
      const { rows, nowMs } = await allRows("peels", {}, (reply) => reply.peels, fleet);
      return { rows: [...rows].sort((a, b) => comparePeels(id(a), id(b))), nowMs };
    },
    forms,
    flags,
    io,
  );
}
