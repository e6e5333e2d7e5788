/** Subjects of `host.*` and `ssh_auth.*`: files of our own. */
import { join } from "node:path";
import type { ModuleFixture, Prepared } from "../module_fixture.ts";

const HOSTS = "127.0.0.1 localhost\n10.0.0.1 db\n";
const KEYS = "ssh-ed25519 AAAAC3Nza1 a@x\n";

async function withFile(
  folder: string,
  text: string,
  id: string,
  args: Record<string, string> = {},
): Promise<Prepared> {
  const config = join(folder, "file");
  await Deno.writeTextFile(config, text, { mode: 0o640 });
  return { given: { id, args: { ...args, config } } };
}

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "host.present",
    title: "a new name",
    prepare: (folder) => withFile(folder, HOSTS, "web", { ip: "10.0.0.2" }),
  },
  {
    module: "host.present",
    title: "a name that moves",
    prepare: (folder) => withFile(folder, HOSTS, "db", { ip: "::1" }),
  },
  {
    module: "host.absent",
    title: "a name that is there",
    prepare: (folder) => withFile(folder, HOSTS, "db"),
  },
  {
    module: "ssh_auth.present",
    title: "a new key",
    prepare: (folder) => withFile(folder, KEYS, "ssh-rsa AAAAB3Nzb2 b@x"),
  },
  {
    module: "ssh_auth.absent",
    title: "a key that is there",
    prepare: (folder) => withFile(folder, KEYS, "AAAAC3Nza1"),
  },
];
