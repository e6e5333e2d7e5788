/** `zester job list`: recent jobs, newest first. */
import { JOB_LIST_DEFAULT_MAX } from "../../core/limits.ts";
import type { JobRow } from "../../core/wire/query.ts";
import type { Io } from "../io.ts";
import { jobRowData } from "../render/job_data.ts";
import { jobTable } from "../render/job_text.ts";
import type { ListFlags } from "./flags.ts";
import { allRows, type Asking } from "./pages.ts";
import { showList } from "./watch_list.ts";

export interface JobListFlags extends ListFlags {
  readonly failed?: boolean;
  readonly function?: string;
  readonly user?: string;
  /** A moment, in milliseconds since 1970. */
  readonly since?: number;
  readonly limit?: number;
}

/** Prints them; with `--since`, all since then. */
export async function jobList(flags: JobListFlags, io: Io, fleet: Asking): Promise<number> {
  const { failed, function: name, user, since } = flags;
  const limit = flags.limit ?? (since === undefined ? JOB_LIST_DEFAULT_MAX : 0);
  const query = { failed, function: name, user, sinceMs: since, limit };
  const forms = {
    table: jobTable,
    data: jobRowData,
    id: ({ job }: JobRow) => job.jid,
    none: "No jobs.",
  };
  const read = () => allRows("jobs", query, (reply) => reply.jobs, fleet);
  return await showList(read, forms, flags, io);
}
