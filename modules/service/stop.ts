/** `service.stop`: stops a service. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.stop",
  summary: "Stops a service.",
  params: { name: serviceName() },
  isReadOnly: false,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["stop"]),
  async run({ name }, host) {
    await (await managerOn(host)).tell(host, "stop", name);
    return `stopped ${name}`;
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.stop nginx" }],
});
