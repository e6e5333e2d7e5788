/** The fail points of each program: the list, and what the source says, so that a new point cannot go without a row. */
import { join } from "node:path";
import { ROOT, sourceFiles } from "../../tools/repository.ts";

export const POINTS = {
  master: [
    "dispatch.planned",
    "dispatch.indexed",
    "dispatch.claimed",
    "dispatch.logged",
    "dispatch.running",
    "dispatch.published_one",
    "watch.before_finish",
    "watch.finished",
    "cancel.stored",
    "cancel.told",
    "reclaim.taken",
    "reclaim.recalled",
    "reclaim.ended",
  ],
  peel: [
    "accept.verified",
    "accept.journaled",
    "accept.acked",
    "exec.started",
    "exec.finished",
    "return.journaled",
    "return.stored",
    "cancel.heard",
    "cancel.journaled",
  ],
} as const;

export type MasterPoint = (typeof POINTS.master)[number];
export type PeelPoint = (typeof POINTS.peel)[number];

/** The fail points that the source of a program names, sorted. */
export async function pointsIn(program: keyof typeof POINTS): Promise<string[]> {
  const own = (await sourceFiles()).filter((path) =>
    path.startsWith(`${program}/`) && !path.endsWith("_test.ts")
  );
  const texts = await Promise.all(own.map((path) => Deno.readTextFile(join(ROOT, path))));
  const named = texts.join("\n").matchAll(/failPoints\.hit\("([^"]+)"\)/g);
  return [...new Set([...named].map(([, point = ""]) => point))].sort();
}
