/** `status.uptime`: since when the host is up. */
import { defineFunction } from "../../core/module.ts";
import { readProc } from "./_proc.ts";

export default defineFunction({
  name: "status.uptime",
  summary: "Answers with the seconds since the host was started.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ read: ["/proc/uptime"] }),
  async run(_p, host) {
    return { seconds: Math.floor(Number((await readProc(host, "/proc/uptime")).split(" ", 1)[0])) };
  },
  examples: [{ title: "On the whole fleet", code: "zester '*' status.uptime" }],
});
