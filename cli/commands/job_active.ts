/** `zester job active`: jobs under way. */
import type { JobRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { jobRowData } from "../render/job_data.ts";
import { activeTable } from "../render/job_text.ts";
import type { ListFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";
import { showList } from "./watch_list.ts";

/** Prints them, oldest first. */
export async function jobActive(flags: ListFlags, io: Io, fleet: Asking): Promise<number> {
  const id = ({ job }: JobRow) => job.jid;
  const forms = { table: activeTable, data: jobRowData, id, none: "No job is under way." };
  const read = () => allRows("active", {}, (reply) => reply.jobs, fleet);
  return await showList(read, forms, flags, io);
}
