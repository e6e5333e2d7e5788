/** `zester master list`: the masters that are alive. */
import type { MasterRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { masterData } from "../render/job_data.ts";
import { masterTable } from "../render/job_text.ts";
import type { ListFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";
import { showList } from "./watch_list.ts";

/** Prints them. */
export async function masterList(flags: ListFlags, io: Io, fleet: Asking): Promise<number> {
  const id = ({ master }: MasterRow) => master;
  const forms = { table: masterTable, data: masterData, id, none: "No master has a heartbeat." };
  const read = () => allRows("masters", {}, (reply) => reply.masters, fleet);
  return await showList(read, forms, flags, io);
}
