/** `service.reload`: has a service read its configuration again; the plain supervisor cannot. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.reload",
  summary: "Has a service read its configuration again; the plain supervisor cannot.",
  params: { name: serviceName() },
  isReadOnly: false,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["reload"]),
  async run({ name }, host) {
    await (await managerOn(host)).tell(host, "reload", name);
    return `reloaded ${name}`;
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.reload nginx" }],
});
