/** The masters that are alive: those with a heartbeat. */
import { buckets } from "../../core/buckets.ts";
import { QUERY_ROW_NAMES_MAX } from "../../core/limits.ts";
import { decodeMasterHeartbeat } from "../../core/wire/heartbeat.ts";
import type { MasterRow } from "../../core/wire/query.ts";
import { mapLimited } from "../follow/target_state.ts";
import { rowLimit } from "./page.ts";
import type { Answerer } from "./ports.ts";

export const answerMasters: Answerer<"masters"> = async ({ limit, after = "" }, { store }) => {
  const heartbeats = store.bucket(buckets.masterHeartbeat.name);
  const keys = (await heartbeats.keys()).filter((key) => key > after);
  const page = keys.slice(0, rowLimit(limit));
  const entries = await mapLimited(page, (key) => heartbeats.get(key));
  const masters = entries.filter((entry) => entry !== null).map(({ value }) => rowOf(value));
  const next = page.length < keys.length ? page.at(-1) : undefined;
  return { kind: "masters", masters, ...(next === undefined ? {} : { next }) };
};

function rowOf(value: Uint8Array): MasterRow {
  const { masterId, activeJobs, timestampMs } = decodeMasterHeartbeat(value);
  return {
    master: masterId,
    activeJobs: activeJobs.slice(0, QUERY_ROW_NAMES_MAX),
    activeCount: activeJobs.length,
    heartbeatMs: timestampMs,
  };
}
