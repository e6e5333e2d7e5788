/** `ps.list`: what runs on the host. */
import { defineFunction, optional, primary, text } from "../../core/module.ts";
import { PS, readProcesses } from "./_processes.ts";

export default defineFunction({
  name: "ps.list",
  summary:
    "Answers with the processes of the host, those whose command contains a text if one is given.",
  params: { match: optional(primary(text("Text that the command must contain."))) },
  isReadOnly: true,
  permissions: () => ({ probe: [PS] }),
  async run({ match }, host) {
    const all = await readProcesses(host);
    return all.filter(({ command }) => match === undefined || command.includes(match));
  },
  examples: [{ title: "Who runs nginx", code: "zester '*' ps.list nginx" }],
});
