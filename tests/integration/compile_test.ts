import assert from "node:assert/strict";
import { join } from "node:path";
import { bundleTarget, makeSelfExtracting } from "../../tools/compile.ts";
import { packRuntime, type Part } from "../../tools/compile/self_extracting.ts";
import { compileNatively } from "../../tools/compile/native.ts";

const FIXTURE = {
  name: "fixture",
  main: "tests/fixtures/compile/main.ts",
  flags: ["--no-prompt", "--allow-read"],
};

/** Compiles the fixture once for all steps. Its runtime is a script that starts the real Deno: small, so the test is quick. */
async function compileFixture(folder: string): Promise<string> {
  const stub = join(folder, "deno");
  await Deno.writeTextFile(stub, `#!/bin/sh\nexec '${Deno.execPath()}' "$@"\n`, { mode: 0o755 });
  const runtime: Part = await packRuntime(stub);
  return (await makeSelfExtracting(await bundleTarget(FIXTURE), { folder, runtime })).path;
}

interface Ended {
  code: number;
  out: string;
  err: string;
}

async function start(
  path: string,
  environment: Record<string, string>,
  as: { uid?: number; gid?: number } = {},
): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(path, {
    args: ["one", "two words", "$(three)"],
    cwd: "/",
    clearEnv: true,
    ...as,
    env: { PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin", ...environment },
  }).output();
  const text = new TextDecoder();
  return { code, out: text.decode(stdout), err: text.decode(stderr) };
}

async function names(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) found.push(entry.name);
  return found.sort();
}

const EXPECTED = {
  args: ["one", "two words", "$(three)"],
  isMain: true,
  packed: [0x92, 1, 0xa1, 0x61],
  late: "e3b0c442",
  worker: { decoded: [1, 2], late: "e3b0c442", mayRead: false },
  note: "a file beside the code",
  mayWrite: false,
};

Deno.test("makeSelfExtracting() makes a program that runs anywhere", async (t) => {
  const folder = await Deno.makeTempDir({ prefix: "zester-compile-test-" });
  const home = (name: string) => join(folder, name);
  const cacheOf = (name: string) => join(home(name), ".cache", "zester");
  const runIn = async (path: string, name: string) => {
    await Deno.mkdir(home(name), { recursive: true });
    return await start(path, { HOME: home(name) });
  };
  const runsIn = async (path: string, name: string) => {
    const { code, out, err } = await runIn(path, name);
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out), EXPECTED);
  };
  try {
    const path = await compileFixture(folder);

    await t.step("with worker, npm package, late import and its own permissions", async () => {
      await runsIn(path, "first");
      assert.equal((await names(cacheOf("first"))).length, 2);
    });

    await t.step("and does not unpack again", async () => {
      const [program] = (await names(cacheOf("first"))).filter((name) => name.startsWith("fix"));
      const before = await Deno.stat(join(cacheOf("first"), program!));
      await runsIn(path, "first");
      const after = await Deno.stat(join(cacheOf("first"), program!));
      assert.equal(after.ino, before.ino);
    });

    await t.step("when several first runs race", async () => {
      await Promise.all([1, 2, 3, 4].map(() => runsIn(path, "race")));
      assert.equal((await names(cacheOf("race"))).length, 2);
    });

    await t.step("after an unpacking that was cut short, and over a damaged folder", async () => {
      for (const name of await names(cacheOf("first"))) {
        await Deno.mkdir(join(cacheOf("cut"), name), { recursive: true });
        await Deno.writeTextFile(join(cacheOf("cut"), name, "left-over"), "");
        await Deno.mkdir(join(cacheOf("cut"), ".unpacking.abc", name), { recursive: true });
      }
      await runsIn(path, "cut");
    });

    await t.step("but refuses to run what is not what was packed", async () => {
      for (const [name, at] of [["program", -2_000], ["runtime", 32_768 + 40]] as const) {
        const bytes = await Deno.readFile(path);
        bytes[at < 0 ? bytes.length + at : at]! ^= 0xff;
        const damaged = home(`damaged-${name}`);
        await Deno.writeFile(damaged, bytes, { mode: 0o755 });
        const { code, err } = await runIn(damaged, `after-damage-${name}`);
        assert.equal(code, 1, name);
        assert.match(err, /fixture: .*(is damaged|cannot unpack)/);
        const left = await names(cacheOf(`after-damage-${name}`));
        assert.deepEqual(left.filter((each) => !each.startsWith("deno-")), []);
      }
    });

    await t.step("and says what to do when there is no cache folder", async () => {
      const blocked = home("blocked");
      await Deno.writeTextFile(blocked, "not a folder");
      await Deno.chmod(folder, 0o755);
      // Root may always use the system's own cache, so root becomes someone else here.
      const nobody = Deno.uid() === 0 ? { uid: 12_345, gid: 12_345 } : {};
      const environment = { HOME: blocked, XDG_CACHE_HOME: blocked };
      const { code, err } = await start(path, environment, nobody);
      assert.equal(code, 1);
      assert.match(err, /set XDG_CACHE_HOME/);
    });

    await t.step("and does not trust a cache that belongs to someone else", async () => {
      if (Deno.uid() !== 0) return; // only root can make such a folder
      const foreign = home("foreign");
      await Deno.mkdir(join(foreign, "zester"), { recursive: true });
      await Deno.chown(foreign, 12_345, 12_345);
      await Deno.mkdir(home("own"));
      const { code, err } = await start(path, { HOME: home("own"), XDG_CACHE_HOME: foreign });
      assert.equal(code, 0, err);
      assert.deepEqual(await names(join(foreign, "zester")), []);
      assert.equal((await names(cacheOf("own"))).length, 2);
    });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs `compileNatively()` on the fixture with this as the base binary. */
async function compileWithBase(base: string, output: string): Promise<string | null> {
  const before = Deno.env.get("DENORT_BIN");
  try {
    Deno.env.set("DENORT_BIN", base);
    const { bundle } = await bundleTarget(FIXTURE);
    return await compileNatively(bundle, { flags: FIXTURE.flags, output });
  } finally {
    if (before === undefined) Deno.env.delete("DENORT_BIN");
    else Deno.env.set("DENORT_BIN", before);
  }
}

Deno.test("compileNatively() honours DENORT_BIN and says why it cannot compile", async () => {
  const folder = await Deno.makeTempDir({ prefix: "zester-compile-test-" });
  try {
    const why = await compileWithBase(join(folder, "no-such-file"), join(folder, "out"));
    assert.match(why ?? "", /^deno compile: .*no such file/i);
    // Any executable will do as a base to show that Deno takes the flags and the files.
    assert.equal(await compileWithBase("/bin/true", join(folder, "out")), null);
    assert.ok((await Deno.stat(join(folder, "out"))).size > (await Deno.stat("/bin/true")).size);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
