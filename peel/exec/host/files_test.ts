import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { isZesterError } from "../../../core/errors.ts";
import { HOST_CHUNK_BYTES, HOST_READ_BYTES_MAX } from "../../../core/limits.ts";
import { attributesFor, type FileCalls, fileCalls, isMaybeForeign } from "./files.ts";
import { folderByPath, openRoot } from "./walk.ts";

const SOMEBODY = 12_345;
const never = new AbortController().signal;
const isRoot = Deno.uid() === 0;
if (!isRoot) console.log("files_test: not root, so tests about owners are skipped");

/** Both ways of walking: with handles to folders, and with plain paths as on systems without. */
const WAYS: [name: string, files: FileCalls][] = [
  ["by handle", fileCalls(never, { root: openRoot })],
  ["by path", fileCalls(never, { root: () => folderByPath("") })],
];
const files = WAYS[0]![1];

/** A test in a folder of its own, which nobody else can write to. */
function inFolder(
  name: string,
  test: (folder: string, files: FileCalls) => Promise<void>,
  { needsRoot = false, onlyHandles = false } = {},
): void {
  for (const [way, calls] of onlyHandles ? WAYS.slice(0, 1) : WAYS) {
    Deno.test({
      name: `fileCalls() ${way}: ${name}`,
      ignore: needsRoot && !isRoot,
      async fn() {
        const folder = await Deno.makeTempDir();
        try {
          await test(await Deno.realPath(folder), calls);
        } finally {
          await Deno.remove(folder, { recursive: true });
        }
      },
    });
  }
}

async function refused(pending: Promise<unknown>, code: string, message?: RegExp): Promise<void> {
  await assert.rejects(pending, (thrown) => {
    assert.ok(isZesterError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    if (message !== undefined) assert.match(thrown.message, message);
    return true;
  });
}

function modeOf(path: string): number {
  return Deno.lstatSync(path).mode! & 0o7777;
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

/** What a handle of this process leads to. */
function targetOf(handle: string): string {
  try {
    return Deno.readLinkSync(`/proc/self/fd/${handle}`);
  } catch {
    return ""; // Closed meanwhile.
  }
}

async function mkfifo(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  assert.ok(success);
}

// ---- looking and reading -------------------------------------------------------------------------------------

inFolder(
  "stat tells kinds, modes and link targets, and null for nothing",
  async (folder, files) => {
    await Deno.writeTextFile(`${folder}/file`, "four");
    await Deno.chmod(`${folder}/file`, 0o4751);
    await Deno.symlink("no/where", `${folder}/link`);
    await mkfifo(`${folder}/pipe`);
    const file = await files.stat(`${folder}/file`);
    assert.deepEqual([file?.kind, file?.mode, file?.size, file?.uid], [
      "file",
      0o4751,
      4,
      Deno.uid(),
    ]);
    assert.equal(file?.modifiedMs, Deno.statSync(`${folder}/file`).mtime?.getTime());
    const link = await files.stat(`${folder}/link`);
    assert.deepEqual([link?.kind, link?.target], ["link", "no/where"]);
    assert.equal((await files.stat(`${folder}/pipe`))?.kind, "other");
    assert.equal((await files.stat(folder))?.kind, "folder");
    assert.equal((await files.stat("/"))?.kind, "folder");
    assert.equal(await files.stat(`${folder}/nothing`), null);
    assert.equal(await files.stat(`${folder}/nothing/below`), null);
    await refused(files.stat(`${folder}/file/below`), "io_failed", /ENOTDIR/);
  },
);

inFolder("readFile and hashFile give the content, null for nothing", async (folder, files) => {
  const content = new Uint8Array(HOST_CHUNK_BYTES + 17).fill(7);
  await Deno.writeFile(`${folder}/file`, content);
  assert.deepEqual(await files.readFile(`${folder}/file`), content);
  for (const algorithm of ["md5", "sha1", "sha256", "sha512"]) {
    const wanted = createHash(algorithm).update(content).digest("hex");
    assert.equal(await files.hashFile(`${folder}/file`, algorithm), wanted);
  }
  assert.equal(await files.readFile(`${folder}/nothing`), null);
  assert.equal(await files.hashFile(`${folder}/nothing`), null);
  await refused(files.hashFile(`${folder}/file`, "crc32"), "bad_params");
  await refused(files.readFile(folder), "io_failed", /not a regular file/);
});

inFolder("digest gives that of bytes, and refuses what are none", async (_folder, files) => {
  const content = new Uint8Array(HOST_CHUNK_BYTES + 17).fill(7);
  for (const algorithm of ["md5", "sha256"]) {
    const wanted = createHash(algorithm).update(content).digest("hex");
    assert.equal(await files.digest(content, algorithm), wanted);
  }
  await refused(files.digest(content, "crc32"), "bad_params");
  await refused(files.digest("text" as unknown as Uint8Array), "bad_params");
});

inFolder("readFile refuses a file above its cap, and a cap above ours", async (folder, files) => {
  await Deno.writeTextFile(`${folder}/file`, "12345");
  assert.equal((await files.readFile(`${folder}/file`, { bytesMax: 5 }))?.length, 5);
  await refused(files.readFile(`${folder}/file`, { bytesMax: 4 }), "io_failed", /larger than 4/);
  const tooMuch = { bytesMax: HOST_READ_BYTES_MAX + 1 };
  await refused(files.readFile(`${folder}/file`, tooMuch), "bad_params");
});

Deno.test({
  name: "readFile() reads files of /proc, which say that they are empty",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const text = new TextDecoder().decode(await files.readFile("/proc/self/status") ?? undefined);
    assert.match(text, /^Pid:\t\d+$/m);
  },
});

inFolder("a pipe or a device as a source is refused at once", async (folder, files) => {
  await mkfifo(`${folder}/pipe`);
  const began = performance.now();
  await refused(files.readFile(`${folder}/pipe`), "io_failed", /not a regular file/);
  await refused(files.hashFile(`${folder}/pipe`), "io_failed", /not a regular file/);
  await refused(files.copyFile(`${folder}/pipe`, `${folder}/to`), "io_failed", /not a regular/);
  await refused(files.readFile("/dev/zero"), "io_failed", /not a regular file/);
  await refused(files.replaceFile(`${folder}/pipe`, "x"), "io_failed", /not a regular file/);
  assert.ok(performance.now() - began < 1_000);
  assert.deepEqual(namesIn(folder), ["pipe"]);
});

inFolder("listFolder lists by name and kind, null for nothing", async (folder, files) => {
  await Deno.mkdir(`${folder}/b`);
  await Deno.writeTextFile(`${folder}/c`, "");
  await Deno.symlink("c", `${folder}/a`);
  assert.deepEqual(await files.listFolder(folder), [
    { name: "a", kind: "link" },
    { name: "b", kind: "folder" },
    { name: "c", kind: "file" },
  ]);
  assert.equal(await files.listFolder(`${folder}/nothing`), null);
  await refused(files.listFolder(`${folder}/c`), "io_failed", /ENOTDIR/);
});

// ---- replacing -----------------------------------------------------------------------------------------------

inFolder("replaceFile makes a file with 0644, or what it is told, whatever the umask", async (
  folder,
  files,
) => {
  await files.replaceFile(`${folder}/new`, "text");
  await files.replaceFile(`${folder}/secret`, new Uint8Array([1]), { mode: 0o400 });
  await files.replaceFile(`${folder}/open`, "", { mode: 0o666 });
  assert.equal(await Deno.readTextFile(`${folder}/new`), "text");
  assert.deepEqual(
    ["new", "secret", "open"].map((name) => modeOf(`${folder}/${name}`)),
    [0o644, 0o400, 0o666],
  );
  assert.deepEqual(namesIn(folder), ["new", "open", "secret"]);
});

inFolder("replaceFile keeps mode and owner of what was there", async (folder, files) => {
  const path = `${folder}/file`;
  await Deno.writeTextFile(path, "old");
  await Deno.chown(path, SOMEBODY, SOMEBODY + 1);
  await Deno.chmod(path, 0o2750);
  await files.replaceFile(path, "new");
  const { uid, gid } = Deno.lstatSync(path);
  assert.deepEqual([uid, gid, modeOf(path)], [SOMEBODY, SOMEBODY + 1, 0o2750]);
  await files.replaceFile(path, "newer", { uid: SOMEBODY + 2, mode: 0o4700 });
  assert.deepEqual([Deno.lstatSync(path).uid, modeOf(path)], [SOMEBODY + 2, 0o4700]);
}, { needsRoot: true });

const attributeCases: [
  name: string,
  old: Parameters<typeof attributesFor>[0],
  told: Parameters<typeof attributesFor>[1],
  want: ReturnType<typeof attributesFor>,
][] = [
  ["a new file is 0644", null, {}, { uid: undefined, gid: undefined, mode: 0o644 }],
  ["a new file is what it is told", null, { mode: 0o4600, uid: 1, gid: 2 }, {
    uid: 1,
    gid: 2,
    mode: 0o4600,
  }],
  ["all is kept", { mode: 0o104755, uid: 1, gid: 2 }, {}, { uid: 1, gid: 2, mode: 0o4755 }],
  ["the same owner keeps all", { mode: 0o104755, uid: 1, gid: 2 }, { uid: 1 }, {
    uid: 1,
    gid: 2,
    mode: 0o4755,
  }],
  ["a new owner does not get special bits", { mode: 0o106755, uid: 1, gid: 2 }, { uid: 0 }, {
    uid: 0,
    gid: 2,
    mode: 0o755,
  }],
  ["a new group does not either", { mode: 0o102755, uid: 1, gid: 2 }, { gid: 3 }, {
    uid: 1,
    gid: 3,
    mode: 0o755,
  }],
];
for (const [name, old, told, want] of attributeCases) {
  Deno.test(`attributesFor() ${name}`, () => assert.deepEqual(attributesFor(old, told), want));
}

inFolder("replaceFile leaves other names of the old file alone", async (folder, files) => {
  await Deno.writeTextFile(`${folder}/one`, "old");
  await Deno.link(`${folder}/one`, `${folder}/two`);
  await files.replaceFile(`${folder}/one`, "new");
  assert.equal(await Deno.readTextFile(`${folder}/two`), "old");
});

inFolder(
  "replaceFile shows its content to nobody else before it is done",
  async (folder, files) => {
    const content = new Uint8Array(24 * HOST_CHUNK_BYTES);
    let isDone = false;
    const writing = files.replaceFile(`${folder}/file`, content, { mode: 0o644 })
      .finally(() => isDone = true);
    const seen = new Set<number>();
    while (!isDone) {
      for (const name of namesIn(folder)) {
        const { size, mode } = Deno.lstatSync(`${folder}/${name}`);
        if (size < content.length) seen.add(mode! & 0o7777);
      }
      await new Promise((resolve) => setTimeout(resolve));
    }
    await writing;
    assert.deepEqual([...seen], [0o600]);
  },
  { onlyHandles: true },
);

inFolder("replaceFile asks the system for the right things in the right order", async (folder) => {
  const script = `
    import { fileCalls } from "${import.meta.resolve("./files.ts")}";
    const files = fileCalls(new AbortController().signal);
    await files.replaceFile("${folder}/file", "new", { mode: 0o640, gid: 5 });`;
  const calls = "trace=openat,fchown,fchmod,fsync,rename,renameat,renameat2";
  const args = ["-f", "-e", calls, "-o", `${folder}/trace`, Deno.execPath(), "eval", script];
  try {
    if (!(await new Deno.Command("strace", { args }).output()).success) {
      throw new Error("it failed");
    }
  } catch (thrown) {
    return console.log(`strace cannot be used here: ${thrown}`);
  }
  const trace = await Deno.readTextFile(`${folder}/trace`);
  const steps = [
    /"\/proc\/self\/fd\/\d+\/\.zester\.\w{32}", O_WRONLY\|O_CREAT\|O_EXCL\|O_NOFOLLOW\|O_CLOEXEC, 0600/,
    /fchown\(\d+, 0, 5\)/,
    /fchmod\(\d+, 0640\)/,
    /fsync\(/,
    /rename\w*\(.*\.zester\.\w{32}.*\/file"/,
    /fsync\(/,
  ];
  let rest = trace.slice(trace.indexOf(".zester.") - 200);
  for (const step of steps) {
    const found = step.exec(rest);
    assert.ok(found, `${step} in:\n${rest}`);
    rest = rest.slice(found.index + found[0].length);
  }
}, { needsRoot: true, onlyHandles: true });

inFolder("replaceFile that fails leaves nothing behind", async (folder, files) => {
  await Deno.mkdir(`${folder}/folder`);
  await refused(files.replaceFile(`${folder}/folder`, "x"), "io_failed", /not a regular file/);
  await refused(files.replaceFile(`${folder}/nothing/file`, "x"), "not_found", /ENOENT/);
  const ended = new AbortController();
  const calls = fileCalls(ended.signal);
  const writing = calls.replaceFile(`${folder}/file`, new Uint8Array(64 * HOST_CHUNK_BYTES));
  ended.abort();
  await refused(writing, "closed");
  await refused(calls.hashFile("/proc/self/status"), "closed");
  await refused(
    files.replaceFile(`${folder}/${"x".repeat(300)}`, "x"),
    "io_failed",
    /ENAMETOOLONG/,
  );
  assert.deepEqual(namesIn(folder), ["folder"]);
});

inFolder("replaceFile refuses what a worker must not pass", async (folder, files) => {
  const path = `${folder}/file`;
  for (const mode of [-1, 0o10000, 1.5, NaN, "644" as unknown as number]) {
    await refused(files.replaceFile(path, "x", { mode }), "bad_params");
  }
  await refused(files.replaceFile(path, "x", { uid: 2 ** 32 - 1 }), "bad_params");
  await refused(files.replaceFile(path, {} as unknown as string), "bad_params");
  for (const bad of ["relative", `${folder}/../x`, `${folder}//x`, `${folder}/a\0b`, ["/x"]]) {
    await refused(files.replaceFile(bad as string, "x"), "bad_params");
  }
  assert.deepEqual(namesIn(folder), []);
});

inFolder("copyFile copies content, not attributes", async (folder, files) => {
  const content = new Uint8Array(3 * HOST_CHUNK_BYTES + 5).fill(9);
  await Deno.writeFile(`${folder}/from`, content, { mode: 0o600 });
  await files.copyFile(`${folder}/from`, `${folder}/to`);
  assert.deepEqual(await Deno.readFile(`${folder}/to`), content);
  assert.equal(modeOf(`${folder}/to`), 0o644);
  await refused(files.copyFile(`${folder}/nothing`, `${folder}/to`), "not_found", /ENOENT/);
  assert.deepEqual(await Deno.readFile(`${folder}/to`), content);
});

// ---- links ---------------------------------------------------------------------------------------------------

inFolder("links that only we can have placed are followed on the way", async (folder, files) => {
  await Deno.mkdir(`${folder}/real/deep`, { recursive: true });
  await Deno.symlink("real", `${folder}/relative`);
  await Deno.symlink(`${folder}/real/`, `${folder}/absolute`);
  await Deno.symlink("../real/./deep/..", `${folder}/real/up`);
  for (const way of ["relative", "absolute", "real/up", "relative/deep"]) {
    await files.replaceFile(`${folder}/${way}/${way.length}`, way);
    assert.equal(await Deno.readTextFile(`${folder}/${way}/${way.length}`), way);
  }
  assert.deepEqual(namesIn(`${folder}/real`), ["7", "8", "deep", "up"]);
});

inFolder("a link at the end: each call has its rule", async (folder, files) => {
  const [real, link] = [`${folder}/real`, `${folder}/link`];
  await Deno.writeTextFile(real, "real");
  await Deno.chmod(real, 0o640);
  await Deno.symlink("real", link);
  assert.equal((await files.readFile(link))?.length, 4);
  await refused(files.replaceFile(link, "x"), "unsafe_path", /is a link/);
  await refused(files.setAttributes(link, { mode: 0o777 }), "unsafe_path", /is a link/);
  await refused(files.copyFile(real, link), "unsafe_path");
  assert.deepEqual([await Deno.readTextFile(real), modeOf(real)], ["real", 0o640]);
  await files.replaceFile(link, "new", { follow: true });
  assert.deepEqual([await Deno.readTextFile(real), modeOf(real)], ["new", 0o640]);
  assert.ok(Deno.lstatSync(link).isSymlink);
  await files.remove(link);
  assert.deepEqual(namesIn(folder), ["real"]);
});

inFolder("links that others can have placed are followed nowhere", async (folder, files) => {
  await Deno.mkdir(`${folder}/real`);
  await Deno.writeTextFile(`${folder}/real/canary`, "canary");
  await Deno.symlink("real", `${folder}/theirs`);
  await new Deno.Command("chown", { args: ["-h", String(SOMEBODY), `${folder}/theirs`] }).output();
  await Deno.mkdir(`${folder}/open`);
  await Deno.symlink("../real", `${folder}/open/link`);
  await Deno.symlink("../real/canary", `${folder}/open/file`);
  await Deno.chmod(`${folder}/open`, 0o777);
  for (const way of ["theirs", "open/link"]) {
    const path = `${folder}/${way}`;
    await refused(files.readFile(`${path}/canary`), "unsafe_path", /others than root/);
    await refused(files.stat(`${path}/canary`), "unsafe_path");
    await refused(files.hashFile(`${path}/canary`), "unsafe_path");
    await refused(files.listFolder(path), "unsafe_path");
    await refused(files.replaceFile(`${path}/canary`, "x"), "unsafe_path");
    await refused(files.makeFolder(`${path}/new`), "unsafe_path");
    await refused(files.makeFolder(`${path}/a/b`, { parents: true }), "unsafe_path");
    await refused(files.makeLink(`${path}/new`, "x"), "unsafe_path");
    await refused(files.remove(`${path}/canary`), "unsafe_path");
    await refused(files.remove(`${path}/canary`, { tree: true }), "unsafe_path");
    await refused(files.setAttributes(`${path}/canary`, { mode: 0o777 }), "unsafe_path");
  }
  await refused(files.readFile(`${folder}/open/file`), "unsafe_path");
  await refused(files.replaceFile(`${folder}/open/file`, "x", { follow: true }), "unsafe_path");
  await refused(files.copyFile(`${folder}/open/file`, `${folder}/copy`), "unsafe_path");
  assert.deepEqual(namesIn(`${folder}/real`), ["canary"]);
  assert.equal(await Deno.readTextFile(`${folder}/real/canary`), "canary");
}, { needsRoot: true });

inFolder("links that lead in a circle end", async (folder, files) => {
  await Deno.symlink("b", `${folder}/a`);
  await Deno.symlink("a", `${folder}/b`);
  await refused(files.readFile(`${folder}/a`), "unsafe_path", /too many links/);
  await refused(files.readFile(`${folder}/a/x`), "unsafe_path", /too many links/);
});

const foreignCases: [name: string, nlink: number, folder: [uid: number, mode: number], boolean][] =
  [
    ["one name", 1, [SOMEBODY, 0o755], false],
    ["two names in our folder", 2, [0, 0o755], false],
    ["two names in their folder", 2, [SOMEBODY, 0o755], true],
    ["two names in a folder for all", 2, [0, 0o1777], true],
  ];
for (const [name, nlink, [uid, mode], want] of foreignCases) {
  Deno.test(`isMaybeForeign() ${name}: ${want}`, () => {
    const file = { uid: 0, mode: 0o600, nlink };
    assert.equal(isMaybeForeign(file, { uid, mode, nlink: 2 }, 0), want);
  });
}

// ---- folders, links, attributes ------------------------------------------------------------------------------

inFolder("makeFolder makes one, or all on the way, and leaves those there alone", async (
  folder,
  files,
) => {
  await files.makeFolder(`${folder}/one`, { mode: 0o2710 });
  assert.equal(modeOf(`${folder}/one`), 0o2710);
  await files.makeFolder(`${folder}/one`, { mode: 0o777 });
  assert.equal(modeOf(`${folder}/one`), 0o2710);
  await refused(files.makeFolder(`${folder}/a/b/c`), "not_found");
  await files.makeFolder(`${folder}/a/b/c`, { parents: true, mode: 0o700 });
  assert.deepEqual([modeOf(`${folder}/a/b`), modeOf(`${folder}/a/b/c`)], [0o755, 0o700]);
  await Deno.writeTextFile(`${folder}/file`, "");
  await refused(files.makeFolder(`${folder}/file`), "io_failed", /ENOTDIR/);
  await refused(files.makeFolder(`${folder}/file/x`, { parents: true }), "io_failed", /ENOTDIR/);
});

inFolder("makeLink makes a link and replaces only links", async (folder, files) => {
  await files.makeLink(`${folder}/link`, "one");
  await files.makeLink(`${folder}/link`, "/two");
  assert.equal(await Deno.readLink(`${folder}/link`), "/two");
  await Deno.writeTextFile(`${folder}/file`, "");
  await refused(files.makeLink(`${folder}/file`, "x"), "io_failed", /not a link/);
  assert.deepEqual(namesIn(folder), ["file", "link"]);
});

inFolder("setAttributes changes mode, owner and time", async (folder, files) => {
  const path = `${folder}/file`;
  await Deno.writeTextFile(path, "");
  await files.setAttributes(path, { mode: 0o4711, modifiedMs: 1_234_567 });
  assert.deepEqual([modeOf(path), Deno.lstatSync(path).mtime?.getTime()], [0o4711, 1_234_567]);
  await refused(files.setAttributes(`${folder}/nothing`, { mode: 0 }), "not_found");
  if (!isRoot) return;
  await files.setAttributes(path, { uid: SOMEBODY });
  assert.equal(modeOf(path), 0o711, "a new owner does not get the special bits");
  await files.setAttributes(path, { gid: SOMEBODY, mode: 0o6711 });
  const { uid, gid } = Deno.lstatSync(path);
  assert.deepEqual([uid, gid, modeOf(path)], [SOMEBODY, SOMEBODY, 0o6711]);
});

// ---- removing ------------------------------------------------------------------------------------------------

inFolder("remove removes files, empty folders and trees, never through a link", async (
  folder,
  files,
) => {
  await Deno.mkdir(`${folder}/outside`);
  await Deno.writeTextFile(`${folder}/outside/canary`, "");
  await Deno.mkdir(`${folder}/tree/deep/deeper`, { recursive: true });
  await Deno.writeTextFile(`${folder}/tree/deep/file`, "");
  await Deno.symlink("../../outside", `${folder}/tree/deep/link`);
  await mkfifo(`${folder}/tree/pipe`);
  await refused(files.remove(`${folder}/tree`), "io_failed", /ENOTEMPTY|not empty/);
  await files.remove(`${folder}/tree/deep/deeper`);
  await files.remove(`${folder}/tree`, { tree: true });
  await files.remove(`${folder}/tree`, { tree: true });
  await files.remove(`${folder}/nothing/below`);
  await Deno.symlink("outside", `${folder}/link`);
  await files.remove(`${folder}/link`, { tree: true });
  assert.deepEqual(namesIn(folder), ["outside"]);
  assert.deepEqual(namesIn(`${folder}/outside`), ["canary"]);
});

inFolder("remove never takes the root folder", async (folder) => {
  await Deno.writeTextFile(`${folder}/canary`, "");
  const inside = fileCalls(never, { root: () => folderByPath(folder) });
  assert.deepEqual(await inside.listFolder("/"), [{ name: "canary", kind: "file" }]);
  await refused(inside.remove("/", { tree: true }), "bad_params", /the root folder/);
  assert.deepEqual(namesIn(folder), ["canary"]);
}, { onlyHandles: true });

inFolder("remove leaves what is mounted in a tree alone", async (folder, files) => {
  await Deno.mkdir(`${folder}/data`);
  await Deno.writeTextFile(`${folder}/data/canary`, "");
  await Deno.mkdir(`${folder}/tree/mounted`, { recursive: true });
  const [from, to] = [`${folder}/data`, `${folder}/tree/mounted`];
  const mount = await new Deno.Command("mount", { args: ["--bind", from, to] }).output();
  if (!mount.success) return console.log("mounting is not allowed here: not tried");
  try {
    await refused(files.remove(`${folder}/tree`, { tree: true }), "io_failed", /mount point/);
    await refused(files.remove(to, { tree: true }), "io_failed", /mount point/);
  } finally {
    await new Deno.Command("umount", { args: [to] }).output();
  }
  assert.deepEqual(namesIn(from), ["canary"]);
}, { needsRoot: true, onlyHandles: true });

inFolder("remove gives up on a tree that somebody dug too deep", async (folder, files) => {
  const script = `mkdir tree && cd tree && for i in $(seq 300); do mkdir d && cd d; done`;
  await new Deno.Command("sh", { args: ["-c", script], cwd: folder }).output();
  await refused(files.remove(`${folder}/tree`, { tree: true }), "io_failed", /deeper than/);
}, { onlyHandles: true });

// ---- handles and the loop ------------------------------------------------------------------------------------

inFolder("no call leaves a handle open, whether it works or not", async (folder, files) => {
  // Only those that lead here: other tests run in the same process.
  const open = () =>
    [...Deno.readDirSync("/proc/self/fd")].filter(({ name }) => targetOf(name).startsWith(folder));
  await Deno.mkdir(`${folder}/open`);
  await Deno.chmod(`${folder}/open`, 0o777);
  await Deno.symlink("/etc", `${folder}/open/link`);
  await Deno.symlink("open", `${folder}/fine`);
  const round = async () => {
    await files.replaceFile(`${folder}/fine/file`, "x");
    await files.replaceFile(`${folder}/open/link/file`, "x").catch(() => {});
    await files.replaceFile(`${folder}/open`, "x").catch(() => {});
    await files.readFile(`${folder}/fine/file`, { bytesMax: 0 }).catch(() => {});
    await files.hashFile(`${folder}/fine/file`);
    await files.listFolder(`${folder}/fine`);
    await files.makeFolder(`${folder}/a/b`, { parents: true });
    await files.setAttributes(`${folder}/a/b`, { mode: 0o700 });
    await files.remove(`${folder}/a`, { tree: true });
    await files.stat(`${folder}/fine/nothing/x`);
  };
  for (let count = 0; count < 3; count += 1) await round();
  assert.deepEqual(open(), []);
  // The count can tell: one that is open is found.
  using _open = await Deno.open(`${folder}/fine/file`);
  assert.equal(open().length, 1);
}, { onlyHandles: true });

inFolder("hashFile of 256 MiB does not hold up the loop", async (folder, files) => {
  await Deno.writeFile(`${folder}/large`, new Uint8Array());
  await Deno.truncate(`${folder}/large`, 256 * 1_024 * 1_024);
  let ticks = 0;
  const timer = setInterval(() => ticks += 1, 1);
  try {
    await files.hashFile(`${folder}/large`);
  } finally {
    clearInterval(timer);
  }
  // A hash in one piece would let none through; a thousand pieces let many, however busy the machine is.
  assert.ok(ticks >= 8, `${ticks} ticks`);
}, { onlyHandles: true });
