/** `pkg.version`: which version of a package is installed. */
import { defineFunction, primary } from "../../core/module.ts";
import { managerOf, packageName, versionsOf } from "./_provider.ts";

export default defineFunction({
  name: "pkg.version",
  summary: "Answers with the installed version of a package.",
  params: { name: primary(packageName("Package."), "package", "pkg") },
  isReadOnly: true,
  permissions: ({ name }, facts) => ({ probe: [managerOf(facts).versionsProgram([name])] }),
  async run({ name }, host) {
    const version = (await versionsOf(host, managerOf(host.facts), [name])).get(name);
    if (version === undefined) throw new Error(`${name} not installed`);
    return version;
  },
  examples: [{ title: "On the whole fleet", code: "zester '*' pkg.version openssl" }],
});
