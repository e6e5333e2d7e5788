/** `ps.kill`: sends a signal to one process. */
import { checked, defaulted, defineFunction, integer, oneOf, primary } from "../../core/module.ts";

const SIGNALS = [
  "term",
  "kill",
  "hup",
  "int",
  "quit",
  "usr1",
  "usr2",
  "stop",
  "cont",
] as const;

export default defineFunction({
  name: "ps.kill",
  summary: "Sends a signal to one process.",
  params: {
    pid: primary(
      checked(integer("The process."), (pid) => pid > 1 ? null : "a number above 1 is wanted"),
    ),
    signal: defaulted(oneOf(SIGNALS, "Which signal."), "term"),
  },
  isReadOnly: false,
  permissions: ({ pid }) => ({ signal: [String(pid)] }),
  async run({ pid, signal }, host) {
    const name = `SIG${signal.toUpperCase()}`;
    await host.signal(pid, name);
    return `sent ${name} to ${pid}`;
  },
  examples: [{ title: "Reload a daemon", code: "zester web-01 ps.kill 1234 signal=hup" }],
});
