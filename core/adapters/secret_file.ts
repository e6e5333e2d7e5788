/** Reads small files that programs are configured with: keys, passwords, the trust document. */
import { ZesterError } from "../errors.ts";
import { TRUST_BYTES_MAX } from "../limits.ts";
import { systemFiles } from "./system_files.ts";

/** The trimmed text of a small file that must be there. */
export async function readTextFile(path: string): Promise<string> {
  const bytes = await systemFiles.read(path, TRUST_BYTES_MAX);
  if (bytes === null) {
    throw new ZesterError("config_invalid", `${path}: no such file`, {
      fix: "check the folder in the configuration; `deno task up` makes a fleet with all its files",
    });
  }
  return new TextDecoder().decode(bytes).trim();
}
