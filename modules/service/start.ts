/** `service.start`: starts a service. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.start",
  summary: "Starts a service.",
  params: { name: serviceName() },
  isReadOnly: false,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["start"]),
  async run({ name }, host) {
    await (await managerOn(host)).tell(host, "start", name);
    return `started ${name}`;
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.start nginx" }],
});
