/** `status.mem`: how much memory there is and how much of it is free. */
import { defineFunction } from "../../core/module.ts";
import { readMemory, readProc } from "./_proc.ts";

export default defineFunction({
  name: "status.mem",
  summary: "Answers with total, available and used memory and swap, in bytes.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ read: ["/proc/meminfo"] }),
  run: async (_p, host) => readMemory(await readProc(host, "/proc/meminfo")),
  examples: [{ title: "On the whole fleet", code: "zester '*' status.mem" }],
});
