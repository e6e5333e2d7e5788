/** `pkgrepo.managed`: keeps a source of packages. */
import {
  absolutePath,
  checked,
  defaulted,
  defineModule,
  type Facts,
  familyOf,
  flag,
  type Grant,
  type Host,
  line,
  netOf,
  optional,
  primary,
  type Program,
} from "../../core/module.ts";
import { keyringPath, type Source, sourcePath, sourceText, withoutArmour } from "./_sources.ts";

const REFRESH: Readonly<Record<string, Program>> = {
  debian: ["apt-get", "update", "-q"],
  redhat: ["dnf", "makecache"],
};

export default defineModule({
  name: "pkgrepo.managed",
  summary: "Keeps a source of packages, with the key that its packages are signed with.",
  params: {
    name: primary(
      checked(
        line("Name of the source."),
        (name) =>
          /^[A-Za-z0-9._-]+$/.test(name) ? null : "letters, digits, dots and hyphens are wanted",
      ),
    ),
    humanname: optional(line("Name for people."), "the name"),
    baseurl: optional(line("For apt the whole line `deb …`; for dnf and yum the address.")),
    ppa: optional(
      checked(
        line("A PPA of Ubuntu, such as `ppa:user/name`."),
        (ppa) => /^ppa:[\w.+-]+\/[\w.+-]+$/.test(ppa) ? null : "ppa:user/name is wanted",
      ),
    ),
    file: optional(absolutePath("File to write instead of the usual one.")),
    key_url: optional(line("Where the key is.")),
    enabled: defaulted(flag("Whether the source is used (dnf and yum)."), true),
    gpgcheck: defaulted(flag("Whether signatures are checked (dnf and yum)."), true),
    refresh: defaulted(flag("Read the lists of packages anew after a change."), true),
  },
  permissions(p, facts): Grant {
    const family = supportedFamily(facts);
    const keyring = p.key_url !== undefined && family === "debian" ? [keyringPath(p)] : [];
    if (isPpa(p, facts)) {
      return { run: [ppaProgram(p.ppa!), removePpa(p.ppa!), ...refreshOf(p, facts)] };
    }
    return {
      write: [sourcePath(p, family), ...keyring],
      run: refreshOf(p, facts),
      ...(keyring.length === 0 ? {} : { net: [netOf(p.key_url!)] }),
    };
  },
  async check(p, host) {
    const diff = await driftOf(p, host);
    return diff === null ? null : { diff, ...(isPpa(p, host.facts) ? { isUnsure: true } : {}) };
  },
  async apply(p, host) {
    const diff = await driftOf(p, host);
    if (diff === null) return null;
    const family = supportedFamily(host.facts);
    const details = { name: p.name, file: sourcePath(p, family), family };
    if (isPpa(p, host.facts)) {
      await run(host, ppaProgram(p.ppa!));
      return { diff: `added ${p.ppa}`, details, memo: { ppa: p.ppa! } };
    }
    const path = sourcePath(p, family);
    const before = await host.readFile(path);
    const needsKey = family === "debian" && p.key_url !== undefined &&
      await host.stat(keyringPath(p)) === null;
    if (needsKey) await fetchKey(p, host);
    await host.replaceFile(path, sourceText(p, family), { mode: 0o644 });
    for (const program of refreshOf(p, host.facts)) await run(host, program);
    return { diff: `wrote ${path}`, details, memo: { before, addedKey: needsKey } };
  },
  async revert(p, memo: Memo, host) {
    if ("ppa" in memo) {
      await run(host, removePpa(memo.ppa));
      return { diff: `removed ${memo.ppa}` };
    }
    const path = sourcePath(p, supportedFamily(host.facts));
    if (memo.before === null) await host.remove(path);
    else await host.replaceFile(path, memo.before);
    if (memo.addedKey) await host.remove(keyringPath(p));
    return { diff: `reverted ${path}` };
  },
  examples: [{
    title: "A source of apt with its key",
    code: `acme:
  pkgrepo.managed:
    - baseurl: deb https://deb.acme.org stable main
    - key_url: https://deb.acme.org/key.asc`,
  }, {
    title: "On the command line",
    code: "zester 'web*' pkgrepo.managed acme baseurl='deb https://deb.acme.org stable main'",
  }],
  differences: [
    "Keys go to /etc/apt/keyrings and are tied to their source with `signed-by`; apt-key is not used.",
  ],
});

type Memo =
  | { readonly ppa: string }
  | { readonly before: Uint8Array | null; readonly addedKey: boolean };

interface Params extends Source {
  readonly ppa?: string | undefined;
  readonly refresh: boolean;
}

function supportedFamily(facts: Facts): "debian" | "redhat" {
  const family = familyOf(facts);
  if (family === "debian" || family === "redhat") return family;
  throw new Error(`sources of packages are not known on ${family} systems`);
}

function isPpa({ ppa, baseurl }: Params, facts: Facts): boolean {
  return ppa !== undefined && baseurl === undefined && familyOf(facts) === "debian";
}

function ppaProgram(ppa: string): Program {
  return ["add-apt-repository", "-y", ppa];
}

function removePpa(ppa: string): Program {
  return ["add-apt-repository", "-r", "-y", ppa];
}

function refreshOf({ refresh }: Params, facts: Facts): Program[] {
  return refresh ? [REFRESH[supportedFamily(facts)]!] : [];
}

async function driftOf(p: Params, host: Host): Promise<string | null> {
  const family = supportedFamily(host.facts);
  if (isPpa(p, host.facts)) return `${p.ppa} will be added`;
  if (p.baseurl === undefined) throw new Error("baseurl is wanted");
  const path = sourcePath(p, family);
  const found = await host.readFile(path);
  if (found === null) return `${path} does not exist`;
  if (new TextDecoder().decode(found) !== sourceText(p, family)) return `${path} differs`;
  if (family !== "debian" || p.key_url === undefined) return null;
  return await host.stat(keyringPath(p)) === null ? `${keyringPath(p)} does not exist` : null;
}

async function fetchKey(p: Params, host: Host): Promise<void> {
  const { status, body } = await host.fetch(p.key_url!);
  if (status !== 200) throw new Error(`key ${p.key_url}: the server answered ${status}`);
  await host.replaceFile(keyringPath(p), withoutArmour(body), { mode: 0o644 });
}

async function run(host: Host, program: Program): Promise<void> {
  const { code, stderr, stdout } = await host.run(program);
  if (code !== 0) {
    throw new Error(
      `${program[0]}: ${(stderr.trim() || stdout.trim()).split("\n").slice(-3).join("\n")}`,
    );
  }
}
