/** How long a job may take when nobody says so. */
import { HIGHSTATE_TIMEOUT_MS, JOB_TIMEOUT_MS, STATE_TIMEOUT_MS } from "./limits.ts";

/** The default for a function; `stateId` is the state that is named, and `state.apply` without one applies all of them. */
export function defaultTimeoutMs(name: string, stateId: string | null | undefined): number {
  if (name === "state.highstate") return HIGHSTATE_TIMEOUT_MS;
  if (name !== "state.apply") return JOB_TIMEOUT_MS;
  return stateId ? STATE_TIMEOUT_MS : HIGHSTATE_TIMEOUT_MS;
}
