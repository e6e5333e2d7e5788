/** Subjects of `git.*`, `archive.*`, `pkgrepo.*` and `pip.*`: repositories and archives of our own. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ModuleFixture } from "../module_fixture.ts";

async function ran(cwd: string, program: string, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(program, { args, cwd }).output();
  if (code !== 0) throw new Error(`${program} ${args[0]}: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout).trim();
}

async function lacks(program: string): Promise<string | null> {
  const { code } = await new Deno.Command("sh", {
    args: ["-c", `command -v ${program}`],
    stdout: "null",
  }).output();
  return code === 0 ? null : `${program} is not installed here`;
}

const AUTHOR = ["-c", "user.name=t", "-c", "user.email=t@example.org"];

/** A repository with two commits and a tag on the first, outside of the folder that is compared. */
async function repository(): Promise<string> {
  const path = await Deno.makeTempDir({ prefix: "zester-origin-" });
  await ran(path, "git", "init", "-q", "-b", "main");
  for (const text of ["one", "two"]) {
    await Deno.writeTextFile(join(path, "file"), text);
    await ran(path, "git", "add", "file");
    await ran(path, "git", ...AUTHOR, "commit", "-q", "-m", text);
    if (text === "one") await ran(path, "git", "tag", "v1");
  }
  return path;
}

const gone = (path: string) => () => Deno.remove(path, { recursive: true });

export const FIXTURES: readonly ModuleFixture[] = [
  {
    module: "git.cloned",
    title: "a repository that is not there, at a tag",
    skip: () => lacks("git"),
    unused: [/remote set-url/, /^write .*\/\*\*$/, /^run .* rev-parse HEAD$/],
    async prepare(folder) {
      const url = await repository();
      const copy = join(folder, "copy");
      return {
        given: { id: copy, args: { url, rev: "v1" } },
        verify: async () => assert.equal(await Deno.readTextFile(join(copy, "file")), "one"),
        cleanUp: gone(url),
      };
    },
  },
  {
    module: "git.latest",
    title: "a repository that is not there",
    skip: () => lacks("git"),
    unused: [/remote set-url/, / (fetch|merge|reset|checkout) /, /^write .*\/\*\*$/],
    async prepare(folder) {
      const url = await repository();
      const target = join(folder, "copy");
      return {
        given: { id: url, args: { target } },
        verify: async () => assert.equal(await Deno.readTextFile(join(target, "file")), "two"),
        cleanUp: gone(url),
      };
    },
  },
  {
    module: "git.latest",
    title: "a working copy that is behind",
    skip: () => lacks("git"),
    cannotRevert: true, // git keeps what it fetched: the files are restored, its own folder is not
    unused: [/ (clone|reset) /, /^write/],
    async prepare(folder) {
      const url = await repository();
      const target = join(folder, "copy");
      await ran(folder, "git", "clone", "-q", url, target);
      await ran(target, "git", "reset", "-q", "--hard", "v1");
      return {
        given: { id: url, args: { target, branch: "main" } },
        verify: async () => assert.equal(await Deno.readTextFile(join(target, "file")), "two"),
        cleanUp: gone(url),
      };
    },
  },
  {
    module: "archive.extracted",
    title: "an archive with a digest into a new folder",
    skip: () => lacks("tar"),
    async prepare(folder) {
      await Deno.writeTextFile(join(folder, "inside"), "text");
      await ran(folder, "tar", "-czf", "a.tgz", "inside");
      const source = join(folder, "a.tgz");
      const digest = createHash("sha256").update(await Deno.readFile(source)).digest("hex");
      const target = join(folder, "to");
      return {
        given: { id: target, args: { source, source_hash: `sha256=${digest}`, makedirs: true } },
        verify: async () => assert.equal(await Deno.readTextFile(join(target, "inside")), "text"),
      };
    },
  },
  {
    module: "pkgrepo.managed",
    title: "a new source of apt",
    async prepare(folder) {
      const file = join(folder, "acme.list");
      return await Promise.resolve({
        given: {
          id: "acme",
          args: { baseurl: "deb https://deb.example.org x main", file, refresh: false },
        },
        verify: async () => assert.match(await Deno.readTextFile(file), /^deb https/m),
      });
    },
  },
  {
    module: "pip.installed",
    title: "a package of our own",
    skip: () => lacks("python3"),
    async prepare(folder) {
      const project = await Deno.makeTempDir({ prefix: "zester-pip-" });
      const bin = join(project, "pip");
      // A stand-in for pip that keeps its state in a file: the contract is about our side of it.
      await Deno.writeTextFile(bin, PIP.replaceAll("STATE", join(folder, "state")), {
        mode: 0o755,
      });
      return { given: { id: "thing", args: { bin } }, cleanUp: gone(project) };
    },
  },
];

const PIP = `#!/bin/sh
case "$1" in
  show) [ -f STATE ] && echo "Version: 1.0" || { echo "WARNING: Package(s) not found" >&2; exit 1; };;
  install) echo installed > STATE;;
  uninstall) rm -f STATE;;
esac
`;
