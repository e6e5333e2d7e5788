/** `mount.unmounted`: keeps a point free, and out of fstab if that is asked for. */
import {
  absolutePath,
  checked,
  defaulted,
  defineModule,
  flag,
  type Grant,
  perform,
  primary,
  type Program,
  StateFailure,
} from "../../core/module.ts";
import { findLine, withLine } from "./_fstab.ts";
import { FSTAB, isMounted, MOUNTS, readFstab, unmountProgram } from "./_host.ts";

/** What to undo. */
interface Memo {
  readonly didUnmount: boolean;
  /** The line that was taken out of fstab. */
  readonly line?: string;
}

export default defineModule({
  name: "mount.unmounted",
  summary: "Keeps a point free of mounts, and with persist also out of fstab.",
  params: {
    name: primary(
      checked(
        absolutePath("Mount point."),
        (point) => /\s/.test(point) ? "blanks are refused" : null,
      ),
    ),
    persist: defaulted(flag("Take its line out of fstab as well."), false),
  },
  permissions(p): Grant {
    return {
      read: [MOUNTS, FSTAB],
      ...(p.persist ? { write: [FSTAB] } : {}),
      run: [unmountProgram(p.name), mountProgram(p.name)],
    };
  },
  async check(p, host) {
    const line = p.persist ? findLine(await readFstab(host) ?? "", p.name) : null;
    const whys = [
      ...(await isMounted(host, p.name) ? [`${p.name} is mounted`] : []),
      ...(line === null ? [] : [`${p.name} is in ${FSTAB}`]),
    ];
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host) {
    const isThere = await isMounted(host, p.name);
    if (isThere) await perform(host, unmountProgram(p.name));
    const memo: Memo = { didUnmount: isThere };
    const details = { mountpoint: p.name, persisted: String(p.persist) };
    const text = p.persist ? await readFstab(host) : null;
    const line = findLine(text ?? "", p.name);
    if (line === null) {
      return isThere ? { diff: `unmounted ${p.name}`, details, memo } : null;
    }
    try {
      await host.replaceFile(FSTAB, withLine(text!, p.name, null));
    } catch (thrown) {
      throw new StateFailure((thrown as Error).message, { details, changed: isThere, memo });
    }
    const diff = `${isThere ? `unmounted ${p.name}; ` : ""}took ${p.name} out of ${FSTAB}`;
    return { diff, details, memo: { ...memo, line } };
  },
  async revert(p, { didUnmount, line }: Memo, host) {
    const text = await readFstab(host) ?? "";
    if (line !== undefined) await host.replaceFile(FSTAB, withLine(text, p.name, line));
    if (!didUnmount) return { diff: `reverted ${p.name}` };
    if (line === undefined && findLine(text, p.name) === null) {
      throw new Error(`${p.name} cannot be mounted again: ${FSTAB} does not say what was there`);
    }
    await perform(host, mountProgram(p.name));
    return { diff: `mounted ${p.name} again` };
  },
  examples: [
    { title: "On the command line", code: "zester 'ci*' mount.unmounted /srv/scratch" },
    { title: "For good", code: "/srv/old:\n  mount.unmounted:\n    - persist: true" },
  ],
  differences: ["`device` is not a parameter: the point decides."],
});

/** What to mount comes from fstab. */
function mountProgram(point: string): Program {
  return ["mount", "--", point];
}
