/** `file.read`: answers with the text of a file, or the first or last lines of it. */
import {
  absolutePath,
  checked,
  defineFunction,
  FILE_SHOWN_BYTES_MAX,
  integer,
  optional,
  primary,
  textOf,
} from "../../core/module.ts";
import { linesOf } from "./_lines.ts";

export default defineFunction({
  name: "file.read",
  summary: "Answers with the text of a file.",
  description:
    "With `head` or `tail` only its first or last lines. What is larger than an answer may be, or is no text, is an error.",
  params: {
    name: primary(absolutePath("File to read."), "path"),
    head: optional(checked(integer("This many lines from the beginning."), notPositive)),
    tail: optional(checked(integer("This many lines from the end."), notPositive)),
  },
  isReadOnly: true,
  permissions: ({ name }) => ({ read: [name] }),
  async run({ name, head, tail }, host) {
    const bytes = await host.readFile(name);
    if (bytes === null) throw new Error(`${name} does not exist`);
    const content = textOf(bytes);
    if (content === null) throw new Error(`${name} is no text`);
    const text = partOf(content, { head, tail });
    const size = new TextEncoder().encode(text).length;
    if (size > FILE_SHOWN_BYTES_MAX) {
      throw new Error(
        `${name}: ${size} bytes are too many, at most ${FILE_SHOWN_BYTES_MAX} (head and tail give a part)`,
      );
    }
    return text;
  },
  examples: [
    { title: "A file", code: "zester 'web*' file.read /etc/os-release" },
    { title: "The end of a log", code: "zester 'web*' file.read /var/log/app.log tail=20" },
  ],
  differences: ["`binary` is not a parameter: only text is shown."],
});

function notPositive(count: number): string | null {
  return count < 1 ? "one line or more is wanted" : null;
}

function partOf(
  text: string,
  { head, tail }: { head?: number | undefined; tail?: number | undefined },
): string {
  if (head === undefined && tail === undefined) return text;
  const first = linesOf(text).slice(0, head);
  return (tail === undefined ? first : first.slice(-tail)).join("\n");
}
