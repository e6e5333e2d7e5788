/** What arguments a job may carry: they travel in every request and in the record, so they are small. */
import { ZesterError } from "./errors.ts";
import { JOB_ARGS_BYTES_MAX } from "./limits.ts";
import { encode } from "./msgpack.ts";

const BYTES_PER_KIB = 1_024;

/** Throws `bad_params` when the arguments are larger than the limit, which it names. */
export function checkArgs(name: string, args: Readonly<Record<string, unknown>>): void {
  const bytes = encodedBytes(args);
  if (bytes !== null && bytes <= JOB_ARGS_BYTES_MAX) return;
  const found = bytes === null ? "more than a message can hold" : `${inKib(bytes)} KiB`;
  throw new ZesterError(
    "bad_params",
    `${name}: the arguments are ${found}, at most ${inKib(JOB_ARGS_BYTES_MAX)} KiB are allowed`,
    { fix: "put large content into a file of the state tree, and name the file" },
  );
}

function encodedBytes(args: Readonly<Record<string, unknown>>): number | null {
  try {
    return encode(args, "arguments").length;
  } catch (thrown) {
    if (thrown instanceof ZesterError && thrown.code === "payload_too_large") return null;
    throw thrown;
  }
}

function inKib(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_KIB);
}
