/** Who should be in a group, given who is. Pure. */

export interface Members {
  /** Exactly these. */
  readonly members?: readonly string[] | undefined;
  readonly addusers?: readonly string[] | undefined;
  readonly delusers?: readonly string[] | undefined;
}

/** The members wanted in the end; those who stay keep their order. */
export function membersOf(
  { members, addusers = [], delusers = [] }: Members,
  seen: readonly string[],
): string[] {
  const stay = members === undefined ? seen : seen.filter((name) => members.includes(name));
  const wanted = new Set([...stay, ...(members ?? []), ...addusers]);
  return [...wanted].filter((name) => !delusers.includes(name));
}

/** What differs, in words. */
export function memberDrift(want: Members, seen: readonly string[]): string[] {
  const wanted = membersOf(want, seen);
  const missing = wanted.filter((name) => !seen.includes(name));
  const unwanted = seen.filter((name) => !wanted.includes(name));
  if (missing.length + unwanted.length === 0) return [];
  if (want.members !== undefined) return [`members ${shown(seen)} != ${shown(wanted)}`];
  return [
    ...missing.map((name) => `missing member ${name}`),
    ...unwanted.map((name) => `unwanted member ${name}`),
  ];
}

function shown(names: readonly string[]): string {
  return [...names].sort().join(",") || "none";
}
