/** ActiveJobEntry: the index of jobs under way, so that no master has to read all of them to find the orphans. */
import { masterId, message, optional, required, timeMs, type TypeOf, version } from "./codec.ts";

export const activeJobMessage = message("ActiveJobEntry", {
  v: version,
  /** Absent when its master has handed it over and nobody has taken it yet. */
  owner: optional("owner", masterId),
  updatedMs: required("updated", timeMs),
});

export type ActiveJobEntry = TypeOf<typeof activeJobMessage>;

export const { encode: encodeActiveJob, decode: decodeActiveJob } = activeJobMessage;
