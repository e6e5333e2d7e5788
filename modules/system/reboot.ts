/** `system.reboot`: restarts the host, after its answer has gone out. */
import { checked, defaulted, defineFunction, integer, primary } from "../../core/module.ts";

const DELAY_MINUTES_MAX = 1_440;

export default defineFunction({
  name: "system.reboot",
  summary: "Restarts the host after a delay in minutes; the answer goes out before.",
  params: {
    delay: defaulted(
      primary(
        checked(
          integer("Minutes until it restarts."),
          (minutes) =>
            minutes >= 1 && minutes <= DELAY_MINUTES_MAX
              ? null
              : `1 to ${DELAY_MINUTES_MAX} minutes are wanted`,
        ),
      ),
      1,
    ),
  },
  isReadOnly: false,
  permissions: ({ delay }) => ({ run: [["shutdown", "-r", `+${delay}`]] }),
  async run({ delay }, host) {
    const { code, stderr } = await host.run(["shutdown", "-r", `+${delay}`]);
    if (code !== 0) throw new Error(`shutdown: ${stderr.trim()}`);
    return `restarts in ${delay} min; "shutdown -c" on the host calls it off`;
  },
  examples: [{ title: "One after the other", code: "zester 'web*' system.reboot --batch 1" }],
});
