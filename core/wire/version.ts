/** The version of the messages in this folder. */

/** Written as `v` into every message. Keys are only ever added, so it rises only if that rule has to be broken. */
export const PROTOCOL_VERSION = 1;

/** The oldest version that is taken from others. A message that names none is older than any. */
const OLDEST_SPOKEN = 1;

/**
 * Why a message that came in is not taken for its version, or null. Not for data at rest, where a missing version is harmless; what
 * has an effect must not be talked into the rules of an older version.
 */
export function versionProblem({ v = 0 }: { v?: number | undefined }): string | null {
  if (v >= OLDEST_SPOKEN) return null;
  return `it speaks version ${v} of the protocol, and the oldest that is taken is ${OLDEST_SPOKEN}`;
}
