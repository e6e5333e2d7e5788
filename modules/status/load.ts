/** `status.load`: how busy the host is. */
import { defineFunction } from "../../core/module.ts";
import { readProc } from "./_proc.ts";

export default defineFunction({
  name: "status.load",
  summary: "Answers with the load averages of 1, 5 and 15 minutes.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ read: ["/proc/loadavg"] }),
  async run(_p, host) {
    const [one, five, fifteen] = (await readProc(host, "/proc/loadavg")).split(" ");
    return { "1m": Number(one), "5m": Number(five), "15m": Number(fifteen) };
  },
  examples: [{ title: "On the whole fleet", code: "zester '*' status.load" }],
});
