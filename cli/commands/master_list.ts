/** `zester master list`: the masters that are alive. */
import type { MasterRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { masterData } from "../render/job_data.ts";
import { masterTable } from "../render/job_text.ts";
import { printList } from "../render/list.ts";
import type { CommonFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";

/** Prints them. */
export async function masterList(flags: CommonFlags, io: Io, fleet: Asking): Promise<number> {
  const listed = await allRows("masters", {}, (reply) => reply.masters, fleet);
  const id = ({ master }: MasterRow) => master;
  const forms = { table: masterTable, data: masterData, id, none: "No master has a heartbeat." };
  await printList(listed, forms, flags, io);
  return 0;
}
