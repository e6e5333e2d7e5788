/** Subjects of `file.*`: files in the folder of the fixture. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Given } from "../../fakes/module_lab.ts";
import type { ModuleFixture, Prepared } from "../module_fixture.ts";

/** What lies in the folder before: text, or a mode and a text, a link, a folder. */
type Before =
  | string
  | { readonly text: string; readonly mode: number }
  | { readonly link: string }
  | { readonly folder: number };

interface Subject {
  readonly title: string;
  readonly before?: Readonly<Record<string, Before>>;
  /** Path below the folder. */
  readonly at: string;
  readonly args?: (folder: string) => Given["args"];
  /** What each file must hold afterwards; null when it must be gone. */
  readonly after?: Readonly<Record<string, string | null>>;
  readonly verify?: (folder: string) => Promise<void>;
  readonly cannotRevert?: boolean;
  /** It gives files to others. */
  readonly needsRoot?: boolean;
  /** Only a missing file gives a reason to look at its parent. */
  readonly unused?: ModuleFixture["unused"];
}

const PARENT = /^read \/.*zester-module-\w+$/;
const BELOW = /^write .*\/\*\*$/;

function fixture(module: string, subject: Subject): ModuleFixture {
  const { title, cannotRevert = false, unused = [], needsRoot = false } = subject;
  const isMissing = needsRoot && Deno.uid() !== 0;
  return {
    module,
    title,
    cannotRevert,
    unused,
    skip: () => Promise.resolve(isMissing ? "only root may give files to others" : null),
    prepare: (folder) => prepare(folder, subject),
  };
}

async function prepare(
  folder: string,
  { before = {}, at, args, after = {}, verify }: Subject,
): Promise<Prepared> {
  for (const [name, what] of Object.entries(before)) await put(join(folder, name), what);
  return {
    given: { id: join(folder, at), args: args?.(folder) ?? {} },
    async verify() {
      for (const [name, text] of Object.entries(after)) {
        assert.equal(await textAt(join(folder, name)), text, name);
      }
      await verify?.(folder);
    },
  };
}

async function put(path: string, what: Before): Promise<void> {
  if (typeof what === "string") return await Deno.writeTextFile(path, what);
  if ("link" in what) return await Deno.symlink(what.link, path);
  if ("folder" in what) {
    await Deno.mkdir(path);
    return await Deno.chmod(path, what.folder);
  }
  await Deno.writeTextFile(path, what.text);
  await Deno.chmod(path, what.mode);
}

async function textAt(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (thrown) {
    if (thrown instanceof Deno.errors.NotFound) return null;
    throw thrown;
  }
}

async function assertMode(path: string, mode: number): Promise<void> {
  assert.equal((await Deno.lstat(path)).mode! & 0o7777, mode);
}

const SUBJECTS: Readonly<Record<string, readonly Subject[]>> = {
  "file.managed": [
    {
      title: "a new file",
      at: "motd",
      args: () => ({ content: "hello\n", mode: "0640" }),
      after: { motd: "hello\n" },
      verify: (folder) => assertMode(join(folder, "motd"), 0o640),
    },
    {
      title: "other content, with mode kept",
      before: { motd: { text: "old\n", mode: 0o4750 } },
      at: "motd",
      args: () => ({ contents: "new\n" }),
      after: { motd: "new\n" },
      verify: (folder) => assertMode(join(folder, "motd"), 0o4750),
    },
    {
      title: "another mode and owner only",
      needsRoot: true,
      before: { motd: "text" },
      at: "motd",
      args: () => ({ mode: "0600", user: "daemon", group: "1" }),
      after: { motd: "text" },
      async verify(folder) {
        const { uid, gid } = await Deno.stat(join(folder, "motd"));
        assert.deepEqual([uid, gid], [1, 1]);
      },
    },
    {
      title: "from a file of the host",
      before: { source: "from the host\n", motd: "old" },
      at: "motd",
      args: (folder) => ({ source: join(folder, "source") }),
      after: { motd: "from the host\n" },
    },
    {
      title: "through a link that is to be followed",
      before: { real: "old", motd: { link: "real" } },
      at: "motd",
      args: () => ({ content: "new", mode: "0600", follow: true }),
      after: { real: "new" },
    },
    {
      title: "folders above that are made",
      at: "a/b/motd",
      args: () => ({ content: "x", makedirs: true }),
      after: { "a/b/motd": "x" },
      cannotRevert: true,
    },
    {
      title: "empty, with nothing said of its content",
      at: "motd",
      after: { motd: "" },
    },
  ],
  "file.directory": [
    {
      title: "a new folder",
      needsRoot: true,
      at: "d",
      args: () => ({ dir_mode: "2750", user: "daemon" }),
      verify: (folder) => assertMode(join(folder, "d"), 0o2750),
    },
    {
      title: "another mode of a folder with something in it",
      before: { d: { folder: 0o700 }, "d/x": "x" },
      at: "d",
      args: () => ({ mode: "0755", dir_mode: "0777" }),
      verify: (folder) => assertMode(join(folder, "d"), 0o755),
    },
    {
      title: "folders above that are made",
      at: "a/b/c",
      args: () => ({ makedirs: true, mode: "0700" }),
      verify: (folder) => assertMode(join(folder, "a/b"), 0o755),
      cannotRevert: true,
    },
  ],
  "file.absent": [
    {
      title: "a file",
      before: { x: { text: "x", mode: 0o600 } },
      at: "x",
      after: { x: null },
    },
    {
      title: "a link, not what it leads to",
      before: { real: "x", x: { link: "real" } },
      at: "x",
      after: { x: null, real: "x" },
    },
    {
      title: "a folder with a link out of it",
      before: {
        real: "x",
        d: { folder: 0o755 },
        "d/e": { folder: 0o755 },
        "d/l": { link: "../real" },
      },
      at: "d",
      after: { d: null, real: "x" },
      cannotRevert: true,
    },
  ],
  "file.append": [
    {
      title: "lines at the end of a file",
      before: { f: { text: "one\ntwo", mode: 0o600 } },
      at: "f",
      args: () => ({ text: ["two", "three", "four"] }),
      after: { f: "one\ntwo\nthree\nfour\n" },
      verify: (folder) => assertMode(join(folder, "f"), 0o600),
      unused: [PARENT],
    },
    {
      title: "a new file",
      at: "f",
      args: () => ({ text: "one" }),
      after: { f: "one\n" },
    },
    {
      title: "through a link that is to be followed",
      before: { real: "one\n", f: { link: "real" } },
      at: "f",
      args: () => ({ text: "two", follow: true }),
      after: { real: "one\ntwo\n" },
      unused: [PARENT],
    },
    {
      title: "folders above that are made",
      at: "a/f",
      args: () => ({ text: "one", makedirs: true }),
      after: { "a/f": "one\n" },
      cannotRevert: true,
    },
  ],
  "file.symlink": [
    { title: "a new link", at: "l", args: () => ({ target: "somewhere" }) },
    {
      title: "another link in its place",
      before: { l: { link: "old" } },
      at: "l",
      args: () => ({ target: "/new", force: true }),
      verify: async (folder) => assert.equal(await Deno.readLink(join(folder, "l")), "/new"),
      unused: [BELOW],
    },
    {
      title: "a file in its place",
      before: { l: { text: "precious", mode: 0o640 } },
      at: "l",
      args: () => ({ target: "new", force: true }),
    },
    {
      title: "a folder in its place",
      before: { l: { folder: 0o755 }, "l/x": "x" },
      at: "l",
      args: () => ({ target: "new", force: true }),
      cannotRevert: true,
    },
  ],
  "file.recurse": [
    {
      title: "a new folder",
      before: {
        s: { folder: 0o755 },
        "s/a": { text: "a", mode: 0o777 },
        "s/sub": { folder: 0o700 },
        "s/sub/b": "b",
        "s/sub/empty": { folder: 0o755 },
      },
      at: "d",
      args: (folder) => ({ source: join(folder, "s"), file_mode: "0640" }),
      after: { "d/a": "a", "d/sub/b": "b" },
      async verify(folder) {
        await assertMode(join(folder, "d/a"), 0o640);
        await assertMode(join(folder, "d/sub"), 0o755);
        assert.ok((await Deno.stat(join(folder, "d/sub/empty"))).isDirectory);
      },
    },
    {
      title: "a folder that differs and is cleaned",
      needsRoot: true,
      before: {
        s: { folder: 0o755 },
        "s/a": "new",
        "s/b": "same",
        "s/skip.bak": "x",
        d: { folder: 0o755 },
        "d/a": { text: "old", mode: 0o600 },
        "d/b": { text: "same", mode: 0o644 },
        "d/extra": "gone",
        "d/keep.bak": "stays",
        "d/link": { link: "a" },
      },
      at: "d",
      args: (folder) => ({
        source: `${join(folder, "s")}/`,
        clean: true,
        dir_mode: "0750",
        group: "daemon",
        exclude_pat: "*.bak",
      }),
      after: { "d/a": "new", "d/extra": null, "d/keep.bak": "stays", "d/skip.bak": null },
      verify: (folder) => assertMode(join(folder, "d"), 0o750),
    },
  ],
  "file.blockreplace": [
    {
      title: "another content",
      before: { f: { text: "a\n# START managed zone\nold\n# END managed zone\nz\n", mode: 0o640 } },
      at: "f",
      args: () => ({ content: "new" }),
      after: { f: "a\n# START managed zone\nnew\n# END managed zone\nz\n" },
      verify: (folder) => assertMode(join(folder, "f"), 0o640),
      unused: [PARENT],
    },
    {
      title: "a new file",
      at: "f",
      args: () => ({
        content: "x\n",
        append_if_not_found: true,
        marker_start: "<",
        marker_end: ">",
      }),
      after: { f: "<\nx\n>\n" },
    },
  ],
  "file.line": [
    {
      title: "another line in its place",
      before: { f: { text: "a\n#Port 22\nz\n", mode: 0o600 } },
      at: "f",
      args: () => ({ content: "Port 2222", match: "^#?Port " }),
      after: { f: "a\nPort 2222\nz\n" },
      verify: (folder) => assertMode(join(folder, "f"), 0o600),
      unused: [PARENT],
    },
    {
      title: "a new file",
      at: "f",
      args: () => ({ content: "a", mode: "insert" }),
      after: { f: "a\n" },
    },
    {
      title: "lines to delete",
      before: { f: "a\nb\na\n" },
      at: "f",
      args: () => ({ content: "a", mode: "absent" }),
      after: { f: "b\n" },
      unused: [PARENT],
    },
  ],
  "file.replace": [
    {
      title: "what matches",
      before: { f: { text: "k=1\nk=2\n", mode: 0o600 } },
      at: "f",
      args: () => ({ pattern: "^(k)=.*$", repl: "$1: x" }),
      after: { f: "k: x\nk: x\n" },
      verify: (folder) => assertMode(join(folder, "f"), 0o600),
      unused: [PARENT],
    },
    {
      title: "a new file",
      at: "f",
      args: () => ({ pattern: "^k=.*$", repl: "k=1", append_if_not_found: true }),
      after: { f: "k=1\n" },
    },
  ],
  "file.comment": [{
    title: "lines that match",
    before: { f: { text: "a\n  b\n#a\n", mode: 0o600 } },
    at: "f",
    args: () => ({ regex: "a|b" }),
    after: { f: "#a\n#  b\n#a\n" },
    verify: (folder) => assertMode(join(folder, "f"), 0o600),
  }],
  "file.uncomment": [{
    title: "lines that match",
    before: { f: "#a\n  #b\nb\n# c\n" },
    at: "f",
    args: () => ({ regex: "^(a|b)$" }),
    after: { f: "a\n  b\nb\n# c\n" },
  }],
  "file.keyvalue": [
    {
      title: "values of a file",
      before: { f: { text: "  a = 1\nb=2\n", mode: 0o600 } },
      at: "f",
      args: () => ({ key_values: { a: "5" }, entries: { b: 2 }, key: "c", value: "7" }),
      after: { f: "  a=5\nb=2\nc=7\n" },
      verify: (folder) => assertMode(join(folder, "f"), 0o600),
      unused: [PARENT],
    },
    { title: "a new file", at: "f", args: () => ({ key: "a", value: 1 }), after: { f: "a=1\n" } },
  ],
  "file.copy": [
    {
      title: "a new file",
      before: { s: { text: "x", mode: 0o750 } },
      at: "f",
      args: (folder) => ({ source: join(folder, "s") }),
      after: { f: "x" },
      verify: (folder) => assertMode(join(folder, "f"), 0o644),
    },
    {
      title: "another content and mode",
      before: { s: { text: "x", mode: 0o4750 }, f: { text: "old", mode: 0o600 } },
      at: "f",
      args: (folder) => ({ source: join(folder, "s"), force: true, preserve: true }),
      after: { f: "x" },
      verify: (folder) => assertMode(join(folder, "f"), 0o4750),
    },
    {
      title: "folders above that are made",
      before: { s: "x" },
      at: "a/f",
      args: (folder) => ({ source: join(folder, "s"), makedirs: true }),
      after: { "a/f": "x" },
      cannotRevert: true,
    },
  ],
  "file.touch": [
    { title: "a new file", at: "f", after: { f: "" } },
    {
      title: "folders above that are made",
      at: "a/f",
      args: () => ({ makedirs: true }),
      after: { "a/f": "" },
      cannotRevert: true,
    },
  ],
};

export const FIXTURES: readonly ModuleFixture[] = Object.entries(SUBJECTS).flatMap((
  [module, subjects],
) => subjects.map((subject) => fixture(module, subject)));
