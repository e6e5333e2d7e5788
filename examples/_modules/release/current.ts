/** `release.current`: keeps the link `current` of an application at one of its releases. */
import { absolutePath, checked, defineModule, type Host, line, primary } from "zester";

/** Where the link leads; null: there is none. */
type Link = string | null;

const VERSION = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

export default defineModule({
  name: "release.current",
  summary: "Keeps the link `current` of an application at one release.",
  params: {
    folder: primary(absolutePath("Folder of the application, with `releases/` in it."), "name"),
    version: checked(
      line("Release to use: the name of a folder in `releases/`."),
      (version) => VERSION.test(version) ? null : "letters, digits, dots and dashes are wanted",
    ),
  },
  // A link may lead only to what is granted; all releases, so that a revert can go back to the one before.
  permissions: ({ folder }) => ({ read: [`${folder}/releases/**`], write: [`${folder}/current`] }),
  check: async (p, host) => plan(p, await look(p, host)),
  async apply(p, host) {
    const from = await look(p, host); // looks again: a check may be minutes old
    const drift = plan(p, from);
    if (drift === null) return null;
    await host.makeLink(`${p.folder}/current`, releaseOf(p));
    return { ...drift, memo: { from } };
  },
  async revert(p, { from }: { from: Link }, host) {
    if (from === null) await host.remove(`${p.folder}/current`);
    else await host.makeLink(`${p.folder}/current`, from);
    return { diff: `current: ${releaseOf(p)} -> ${from ?? "absent"}` };
  },
  examples: [{
    title: "One release",
    code: `/srv/shop:\n  release.current:\n    - version: "2.4.1"`,
  }],
});

interface Wanted {
  readonly folder: string;
  readonly version: string;
}

function releaseOf({ folder, version }: Wanted): string {
  return `${folder}/releases/${version}`;
}

async function look({ folder }: Wanted, host: Host): Promise<Link> {
  const found = await host.stat(`${folder}/current`);
  if (found === null) return null;
  if (found.kind !== "link") throw new Error(`${folder}/current is a ${found.kind}, not a link`);
  return found.target ?? null;
}

/** Pure: null when there is nothing to do. */
function plan(p: Wanted, from: Link): { diff: string } | null {
  const to = releaseOf(p);
  return from === to ? null : { diff: `current: ${from ?? "absent"} -> ${to}` };
}
