/** `disk.usage`: how full the file systems are. */
import { absolutePath, defineFunction, optional, primary } from "../../core/module.ts";

export default defineFunction({
  name: "disk.usage",
  summary:
    "Answers with the use of all file systems, or of the one that holds a path, as `df -P` tells it.",
  params: { path: optional(primary(absolutePath("A path on the file system."))) },
  isReadOnly: true,
  permissions: ({ path }) => ({
    probe: [path === undefined ? ["df", "-P"] : ["df", "-P", "--", path]],
  }),
  async run({ path }, host) {
    const { code, stdout, stderr } = await host.run(
      path === undefined ? ["df", "-P"] : ["df", "-P", "--", path],
    );
    // df fails when it may not look at one of many file systems; what it printed is still true.
    if (code !== 0 && (path !== undefined || stdout === "")) {
      throw new Error(`df: ${stderr.trim()}`);
    }
    return stdout.trimEnd();
  },
  examples: [{ title: "The root file system", code: "zester '*' disk.usage /" }],
});
