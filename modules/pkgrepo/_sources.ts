/** The files that name package sources. Pure. */
import { type Family } from "../../core/module.ts";

export interface Source {
  readonly name: string;
  readonly humanname?: string | undefined;
  readonly baseurl?: string | undefined;
  readonly file?: string | undefined;
  readonly key_url?: string | undefined;
  readonly enabled: boolean;
  readonly gpgcheck: boolean;
}

/** Where the file of a source lies. */
export function sourcePath({ name, file }: Source, family: Family): string {
  if (file !== undefined) return file;
  return family === "debian"
    ? `/etc/apt/sources.list.d/${name}.list`
    : `/etc/yum.repos.d/${name}.repo`;
}

/** Where the key of a Debian source lies. */
export function keyringPath({ name }: Source): string {
  return `/etc/apt/keyrings/zester-${name}.gpg`;
}

/** The text of the file. */
export function sourceText(source: Source, family: Family): string {
  return family === "debian" ? aptText(source) : yumText(source);
}

function aptText(source: Source): string {
  const line = (source.baseurl ?? "").trim();
  const signed = source.key_url === undefined ? line : signedBy(line, keyringPath(source));
  return `# Managed by Zester: ${source.humanname ?? source.name}\n${signed}\n`;
}

/** The line with the key that its packages must be signed with; a key that is named already stays. */
export function signedBy(line: string, keyring: string): string {
  if (line.includes("signed-by=")) return line;
  const [, kind = "", options, rest = ""] =
    /^(deb(?:-src)?)\s+(?:\[([^\]]*)\]\s+)?(.*)$/.exec(line) ?? [];
  if (kind === "") {
    throw new Error(`${JSON.stringify(line)} is no line of an apt source: it begins with deb`);
  }
  const all = [...(options === undefined ? [] : [options.trim()]), `signed-by=${keyring}`];
  return `${kind} [${all.join(" ")}] ${rest}`;
}

function yumText({ name, humanname, baseurl = "", enabled, gpgcheck, key_url }: Source): string {
  const rows = [
    `[${name}]`,
    `name=${humanname ?? name}`,
    `baseurl=${baseurl.trim()}`,
    `enabled=${enabled ? 1 : 0}`,
    `gpgcheck=${gpgcheck ? 1 : 0}`,
    ...(key_url === undefined ? [] : [`gpgkey=${key_url}`]),
  ];
  return `${rows.join("\n")}\n`;
}

/** The key as apt reads it: the armour, if there is any, taken off. */
export function withoutArmour(key: Uint8Array): Uint8Array {
  const text = new TextDecoder("latin1").decode(key);
  const armoured =
    /-----BEGIN PGP PUBLIC KEY BLOCK-----\r?\n(?:[^\n]+: [^\n]*\n)*\r?\n([\s\S]*?)-----END/.exec(
      text,
    );
  if (armoured === null) return key;
  const body = armoured[1]!.split(/\r?\n/).filter((row) => !row.startsWith("=")).join("");
  return Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
}
