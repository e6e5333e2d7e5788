/** `file.diff`: answers with how a file differs from another one, or from a given content. */
import {
  absolutePath,
  defineFunction,
  type Host,
  optional,
  primary,
  text,
  textDiff,
  textOf,
} from "../../core/module.ts";

export default defineFunction({
  name: "file.diff",
  summary: "Answers with how a file differs from another one, or from a given content.",
  description:
    "The answer is a unified diff, shortened when it is long, and empty when there is no difference.",
  params: {
    name: primary(absolutePath("The file."), "path"),
    other: optional(absolutePath("The file to compare it with.")),
    content: optional(text("The content to compare it with.")),
  },
  positional: ["other"],
  isReadOnly: true,
  permissions: ({ name, other }) => ({ read: other === undefined ? [name] : [name, other] }),
  async run({ name, other, content }, host) {
    if ((other === undefined) === (content === undefined)) {
      throw new Error("one of other and content is needed");
    }
    const from = await textAt(host, name);
    return await textDiff(name, from, other === undefined ? content! : await textAt(host, other));
  },
  examples: [
    { title: "What was changed", code: "zester 'web*' file.diff /etc/app.conf.orig /etc/app.conf" },
  ],
  differences: ["It is called `file.get_diff` in Salt."],
});

async function textAt(host: Host, path: string): Promise<string> {
  const bytes = await host.readFile(path);
  if (bytes === null) throw new Error(`${path} does not exist`);
  const text = textOf(bytes);
  if (text === null) throw new Error(`${path} is no text`);
  return text;
}
