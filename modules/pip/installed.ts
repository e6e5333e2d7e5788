/** `pip.installed`: keeps a Python package installed. */
import {
  absolutePath,
  checked,
  defaulted,
  defineModule,
  type Host,
  line,
  optional,
  primary,
  type Program,
} from "../../core/module.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*(\[[A-Za-z0-9,._-]+\])?$/;

export default defineModule({
  name: "pip.installed",
  summary: "Keeps a Python package installed with pip, at a version if one is declared.",
  description:
    "With `requirements` it cannot tell whether anything is missing, and installs each time.",
  params: {
    name: primary(
      checked(
        line("Package."),
        (name) => NAME.test(name) ? null : "the name of a package is wanted",
      ),
    ),
    version: optional(
      checked(
        line("Exact version."),
        (version) => /^[A-Za-z0-9.+!_-]+$/.test(version) ? null : "a version is wanted",
      ),
    ),
    requirements: optional(absolutePath("File of requirements to install instead.")),
    bin: defaulted(
      checked(
        line("The pip to use."),
        (bin) => /^[A-Za-z0-9/][\w./-]*$/.test(bin) ? null : "a program is wanted",
      ),
      "pip3",
    ),
  },
  permissions: (p) => ({
    probe: p.requirements === undefined ? [showProgram(p)] : [],
    run: [installProgram(p), ...(p.requirements === undefined ? [uninstallProgram(p)] : [])],
  }),
  async check(p, host) {
    if (p.requirements !== undefined) {
      return { diff: `requirements of ${p.requirements} will be installed`, isUnsure: true };
    }
    const found = await versionOf(p, host);
    if (found === null) return { diff: `${p.name} needs to be installed` };
    if (p.version === undefined || p.version === found) return null;
    return { diff: `${p.name} version mismatch: got ${found}, want ${p.version}` };
  },
  async apply(p, host) {
    const before = p.requirements === undefined ? await versionOf(p, host) : null;
    if (before !== null && (p.version === undefined || p.version === before)) return null;
    const { code, stderr, stdout } = await host.run(installProgram(p));
    if (code !== 0) {
      throw new Error(
        `pip install: ${(stderr.trim() || stdout.trim()).split("\n").slice(-3).join("\n")}`,
      );
    }
    return {
      diff: `installed ${p.requirements ?? p.name} via ${p.bin}`,
      details: { package: p.name, bin: p.bin },
      memo: { before, isPackage: p.requirements === undefined },
    };
  },
  async revert(p, memo: { before: string | null; isPackage: boolean }, host) {
    if (!memo.isPackage) return { diff: "requirements cannot be taken back", changed: false };
    const program = memo.before === null
      ? uninstallProgram(p)
      : installProgram({ ...p, version: memo.before });
    const { code, stderr } = await host.run(program);
    if (code !== 0) throw new Error(`pip: ${stderr.trim()}`);
    return {
      diff: memo.before === null ? `removed ${p.name}` : `put ${p.name} back to ${memo.before}`,
    };
  },
  examples: [
    { title: "On the command line", code: "zester 'app*' pip.installed requests version=2.31.0" },
    { title: "As a state", code: "requests:\n  pip.installed:\n    - bin: /srv/app/venv/bin/pip" },
  ],
});

interface Params {
  readonly name: string;
  readonly version?: string | undefined;
  readonly requirements?: string | undefined;
  readonly bin: string;
}

function showProgram({ bin, name }: Params): Program {
  return [bin, "show", "--disable-pip-version-check", "--", name.replace(/\[.*$/, "")];
}

function installProgram({ bin, name, version, requirements }: Params): Program {
  const what = requirements === undefined
    ? ["--", version === undefined ? name : `${name}==${version}`]
    : ["-r", requirements];
  return [bin, "install", "--disable-pip-version-check", "--no-input", ...what];
}

function uninstallProgram({ bin, name }: Params): Program {
  return [bin, "uninstall", "-y", "--", name.replace(/\[.*$/, "")];
}

async function versionOf(p: Params, host: Host): Promise<string | null> {
  const { code, stdout, stderr } = await host.run(showProgram(p));
  if (code === 0) return /^Version: (\S+)/m.exec(stdout)?.[1] ?? null;
  if (/not found/i.test(stderr + stdout)) return null;
  throw new Error(`${p.bin} show: ${stderr.trim()}`);
}
