/** Reads small files that programs are configured with: keys, passwords, the trust document. */
import { toZesterError, ZesterError } from "../errors.ts";
import { TRUST_BYTES_MAX } from "../limits.ts";
import { systemFiles } from "./system_files.ts";

const FIX = "check the path in the configuration; `deno task up` makes a fleet with all its files";

/** The trimmed text of a small file that must be there. `what` says what it is for, such as `password`. */
export async function readTextFile(path: string, what = "file"): Promise<string> {
  const bytes = await systemFiles.read(path, TRUST_BYTES_MAX).catch((cause) => {
    const { message } = toZesterError(cause, `read "${path}"`);
    throw new ZesterError("config_invalid", `${what}: ${message}`, { cause, fix: FIX });
  });
  if (bytes === null) {
    throw new ZesterError("config_invalid", `${what} ${path}: no such file`, { fix: FIX });
  }
  const text = new TextDecoder().decode(bytes).trim();
  if (text !== "") return text;
  throw new ZesterError("config_invalid", `${what} ${path}: the file is empty`, { fix: FIX });
}

/** What such a file holds. An error of the reader gets the path, which it does not know. */
export async function readParsed<T>(
  path: string,
  what: string,
  parse: (text: string) => T,
): Promise<T> {
  const text = await readTextFile(path, what);
  try {
    return parse(text);
  } catch (cause) {
    const { code, message, fix } = toZesterError(cause, what);
    throw new ZesterError(code, `${what} ${path}: ${message}`, {
      cause,
      ...(fix === undefined ? {} : { fix }),
    });
  }
}
