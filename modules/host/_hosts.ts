/** Edits the text of a hosts file. Comments and blank lines stay as they are. Pure. */
import { absolutePath, aliased, checked, defaulted, line, primary } from "../../core/module.ts";

export const hostParams = {
  name: primary(
    checked(line("Host name."), (name) => /^[^\s#]+$/.test(name) ? null : "one word is wanted"),
  ),
  config: defaulted(aliased(absolutePath("File to edit."), "path"), "/etc/hosts"),
};

interface Row {
  readonly text: string;
  /** Absent for what maps nothing. */
  readonly ip?: string;
  readonly names: readonly string[];
  readonly comment: string;
}

function rowOf(text: string): Row {
  const [entry = "", ...rest] = text.split("#");
  const [ip, ...names] = entry.trim().split(/\s+/).filter((word) => word !== "");
  const comment = rest.length === 0 ? "" : `#${rest.join("#")}`;
  return ip === undefined ? { text, names: [], comment } : { text, ip, names, comment };
}

function shown({ ip, names, comment }: Row): string {
  return [`${ip}\t${names.join(" ")}`, comment].filter((part) => part !== "").join(" ");
}

/** The text without the name; lines that then map nothing go. */
export function withoutName(text: string, name: string): string {
  return text.split("\n").flatMap((line) => {
    const row = rowOf(line);
    if (!row.names.includes(name)) return [line];
    const names = row.names.filter((each) => each !== name);
    return names.length === 0 ? [] : [shown({ ...row, names })];
  }).join("\n");
}

/** The text in which the name maps to this address and to no other. */
export function withName(text: string, name: string, ip: string): string {
  const rows = text.split("\n").map(rowOf);
  const isRight = rows.filter(({ names }) => names.includes(name)).every((row) => row.ip === ip) &&
    rows.filter((row) => row.ip === ip && row.names.includes(name)).length === 1;
  if (isRight) return text;
  const lines = withoutName(text, name).split("\n");
  const at = lines.findIndex((line) => rowOf(line).ip === ip);
  if (at >= 0) {
    const row = rowOf(lines[at]!);
    lines[at] = shown({ ...row, names: [...row.names, name] });
    return lines.join("\n");
  }
  const kept = lines.join("\n");
  const separator = kept === "" || kept.endsWith("\n") ? "" : "\n";
  return `${kept}${separator}${ip}\t${name}\n`;
}
