/** The version of the messages in this folder. */

/** Written as `v` into every message. Keys are only ever added, so it rises only if that rule has to be broken. */
export const PROTOCOL_VERSION = 1;
