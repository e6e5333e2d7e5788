/** `net.ping`: whether the host can reach another one. */
import { checked, defaulted, defineFunction, integer, line, primary } from "../../core/module.ts";

const HOST = /^[A-Za-z0-9][A-Za-z0-9.:-]*$/;
const COUNT_MAX = 100;

export default defineFunction({
  name: "net.ping",
  summary: "Sends echo requests from the peel to another host and answers with what came back.",
  params: {
    host: primary(
      checked(
        line("Name or address."),
        (host) => HOST.test(host) ? null : "a host name or an address is wanted",
      ),
    ),
    count: defaulted(
      checked(
        integer("How many."),
        (count) => count > 0 && count <= COUNT_MAX ? null : `1 to ${COUNT_MAX} is wanted`,
      ),
      3,
    ),
  },
  isReadOnly: true,
  permissions: ({ host, count }) => ({ probe: [["ping", "-n", "-c", String(count), "--", host]] }),
  async run(p, host) {
    const { code, stdout, stderr } = await host.run([
      "ping",
      "-n",
      "-c",
      String(p.count),
      "--",
      p.host,
    ]);
    if (code > 1) throw new Error(`ping: ${stderr.trim() || stdout.trim()}`);
    return { reachable: code === 0, output: stdout.trimEnd() };
  },
  examples: [{
    title: "Can the web servers reach the database",
    code: "zester 'web*' net.ping db-01",
  }],
});
