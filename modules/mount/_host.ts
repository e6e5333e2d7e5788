/** The mounts of the host and its fstab. */
import type { Host, Program } from "../../core/module.ts";
import { readMountPoints } from "./_fstab.ts";

export const MOUNTS = "/proc/mounts";
export const FSTAB = "/etc/fstab";

/** Whether something is mounted at a point. */
export async function isMounted(host: Host, point: string): Promise<boolean> {
  const bytes = await host.readFile(MOUNTS);
  if (bytes === null) throw new Error(`${MOUNTS} is missing`);
  return readMountPoints(new TextDecoder().decode(bytes)).has(point);
}

/** The text of fstab; null when there is none. */
export async function readFstab(host: Host): Promise<string | null> {
  const bytes = await host.readFile(FSTAB);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

/** Takes away what is mounted at a point. */
export function unmountProgram(point: string): Program {
  return ["umount", "--", point];
}
