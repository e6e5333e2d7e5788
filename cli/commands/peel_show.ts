/** `zester peel show <peel>`: one peel. */
import { ZesterError } from "../../core/errors.ts";
import { displayPeelId, parsePeelId } from "../../core/ids.ts";
import type { Io } from "../io.ts";
import { peelData } from "../render/job_data.ts";
import { peelScreen } from "../render/job_text.ts";
import { printOne } from "../render/list.ts";
import type { CommonFlags } from "./flags.ts";
import type { Asking } from "./pages.ts";

/** Prints what the masters know of it. */
export async function peelShow(
  given: string,
  flags: CommonFlags,
  io: Io,
  fleet: Asking,
): Promise<number> {
  const { peels: [row], nowMs } = await fleet.ask("peel", { peel: parsePeelId(given) });
  if (row === undefined) throw new ZesterError("internal", `peel ${given}: the answer is empty`);
  const forms = {
    screen: peelScreen.bind(null, row),
    data: () => peelData(row),
    ids: () => [displayPeelId(row.peel)],
  };
  await printOne(forms, nowMs, flags, io);
  return 0;
}
