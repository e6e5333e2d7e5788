/** The version of every program here; they are released together. */

/** Version of this release, in semver form. */
export const VERSION = "0.1.0";
