/** `service.disable`: has a service not start at boot. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.disable",
  summary: "Has a service not start at boot.",
  params: { name: serviceName() },
  isReadOnly: false,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["disable"]),
  async run({ name }, host) {
    await (await managerOn(host)).tell(host, "disable", name);
    return `disabled ${name}`;
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.disable nginx" }],
});
