/** What the subjects of users and groups share: the tools of the host and its files. */

/** Why users cannot be made here; null when they can. */
export async function needsAccountTools(): Promise<string | null> {
  if (Deno.uid() !== 0) return "only root can make users and groups";
  for (const tool of ["/usr/sbin/useradd", "/usr/sbin/groupadd", "/usr/sbin/chpasswd"]) {
    if (!await isThere(tool)) return `there is no ${tool}`;
  }
  return null;
}

/** Whether something is at the path. */
export async function isThere(path: string): Promise<boolean> {
  try {
    await Deno.lstat(path);
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return false;
    throw thrown;
  }
}

/** Runs a tool that must succeed. */
export async function runTool(program: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args] }).output();
  if (code === 0) return new TextDecoder().decode(stdout);
  throw new Error(`${program}: ${new TextDecoder().decode(stderr)}`);
}

/** The row of a name in a file of accounts; null when there is none. */
export async function rowOf(path: string, name: string): Promise<string[] | null> {
  const rows = (await Deno.readTextFile(path)).split("\n").map((line) => line.split(":"));
  return rows.find(([own]) => own === name) ?? null;
}

/** The rows of these names in all files of accounts. Not when the password was last changed: nothing can put that back. */
export async function accountFiles(names: readonly string[]): Promise<unknown> {
  const rows: (string[] | null)[] = [];
  for (const path of ["/etc/passwd", "/etc/group", "/etc/gshadow"]) {
    for (const name of names) rows.push(await rowOf(path, name));
  }
  for (const name of names) rows.push((await rowOf("/etc/shadow", name))?.slice(0, 2) ?? null);
  return rows;
}
