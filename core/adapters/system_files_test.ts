import assert from "node:assert/strict";
import { join } from "node:path";
import { isZesterError } from "../errors.ts";
import { listFolder, systemFiles } from "./system_files.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const ioFailed = (pattern: RegExp) => (error: unknown) =>
  isZesterError(error, "io_failed") && pattern.test(error.message);

function inFolder(name: string, body: (folder: string) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.makeTempDir();
    try {
      await body(folder);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

function namesIn(folder: string): string[] {
  return [...Deno.readDirSync(folder)].map((entry) => entry.name).sort();
}

inFolder("systemFiles.read() gives null where no file is", async (folder) => {
  assert.equal(await systemFiles.read(join(folder, "none"), 10), null);
});

inFolder(
  "systemFiles.read() takes a file of exactly maxBytes and refuses one more",
  async (folder) => {
    const path = join(folder, "a");
    await systemFiles.replace(path, bytes("12345"), 0o600);
    assert.deepEqual(await systemFiles.read(path, 5), bytes("12345"));
    await assert.rejects(systemFiles.read(path, 4), ioFailed(/larger than 4 bytes/));
  },
);

inFolder(
  "systemFiles.read() refuses a folder and a pipe without waiting for it",
  async (folder) => {
    await assert.rejects(systemFiles.read(folder, 10), ioFailed(/not a regular file/));
    const pipe = join(folder, "pipe");
    const made = await new Deno.Command("mkfifo", { args: [pipe] }).output();
    assert.ok(made.success);
    await assert.rejects(systemFiles.read(pipe, 10), ioFailed(/not a regular file/));
  },
);

inFolder(
  "systemFiles.replace() leaves only the target, with exactly the mode asked for",
  async (folder) => {
    const path = join(folder, "key");
    const umask = Deno.umask(0o077);
    try {
      await systemFiles.replace(path, bytes("old"), 0o644);
      await systemFiles.replace(path, bytes("new"), 0o640);
    } finally {
      Deno.umask(umask);
    }
    assert.deepEqual(namesIn(folder), ["key"]);
    assert.deepEqual(await systemFiles.read(path, 10), bytes("new"));
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o640);
  },
);

inFolder("systemFiles.replace() replaces a link itself, not what it points to", async (folder) => {
  const [victim, link] = [join(folder, "victim"), join(folder, "link")];
  await systemFiles.replace(victim, bytes("safe"), 0o600);
  await Deno.symlink(victim, link);
  await systemFiles.replace(link, bytes("new"), 0o600);
  assert.deepEqual(await systemFiles.read(victim, 10), bytes("safe"));
  assert.ok((await Deno.lstat(link)).isFile);
});

inFolder("systemFiles.replace() leaves no staged file behind when it fails", async (folder) => {
  await Deno.mkdir(join(folder, "taken", "inside"), { recursive: true });
  const failing = systemFiles.replace(join(folder, "taken"), bytes("x"), 0o600);
  await assert.rejects(failing, ioFailed(/^replace ".*taken"/));
  assert.deepEqual(namesIn(folder), ["taken"]);
});

inFolder("systemFiles.appendDurably() creates with its mode, then appends", async (folder) => {
  const path = join(folder, "journal");
  await systemFiles.appendDurably(path, bytes("one "), 0o600);
  await systemFiles.appendDurably(path, bytes("two"), 0o600);
  assert.deepEqual(await systemFiles.read(path, 100), bytes("one two"));
  assert.equal((await Deno.stat(path)).mode! & 0o777, 0o600);
});

inFolder(
  "systemFiles.makeFolder() makes parents, repeats harmlessly, refuses a file",
  async (folder) => {
    const path = join(folder, "a", "b");
    await systemFiles.makeFolder(path, 0o700);
    await systemFiles.makeFolder(path, 0o755);
    assert.equal((await Deno.stat(path)).mode! & 0o777, 0o700);
    await systemFiles.replace(join(folder, "f"), bytes(""), 0o600);
    await assert.rejects(
      systemFiles.makeFolder(join(folder, "f"), 0o700),
      ioFailed(/a file is there/),
    );
  },
);

inFolder(
  "systemFiles.remove() removes a file and is content when there is none",
  async (folder) => {
    const path = join(folder, "a");
    await systemFiles.replace(path, bytes(""), 0o600);
    await systemFiles.remove(path);
    await systemFiles.remove(path);
    assert.deepEqual(namesIn(folder), []);
  },
);

inFolder("listFolder() gives names sorted, and none where no folder is", async (folder) => {
  await systemFiles.replace(join(folder, "b"), bytes(""), 0o600);
  await systemFiles.replace(join(folder, "a"), bytes(""), 0o600);
  assert.deepEqual(await listFolder(folder), ["a", "b"]);
  assert.deepEqual(await listFolder(join(folder, "none")), []);
});
