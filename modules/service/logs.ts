/** `service.logs`: the last lines that a service has written. */
import { checked, defaulted, defineFunction, integer } from "../../core/module.ts";
import { managerGrant, managerOn, serviceName } from "./_manager.ts";

const LINES = 50;
const LINES_MAX = 10_000;

export default defineFunction({
  name: "service.logs",
  summary: "Answers with the last lines that a service has written.",
  params: {
    name: serviceName(),
    lines: defaulted(
      checked(
        integer("How many lines."),
        (lines) => lines >= 1 && lines <= LINES_MAX ? null : `1 to ${LINES_MAX} are wanted`,
      ),
      LINES,
    ),
  },
  positional: ["lines"],
  isReadOnly: true,
  permissions: ({ name, lines }, facts) =>
    managerGrant(facts, (manager) => manager.logsGrant(name, lines)),
  run: async ({ name, lines }, host) => await (await managerOn(host)).logs(host, name, lines),
  examples: [{ title: "The last twenty", code: "zester web-01 service.logs nginx 20" }],
});
