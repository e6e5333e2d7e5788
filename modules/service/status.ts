/** `service.status`: whether a service runs. */
import { defineFunction } from "../../core/module.ts";
import { managerOn, serviceGrant, serviceName } from "./_manager.ts";

export default defineFunction({
  name: "service.status",
  summary: "Answers whether a service is running or stopped.",
  params: { name: serviceName() },
  isReadOnly: true,
  permissions: ({ name }, facts) => serviceGrant(facts, name, ["running"]),
  async run({ name }, host) {
    return await (await managerOn(host)).isRunning(host, name) ? "running" : "stopped";
  },
  examples: [{ title: "On the command line", code: "zester 'web*' service.status nginx" }],
  differences: ["The answer is a word, not a flag."],
});
