/** `file.hash`: answers with the digest of a file. */
import { absolutePath, defaulted, defineFunction, oneOf, primary } from "../../core/module.ts";

const ALGORITHMS = ["sha256", "sha512", "sha384", "sha224", "sha1", "md5"] as const;

export default defineFunction({
  name: "file.hash",
  summary: "Answers with the digest of a file, in hexadecimal digits.",
  params: {
    name: primary(absolutePath("File to hash."), "path"),
    algorithm: defaulted(oneOf(ALGORITHMS, "Which digest."), "sha256"),
  },
  positional: ["algorithm"],
  isReadOnly: true,
  permissions: ({ name }) => ({ read: [name] }),
  async run({ name, algorithm }, host) {
    const digest = await host.hashFile(name, algorithm);
    if (digest === null) throw new Error(`${name} does not exist`);
    return digest;
  },
  examples: [{ title: "Is it the same everywhere", code: "zester '*' file.hash /etc/hosts" }],
  differences: ["It is called `file.get_hash` in Salt."],
});
