/** `net.listening`: which ports of the host are open, and by whom. */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import { defineFunction } from "../../core/module.ts";
import { parseListening } from "./_ip.ts";

export default defineFunction({
  name: "net.listening",
  summary:
    "Answers with the TCP and UDP ports on which the host listens, and the program behind each.",
  params: {},
  isReadOnly: true,
  permissions: () => ({ probe: [["ss", "-H", "-tulpn"]] }),
  async run(_p, host) {
    const { code, stdout, stderr } = await host.run(["ss", "-H", "-tulpn"], {
      outputBytesMax: LIST_OUTPUT_BYTES_MAX,
    });
    if (code !== 0) throw new Error(`ss: ${stderr.trim()}`);
    return parseListening(stdout);
  },
  examples: [{ title: "Who listens", code: "zester '*' net.listening" }],
});
