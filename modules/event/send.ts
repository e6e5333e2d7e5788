/** `event.send`: sends an event in the name of the peel. */
import { checked, defineFunction, type PlainValue, primary, text } from "../../core/module.ts";

const TAG = /^[A-Za-z0-9_-]+([./][A-Za-z0-9_-]+)*$/;

export default defineFunction({
  name: "event.send",
  summary: "Sends an event in the name of the peel; every further parameter is its data.",
  params: {
    tag: primary(
      checked(
        text("Tag of the event, such as `deploy/done`."),
        (tag) => TAG.test(tag) ? null : "words separated by dots or slashes are wanted",
      ),
    ),
  },
  isOpen: true,
  isReadOnly: false,
  permissions: () => ({ peel: ["event"] }),
  async run({ tag, ...data }, host) {
    await host.sendEvent(tag, data as Readonly<Record<string, PlainValue>>);
    return `sent ${tag}`;
  },
  examples: [{ title: "With data", code: "zester web-01 event.send deploy/done version=1.2" }],
});
