/** `zester job active`: jobs under way. */
import type { JobRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { jobRowData } from "../render/job_data.ts";
import { activeTable } from "../render/job_text.ts";
import { printList } from "../render/list.ts";
import type { CommonFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";

/** Prints them, oldest first. */
export async function jobActive(flags: CommonFlags, io: Io, fleet: Asking): Promise<number> {
  const listed = await allRows("active", {}, (reply) => reply.jobs, fleet);
  const id = ({ job }: JobRow) => job.jid;
  const forms = { table: activeTable, data: jobRowData, id, none: "No job is under way." };
  await printList(listed, forms, flags, io);
  return 0;
}
