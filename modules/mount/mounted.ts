/** `mount.mounted`: keeps something mounted at a point, now and after a restart. */
import {
  absolutePath,
  checked,
  defaulted,
  defineModule,
  flag,
  type Grant,
  integer,
  line,
  type Param,
  perform,
  primary,
  type Program,
  StateFailure,
} from "../../core/module.ts";
import { findLine, type FstabEntry, isSameEntry, lineOf, withLine } from "./_fstab.ts";
import { FSTAB, isMounted, MOUNTS, readFstab, unmountProgram } from "./_host.ts";

/** What to undo. */
interface Memo {
  readonly didMount: boolean;
  readonly didMakeFolder: boolean;
  /** The line before, null for none; absent when fstab was not changed. `hadFile`: there was an fstab. */
  readonly fstab?: { readonly line: string | null; readonly hadFile: boolean };
}

export default defineModule({
  name: "mount.mounted",
  summary: "Keeps something mounted at a point, now and after a restart.",
  description:
    `Something else that is mounted there counts as mounted: it is never taken away, and its options are not compared.
Only the line in \`/etc/fstab\` is brought to what is declared.`,
  params: {
    name: primary(oneWord(absolutePath("Mount point."))),
    device: oneWord(line("What to mount: a device, `UUID=…`, a share, `tmpfs`.")),
    fstype: defaulted(oneWord(line("Type of the file system.")), "ext4"),
    opts: defaulted(oneWord(line("Options, with commas between.")), "defaults"),
    dump: defaulted(count("Fifth field of fstab."), 0),
    pass: defaulted(count("Sixth field of fstab: order of checks."), 0),
    persist: defaulted(flag("Keep it in fstab as well."), true),
    mkmnt: defaulted(flag("Make the folder to mount at."), false),
  },
  permissions(p): Grant {
    const write = [...(p.persist ? [FSTAB] : []), ...(p.mkmnt ? [p.name] : [])];
    return {
      read: [MOUNTS],
      ...(write.length === 0 ? {} : { write }),
      run: [mountProgram(p), unmountProgram(p.name)],
    };
  },
  async check(p, host) {
    const text = p.persist ? await readFstab(host) : null;
    const whys = driftOf(p, { isMounted: await isMounted(host, p.name), text });
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host) {
    const text = p.persist ? await readFstab(host) : null;
    const isThere = await isMounted(host, p.name);
    const whys = driftOf(p, { isMounted: isThere, text });
    if (whys.length === 0) return null;
    const details = {
      device: p.device,
      mountpoint: p.name,
      fstype: p.fstype,
      options: p.opts,
      persisted: String(p.persist),
    };
    let memo: Memo = { didMount: false, didMakeFolder: false };
    const old = findLine(text ?? "", p.name);
    if (p.persist && !isSameEntry(old, entryOf(p))) {
      await host.replaceFile(FSTAB, withLine(text ?? "", p.name, lineOf(entryOf(p))));
      memo = { ...memo, fstab: { line: old, hadFile: text !== null } };
    }
    try {
      if (!isThere && p.mkmnt && await host.stat(p.name) === null) {
        await host.makeFolder(p.name, { parents: true });
        memo = { ...memo, didMakeFolder: true };
      }
      if (!isThere) await perform(host, mountProgram(p));
    } catch (thrown) {
      const changed = memo.fstab !== undefined || memo.didMakeFolder;
      throw new StateFailure((thrown as Error).message, { details, changed, memo });
    }
    return { diff: whys.join("; "), details, memo: { ...memo, didMount: !isThere } };
  },
  async revert(p, { didMount, didMakeFolder, fstab }: Memo, host) {
    if (didMount && await isMounted(host, p.name)) await perform(host, unmountProgram(p.name));
    if (didMakeFolder) await host.remove(p.name);
    const text = fstab === undefined ? null : await readFstab(host);
    if (fstab !== undefined && text !== null) {
      const left = withLine(text, p.name, fstab.line);
      if (left === "" && !fstab.hadFile) await host.remove(FSTAB);
      else await host.replaceFile(FSTAB, left);
    }
    return { diff: `reverted ${p.name}` };
  },
  examples: [
    {
      title: "A file system in memory",
      code: "zester 'ci*' mount.mounted /srv/scratch device=tmpfs fstype=tmpfs opts=size=1g",
    },
    {
      title: "As a state",
      code: `/srv/data:
  mount.mounted:
    - device: UUID=3f2c9a52-6a0e-4a3a-8d0f-5f6a3d2f1b11
    - fstype: xfs
    - opts: noatime
    - mkmnt: true`,
    },
  ],
  differences: [
    "What is mounted is never mounted anew: changed options take effect at the next mount.",
  ],
});

/** Blanks would part the fields of fstab. A dash at the beginning would be an option. */
function oneWord(base: Param<string>): Param<string> {
  return checked(
    base,
    (value) => /\s|^-/.test(value) ? "blanks and a leading dash are refused" : null,
  );
}

function count(usage: string): Param<number> {
  return checked(integer(usage), (value) => value >= 0 ? null : "it is not negative");
}

interface Params {
  readonly name: string;
  readonly device: string;
  readonly fstype: string;
  readonly opts: string;
  readonly dump: number;
  readonly pass: number;
  readonly persist: boolean;
}

function entryOf(p: Params): FstabEntry {
  const { name: point, device, fstype, opts: options, dump, pass } = p;
  return { device, point, fstype, options, dump, pass };
}

function mountProgram({ name, device, fstype, opts }: Params): Program {
  const options = opts === "defaults" ? [] : ["-o", opts];
  return ["mount", "-t", fstype, ...options, "--", device, name];
}

function driftOf(
  p: Params,
  { isMounted, text }: { isMounted: boolean; text: string | null },
): string[] {
  const line = findLine(text ?? "", p.name);
  const isKept = !p.persist || isSameEntry(line, entryOf(p));
  return [
    ...(isMounted ? [] : [`${p.name} is not mounted`]),
    ...(isKept ? [] : [`${p.name} ${line === null ? "is not in" : "differs in"} ${FSTAB}`]),
  ];
}
