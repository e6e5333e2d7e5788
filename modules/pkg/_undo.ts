/** Puts packages back to what they were: removes what was not there, reinstalls older versions. */
import type { Change, Host } from "../../core/module.ts";
import type { VersionsMemo } from "./_packages.ts";
import { managerOf, tell } from "./_provider.ts";

/** Undoes an install. */
export async function undoInstall(
  host: Host,
  { names, versions }: VersionsMemo,
): Promise<Change | null> {
  const manager = managerOf(host.facts);
  const added = names.filter((name) => !Object.hasOwn(versions, name));
  const changed = Object.entries(versions).map(([name, version]) => ({ name, version }));
  if (added.length > 0) await tell(host, manager, manager.removeProgram(added));
  if (changed.length > 0) await tell(host, manager, manager.installProgram(changed));
  const said = [
    ...(added.length > 0 ? [`removed ${added.join(", ")} via ${manager.name}`] : []),
    ...changed.map(({ name, version }) => `put ${name} back to ${version}`),
  ];
  return said.length === 0 ? null : { diff: said.join("; ") };
}
