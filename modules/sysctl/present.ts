/** `sysctl.present`: keeps a value of the kernel, now and after a restart. */
import {
  absolutePath,
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
import {
  collapsed,
  isSameValue,
  keptValue,
  pathOf,
  patternOf,
  withValue,
  wrongKey,
} from "./_key.ts";

const DROP_IN = "/etc/sysctl.d/99-zester.conf";

/** What was before; what is absent was not changed. */
interface Memo {
  /** Null when it could not be read. */
  readonly value?: string | null;
  /** Null when the file had no line; `hadFile` false when there was no file. */
  readonly kept?: { readonly value: string | null; readonly hadFile: boolean };
}

export default defineModule({
  name: "sysctl.present",
  summary: "Keeps a value of the kernel, now and after a restart.",
  params: {
    name: primary(checked(line("Key, such as net.ipv4.ip_forward."), wrongKey)),
    value: line("Value wanted."),
    persist: defaulted(flag("Keep it in a file for the next start as well."), true),
    config: defaulted(absolutePath("The file."), DROP_IN),
  },
  permissions(p): Grant {
    return {
      read: [pathOf(p.name)],
      write: p.persist ? [p.config] : [],
      run: [setProgram(p), putBackProgram(p.name)],
    };
  },
  async check(p, host) {
    const seen = await observe(host, p);
    const whys = driftOf(p, seen);
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host) {
    const seen = await observe(host, p);
    const whys = driftOf(p, seen);
    if (whys.length === 0) return null;
    const details = {
      key: p.name,
      value: p.value,
      previous: seen.value ?? "",
      persisted: String(p.persist),
    };
    const isOtherNow = isOther(p, seen.value);
    if (isOtherNow) await perform(host, setProgram(p));
    const memo: Memo = isOtherNow ? { value: seen.value } : {};
    if (!p.persist || !isOther(p, seen.kept)) return { diff: whys.join("; "), details, memo };
    try {
      await host.replaceFile(p.config, withValue(seen.text ?? "", p.name, p.value));
    } catch (thrown) {
      throw new StateFailure((thrown as Error).message, { details, changed: isOtherNow, memo });
    }
    const kept = { value: seen.kept, hadFile: seen.text !== null };
    return { diff: whys.join("; "), details, memo: { ...memo, kept } };
  },
  async revert(p, { value, kept }: Memo, host) {
    if (value !== undefined && value !== null) {
      await perform(host, putBackProgram(p.name), { stdin: `${p.name} = ${value}\n` });
    }
    if (kept !== undefined) await putBackFile(host, p, kept);
    return { diff: `reverted ${p.name}` };
  },
  examples: [
    {
      title: "On the command line",
      code: "zester 'gw*' sysctl.present net.ipv4.ip_forward value=1",
    },
    {
      title: "As a state",
      code: `vm.swappiness:
  sysctl.present:
    - value: 10`,
    },
  ],
  differences: [
    "The file is /etc/sysctl.d/99-zester.conf unless `config` names another; `persist: false` leaves it alone.",
  ],
});

interface Params {
  readonly name: string;
  readonly value: string;
  readonly persist: boolean;
  readonly config: string;
}

interface Seen {
  readonly value: string | null;
  /** What the file keeps, and its whole text. */
  readonly kept: string | null;
  readonly text: string | null;
}

function setProgram({ name, value }: Params): Program {
  return ["sysctl", "-q", "-w", "--", `${name}=${value}`];
}

/** The old value is not known when the grant is made: it comes by stdin, and the pattern lets only this key pass. */
function putBackProgram(key: string): Program {
  return ["sysctl", "-q", "--pattern", patternOf(key), "--load=-"];
}

async function observe(host: Host, p: Params): Promise<Seen> {
  const value = await readText(host, pathOf(p.name));
  const text = p.persist ? await readText(host, p.config) : null;
  return {
    value: value === null ? null : collapsed(value),
    kept: keptValue(text ?? "", p.name),
    text,
  };
}

async function readText(host: Host, path: string): Promise<string | null> {
  const bytes = await host.readFile(path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

function isOther({ value }: Params, found: string | null): boolean {
  return found === null || !isSameValue(found, value);
}

function driftOf(p: Params, { value, kept }: Seen): string[] {
  const change = (found: string | null) =>
    `${found === null ? "none" : JSON.stringify(found)} -> ${JSON.stringify(p.value)}`;
  return [
    ...(isOther(p, value) ? [`${p.name}: ${change(value)}`] : []),
    ...(p.persist && isOther(p, kept) ? [`${p.name} in ${p.config}: ${change(kept)}`] : []),
  ];
}

async function putBackFile(
  host: Host,
  p: Params,
  { value, hadFile }: NonNullable<Memo["kept"]>,
): Promise<void> {
  const text = await readText(host, p.config);
  if (text === null) return;
  const left = withValue(text, p.name, value);
  if (left === "" && !hadFile) await host.remove(p.config);
  else await host.replaceFile(p.config, left);
}
