/**
 * `timezone.system`: keeps the time zone of the host. It is what the link `/etc/localtime` says, on hosts with systemd and
 * without; Debian has it in `/etc/timezone` too. So no program is needed but for the hardware clock.
 */
import {
  type Change,
  checked,
  defaulted,
  defineModule,
  flag,
  type Grant,
  type Host,
  line,
  perform,
  primary,
  type Program,
  StateFailure,
} from "../../core/module.ts";

const LOCALTIME = "/etc/localtime";
const TIMEZONE = "/etc/timezone";
const ADJTIME = "/etc/adjtime";
const ZONES = "/usr/share/zoneinfo";
const CLOCK_IN_UTC: Program = ["timedatectl", "set-local-rtc", "0"];

/** What was at the two places; null for nothing. */
interface Memo {
  readonly link: string | null;
  /** A copy of a zone instead of a link to it. */
  readonly copy: Uint8Array | null;
  readonly text: string | null;
}

export default defineModule({
  name: "timezone.system",
  summary: "Keeps the time zone of the host.",
  params: {
    name: primary(checked(line("Zone, such as Europe/Berlin."), wrongZone)),
    utc: defaulted(flag("Keep the hardware clock in UTC; needs timedatectl."), false),
  },
  permissions(p): Grant {
    return {
      read: [zonePath(p.name), ...(p.utc ? [ADJTIME] : [])],
      write: [LOCALTIME, TIMEZONE],
      ...(p.utc ? { run: [CLOCK_IN_UTC] } : {}),
    };
  },
  async check(p, host) {
    const whys = driftOf(p, await observe(host), await isClockLocal(host, p));
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host): Promise<(Change & { memo: Memo }) | null> {
    const seen = await observe(host);
    const isLocal = await isClockLocal(host, p);
    const whys = driftOf(p, seen, isLocal);
    if (whys.length === 0) return null;
    if (await host.stat(zonePath(p.name), { follow: true }) === null) {
      throw new Error(`there is no time zone ${p.name} in ${ZONES}`);
    }
    const details = { timezone: p.name, previous: zoneOf(seen) ?? "" };
    const memo: Memo = seen;
    try {
      await become(host, {
        link: zonePath(p.name),
        copy: null,
        text: seen.text === null ? null : `${p.name}\n`,
      });
      if (isLocal) await perform(host, CLOCK_IN_UTC);
    } catch (thrown) {
      throw new StateFailure((thrown as Error).message, { details, changed: true, memo });
    }
    return { diff: whys.join("; "), details, memo };
  },
  async revert(_p, memo: Memo, host) {
    if (zoneOf(memo) === null && memo.copy === null) return null;
    await become(host, memo);
    return { diff: `set the time zone back to ${zoneOf(memo) ?? "what it was"}` };
  },
  examples: [
    { title: "On the command line", code: "zester '*' timezone.system Europe/Berlin" },
    { title: "As a state", code: "Etc/UTC:\n  timezone.system:\n    - utc: true" },
  ],
  differences: ["`utc` is off unless it is switched on; an undo leaves the hardware clock alone."],
});

/** Parts of letters, none of them a way up. */
function wrongZone(zone: string): string | null {
  const isZone = /^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/.test(zone) && !zone.startsWith("-");
  return isZone ? null : `${JSON.stringify(zone)} is no name of a time zone`;
}

function zonePath(zone: string): string {
  return `${ZONES}/${zone}`;
}

async function observe(host: Host): Promise<Memo> {
  const info = await host.stat(LOCALTIME);
  const text = await host.readFile(TIMEZONE);
  return {
    link: info?.target ?? null,
    copy: info?.kind === "file" ? await host.readFile(LOCALTIME) : null,
    text: text === null ? null : new TextDecoder().decode(text),
  };
}

/** The zone that the link names, else the one in the file; null when neither tells. */
function zoneOf({ link, text }: Memo): string | null {
  return /\/zoneinfo\/(.+)$/.exec(link ?? "")?.[1] ?? (text?.trim() || null);
}

async function isClockLocal(host: Host, { utc }: { utc: boolean }): Promise<boolean> {
  const bytes = utc ? await host.readFile(ADJTIME) : null;
  return bytes !== null && new TextDecoder().decode(bytes).split("\n")[2]?.trim() === "LOCAL";
}

function driftOf({ name }: { name: string }, seen: Memo, isLocal: boolean): string[] {
  const isLinked = seen.link?.endsWith(`/zoneinfo/${name}`) ?? false;
  const isWritten = seen.text === null || seen.text.trim() === name;
  return [
    ...(isLinked && isWritten ? [] : [`time zone ${zoneOf(seen) ?? "unknown"} != ${name}`]),
    ...(isLocal ? ["the hardware clock is in local time"] : []),
  ];
}

async function become(host: Host, { link, copy, text }: Memo): Promise<void> {
  const now = await host.stat(LOCALTIME);
  // A link goes over a link at once; whatever else is there has to go first.
  if (now !== null && (now.kind !== "link" || link === null)) await host.remove(LOCALTIME);
  if (link !== null) await host.makeLink(LOCALTIME, link);
  else if (copy !== null) await host.replaceFile(LOCALTIME, copy);
  if (text !== null) await host.replaceFile(TIMEZONE, text);
}
