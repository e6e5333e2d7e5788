/** Decides where a module of the state tree runs: where the host says, or where its state says if that is safer. */
import { ZesterError } from "../../../core/errors.ts";

/** Where modules of the state tree can run, the safer one last. */
export const ISOLATIONS = ["worker", "process"] as const;

export type Isolation = typeof ISOLATIONS[number];

/** The safer of what the host wants and what a state asks for: a state tree can add to the host's caution, not lower it. */
export function isolationOf(host: Isolation, asked: unknown): Isolation {
  if (asked === undefined) return host;
  if (!ISOLATIONS.some((each) => each === asked)) {
    const shown = JSON.stringify(asked);
    throw new ZesterError("bad_params", `isolation: ${shown} is neither worker nor process`);
  }
  return host === "process" ? host : asked as Isolation;
}
