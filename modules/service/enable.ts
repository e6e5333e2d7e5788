/** `service.enable`: has a service start at boot. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.enable",
  summary: "Has a service start at boot.",
  params: { name: serviceName() },
  isReadOnly: false,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["enable"]),
  async run({ name }, host) {
    await (await managerOn(host)).tell(host, "enable", name);
    return `enabled ${name}`;
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.enable nginx" }],
});
