/** `net.interfaces`: the network interfaces of the host. */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import { defineFunction } from "../../core/module.ts";
import { parseInterfaces } from "./_ip.ts";

export default defineFunction({
  name: "net.interfaces",
  summary: "Answers with the network interfaces of the host, their state and their addresses.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ probe: [["ip", "-json", "address", "show"]] }),
  async run(_p, host) {
    const { code, stdout, stderr } = await host.run(["ip", "-json", "address", "show"], {
      outputBytesMax: LIST_OUTPUT_BYTES_MAX,
    });
    if (code !== 0) throw new Error(`ip address show: ${stderr.trim()}`);
    return parseInterfaces(stdout);
  },
  examples: [{ title: "On one peel", code: "zester web-01 net.interfaces" }],
});
