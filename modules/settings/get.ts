/** `settings.get`: one setting of the peel. */
import { anything, defineFunction, optional, primary, text, valueAt } from "../../core/module.ts";
import type { PlainValue } from "../../core/module.ts";

export default defineFunction({
  name: "settings.get",
  summary: "Answers with one setting; parts of its path are separated by dots or colons.",
  params: {
    key: primary(text("Path of the setting.")),
    default: optional(anything("What to answer when there is no such setting."), "an empty text"),
  },
  positional: ["default"],
  isReadOnly: true,
  permissions: () => ({ peel: ["settings"] }),
  async run(p, host) {
    const found = valueAt(await host.settings(), p.key);
    return found ?? (p.default as PlainValue | undefined) ?? "";
  },
  examples: [{ title: "One value", code: "zester web-01 settings.get nginx.workers" }],
});
