/** `file.keyvalue`: keeps values of keys in a text file of `key=value` lines. */
import {
  checked,
  defaulted,
  defineModule,
  line,
  optional,
  text,
  textMap,
} from "../../core/module.ts";
import { applyEdit, checkEdit, type Edit, editGrant, editing, revertEdit } from "./_edit.ts";
import { appended, linesOf, notOneLine, oneLine, textOfLines } from "./_lines.ts";
import { makedirs } from "./_state.ts";
import type { Memo } from "./_undo.ts";

export default defineModule({
  name: "file.keyvalue",
  summary: "Keeps values of keys in a text file of key=value lines.",
  description:
    `The first line of a key is the one that counts; its indentation stays. Spaces around the separator do not matter when a
line is looked for, and a line that has the right value stays as it is. A key that is missing is added at the end.`,
  params: {
    ...editing,
    separator: defaulted(checked(text("What stands between key and value."), notOneLine), "="),
    key_values: optional(checked(textMap("Values by key."), notLines)),
    entries: optional(checked(textMap("Further values by key; they win."), notLines)),
    key: optional(checked(line("One more key."), blankKey)),
    value: optional(checked(text("Its value."), notOneLine), "nothing"),
    uncomment: optional(
      line("Use a commented line of the key, which begins with this, when it has no other."),
    ),
    makedirs,
  },
  positional: ["key", "value"],
  permissions: editGrant,
  check: (p, host) => checkEdit(host, p, (text) => plan(p, text)),
  apply: (p, host) => applyEdit(host, p, (text) => plan(p, text)),
  revert: (p, memo: Memo, host) => revertEdit(host, p, memo),
  examples: [
    {
      title: "One value",
      code: "zester '*' file.keyvalue /etc/sysctl.d/90.conf key=vm.swappiness value=10",
    },
    {
      title: "Several, with a space between",
      code: `/etc/ssh/sshd_config:
  file.keyvalue:
    - separator: " "
    - uncomment: "#"
    - key_values:
        PermitRootLogin: "no"
        PasswordAuthentication: "no"`,
    },
  ],
  differences: [
    "A missing key is always added (`append_if_not_found` in Salt).",
    "Only the first line of a key is changed; `count`, `key_ignore_case` and `value_ignore_case` are not parameters.",
  ],
});

function notLines(map: Readonly<Record<string, string>>): string | null {
  const keyless = Object.keys(map).map(blankKey).find((wrong) => wrong !== null);
  return keyless ?? [...Object.keys(map), ...Object.values(map)].map(notOneLine)
    .find((wrong) => wrong !== null) ??
    null;
}

function blankKey(key: string): string | null {
  return key.trim() === "" || key !== key.trim() ? "a key is a word" : null;
}

interface Wanted {
  readonly separator: string;
  readonly key_values?: Readonly<Record<string, string>> | undefined;
  readonly entries?: Readonly<Record<string, string>> | undefined;
  readonly key?: string | undefined;
  readonly value?: string | undefined;
  readonly uncomment?: string | undefined;
}

/** Pure: the text with all values as they should be; null when they are. */
export function plan(p: Wanted, text: string | null): Edit | null {
  const wanted = Object.entries(valuesOf(p));
  if (wanted.length === 0) throw new Error("key_values, entries or key is needed");
  const edited = wanted.reduce(
    (each, [key, value]) => withValue(each, { key, value, p }),
    text ?? "",
  );
  return edited === text ? null : { text: edited };
}

function valuesOf({ key_values, entries, key, value = "" }: Wanted): Record<string, string> {
  const all: Record<string, string> = Object.create(null);
  return Object.assign(all, key_values, entries, key === undefined ? {} : { [key]: value });
}

interface Pair {
  readonly key: string;
  readonly value: string;
  readonly p: Wanted;
}

function withValue(text: string, { key, value: given, p }: Pair): string {
  const value = oneLine(given).trim();
  const lines = linesOf(text);
  const read = (line: string) => valueIn(line, key, p.separator);
  const at = lines.findIndex((line) => read(line) !== null);
  if (at >= 0) {
    if (read(lines[at]!) === value) return text;
    return textOfLines(lines.with(at, indentOf(lines[at]!) + key + p.separator + value), text);
  }
  const commented = lines.findIndex((line) => read(uncommented(line, p.uncomment)) !== null);
  const added = key + p.separator + value;
  if (commented < 0) return appended(text, added);
  return textOfLines(lines.with(commented, indentOf(lines[commented]!) + added), text);
}

/** The value of the key in this line; null when it is no line of that key. A separator of blanks is any run of them. */
function valueIn(line: string, key: string, separator: string): string | null {
  const text = line.trim();
  if (!text.startsWith(key)) return null;
  const rest = text.slice(key.length);
  const mark = separator.trim();
  if (mark === "") return rest === "" || /^\s/.test(rest) ? rest.trim() : null;
  const value = rest.trimStart();
  return value.startsWith(mark) ? value.slice(mark.length).trim() : null;
}

function uncommented(line: string, mark: string | undefined): string {
  const text = line.trimStart();
  return mark !== undefined && text.startsWith(mark) ? text.slice(mark.length) : line;
}

function indentOf(line: string): string {
  return line.slice(0, line.length - line.trimStart().length);
}
