/** `service.restart`: restarts a service, or starts it if it does not run. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.restart",
  summary: "Restarts a service, or starts it if it does not run.",
  params: { name: serviceName() },
  isReadOnly: false,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["restart"]),
  async run({ name }, host) {
    await (await managerOn(host)).tell(host, "restart", name);
    return `restarted ${name}`;
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.restart nginx" }],
});
