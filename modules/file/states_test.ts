/** What the states of the family refuse, keep hidden and say, in real workers under their own grants. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type ModuleLab, openModuleLab } from "../../tests/fakes/module_lab.ts";
import { snapshot } from "../../tests/fakes/snapshot.ts";

interface Bench {
  readonly lab: ModuleLab;
  readonly folder: string;
}

/** Runs with a lab whose state tree is `<folder>/tree`, and a folder that goes away. */
function labTest(name: string, act: (bench: Bench) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "zester-file-" }));
    const lab = openModuleLab({ statesDir: `${folder}/tree` });
    try {
      await act({ lab, folder });
    } finally {
      lab.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

// ---- what all members have in common -------------------------------------------------------------------------

/** Parameters with which each would write `the canary` anew. */
const WRITERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "file.managed": { content: "new" },
  "file.directory": { mode: "0700" },
  "file.append": { text: "new" },
  "file.blockreplace": { content: "new", append_if_not_found: true },
  "file.line": { content: "new" },
  "file.replace": { pattern: "canary", repl: "new", append_if_not_found: true },
  "file.comment": { regex: "canary" },
  "file.uncomment": { regex: "canary" },
  "file.keyvalue": { key: "new", value: "1" },
  "file.copy": { source: "/etc/hostname", force: true },
  "file.symlink": { target: "new" },
};

for (const [module, args] of Object.entries(WRITERS)) {
  labTest(`${module} does not write through a link`, async ({ lab, folder }) => {
    await Deno.writeTextFile(`${folder}/real`, "canary\n#canary\n");
    await Deno.symlink("real", `${folder}/link`);
    const before = await snapshot(folder);
    await assert.rejects(
      lab.apply(module, { id: `${folder}/link`, args }),
      /link|not a directory/,
    );
    assert.deepEqual(await snapshot(folder), before);
  });
}

const MAKERS = Object.keys(WRITERS).filter((name) => !/comment$/.test(name));

for (const module of [...MAKERS, "file.touch"]) {
  labTest(`${module} says what a missing folder above needs, and makes nothing`, async (bench) => {
    const { lab, folder } = bench;
    const given = { id: `${folder}/gone/file`, args: WRITERS[module] ?? {} };
    const needs =
      `parent directory ${folder}/gone does not exist (set makedirs: true to create it)`;
    assert.equal((await lab.check(module, given))?.diff, needs);
    await assert.rejects(lab.apply(module, given), { message: `${module}: ${needs}` });
    assert.deepEqual(await snapshot(folder), []);
  });

  labTest(`${module} says that the folder above is a file`, async ({ lab, folder }) => {
    await Deno.writeTextFile(`${folder}/file`, "");
    const given = { id: `${folder}/file/x`, args: { ...WRITERS[module], makedirs: true } };
    for (const act of [lab.check, lab.apply]) {
      await assert.rejects(act(module, given), /not a directory|ENOTDIR/);
    }
  });
}

const EDITORS = MAKERS.filter((name) => !/managed|directory|copy|symlink/.test(name));

for (const module of EDITORS) {
  labTest(`${module} leaves a file alone that is no text`, async ({ lab, folder }) => {
    await Deno.writeFile(`${folder}/f`, new Uint8Array([0xff, 0, 1]));
    const given = { id: `${folder}/f`, args: WRITERS[module]! };
    await assert.rejects(lab.apply(module, given), /is no text/);
  });

  labTest(`${module} shows how the content changes, unless it shall not`, async (bench) => {
    const { lab, folder } = bench;
    await Deno.writeTextFile(`${folder}/f`, "canary\n");
    const given = { id: `${folder}/f`, args: WRITERS[module]! };
    assert.match((await lab.check(module, given))!.diff, /^\+.*new/m);
    const hidden = { ...given, args: { ...given.args, show_changes: false } };
    assert.doesNotMatch((await lab.check(module, hidden))!.diff, /new/);
    const { diff } = (await lab.apply(module, hidden))!;
    assert.match(diff, /\(not shown\)/);
    assert.doesNotMatch(diff, /new/);
  });
}

// ---- file.managed --------------------------------------------------------------------------------------------

labTest("file.managed never shows a secret, and keeps none for an undo", async (bench) => {
  const { lab, folder } = bench;
  await Deno.writeTextFile(`${folder}/key`, "hunter1-old");
  const given = { id: `${folder}/key`, args: { secret_content: "hunter2-new", mode: "0600" } };
  const drift = await lab.check("file.managed", given);
  const change = (await lab.apply("file.managed", given))!;
  assert.doesNotMatch(JSON.stringify([drift, change]), /hunter/);
  assert.equal(await Deno.readTextFile(`${folder}/key`), "hunter2-new");
  await assert.rejects(lab.revert("file.managed", given, change.memo), /secret, which is not kept/);
});

labTest("file.managed renders a file of the state tree", async ({ lab, folder }) => {
  await Deno.mkdir(`${folder}/tree`);
  await Deno.writeTextFile(`${folder}/tree/motd`, "{{ facts.id }} says {{ word }}{{ end }}\n");
  const args = {
    source: "zester://motd",
    template: "jinja",
    defaults: { word: "bye", end: "!" },
    context: { word: "hello" },
  };
  const given = { id: `${folder}/motd`, args };
  assert.notEqual(await lab.apply("file.managed", given), null);
  assert.equal(await Deno.readTextFile(`${folder}/motd`), "lab says hello!\n");
  assert.equal(await lab.check("file.managed", given), null);
});

labTest("file.managed takes nothing of the state tree but its source", async ({ lab, folder }) => {
  const grant = await lab.grant("file.managed", {
    id: `${folder}/f`,
    args: { source: "zester://nginx/nginx.conf", user: "daemon" },
  });
  assert.deepEqual(grant, {
    tree: ["nginx/nginx.conf"],
    read: [folder, "/etc/passwd"],
    write: [`${folder}/f`],
  });
});

labTest(
  "file.managed takes a web source with its digest, and asks for it only once",
  async (bench) => {
    const { lab, folder } = bench;
    let asked = 0;
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen: () => {} },
      () => {
        asked += 1;
        return new Response("content");
      },
    );
    const digest = createHash("sha256").update("content").digest("hex");
    const source = `http://127.0.0.1:${server.addr.port}/x`;
    const given = { id: `${folder}/f`, args: { source, source_hash: `sha256=${digest}` } };
    assert.match((await lab.check("file.managed", given))!.diff, /it comes from http/);
    assert.equal(asked, 0, "a look asks nobody");
    await lab.apply("file.managed", given);
    assert.equal(await Deno.readTextFile(`${folder}/f`), "content");
    assert.equal(await lab.check("file.managed", given), null);
    assert.equal(await lab.apply("file.managed", given), null);
    assert.equal(asked, 1);
    const wrong = { ...given, args: { source, source_hash: "0".repeat(64) } };
    await assert.rejects(lab.apply("file.managed", wrong), /its sha256 is/);
    await assert.rejects(lab.check("file.managed", { ...given, args: { source } }), /source_hash/);
  },
);

labTest("file.managed keeps and copies files that are too large to be read", async (bench) => {
  const { lab, folder } = bench;
  for (const name of ["source", "f"]) {
    using file = await Deno.create(`${folder}/${name}`);
    await file.truncate(17 * 2 ** 20 + name.length);
  }
  const given = { id: `${folder}/f`, args: { source: `${folder}/source`, mode: "0600" } };
  const change = (await lab.apply("file.managed", given))!;
  assert.match(change.diff, /bytes become/);
  assert.equal((await Deno.stat(`${folder}/f`)).size, 17 * 2 ** 20 + 6);
  assert.equal(await lab.check("file.managed", given), null);
  await assert.rejects(lab.revert("file.managed", given, change.memo), /too much to have kept/);
});

labTest("file.managed leaves the content alone that it shall not replace", async (bench) => {
  const { lab, folder } = bench;
  await Deno.writeTextFile(`${folder}/f`, "own");
  const given = { id: `${folder}/f`, args: { content: "other", replace: false } };
  assert.equal(await lab.check("file.managed", given), null);
});

labTest(
  "file.managed refuses a link that leads nowhere even when it shall follow",
  async (bench) => {
    const { lab, folder } = bench;
    await Deno.symlink("nowhere", `${folder}/f`);
    const given = { id: `${folder}/f`, args: { content: "x", follow: true } };
    await assert.rejects(lab.apply("file.managed", given), /which does not exist/);
  },
);

labTest("file.managed fails for an owner that does not exist", async ({ lab, folder }) => {
  const given = { id: `${folder}/f`, args: { content: "x", user: "zt-nobody-here" } };
  await assert.rejects(lab.apply("file.managed", given), /there is no user "zt-nobody-here"/);
  assert.deepEqual(await snapshot(folder), []);
});

// ---- the others ----------------------------------------------------------------------------------------------

labTest("file.directory reports a file in its place, and does not replace it", async (bench) => {
  const { lab, folder } = bench;
  await Deno.writeTextFile(`${folder}/d`, "x");
  const says = `${folder}/d exists but is not a directory`;
  assert.equal((await lab.check("file.directory", { id: `${folder}/d` }))?.diff, says);
  await assert.rejects(lab.apply("file.directory", { id: `${folder}/d` }), {
    message: `file.directory: ${says}`,
  });
});

labTest("file.directory keeps in an undo what came later", async ({ lab, folder }) => {
  const given = { id: `${folder}/d/` };
  const { memo, details } = (await lab.apply("file.directory", given))!;
  assert.deepEqual(details, { path: `${folder}/d`, mode: "0755" });
  await Deno.writeTextFile(`${folder}/d/precious`, "x");
  await assert.rejects(lab.revert("file.directory", given, memo), /not empty/);
  assert.equal(await Deno.readTextFile(`${folder}/d/precious`), "x");
});

labTest("file.absent refuses the root folder", async ({ lab }) => {
  await assert.rejects(lab.check("file.absent", { id: "/" }), /root folder is not removed/);
});

labTest("file.absent cannot put a folder back, and says so", async ({ lab, folder }) => {
  await Deno.mkdir(`${folder}/d`);
  const { memo } = (await lab.apply("file.absent", { id: `${folder}/d` }))!;
  await assert.rejects(
    lab.revert("file.absent", { id: `${folder}/d` }, memo),
    /a folder is not kept/,
  );
});

labTest("file.symlink replaces nothing without force", async ({ lab, folder }) => {
  await Deno.symlink("old", `${folder}/link`);
  await Deno.writeTextFile(`${folder}/file`, "x");
  const refused: [name: string, why: RegExp][] = [
    ["link", /already exists pointing to "old"; use force: true to replace/],
    ["file", /exists as a non-symlink; use force: true to replace/],
  ];
  for (const [name, why] of refused) {
    const given = { id: `${folder}/${name}`, args: { target: "new" } };
    assert.notEqual(await lab.check("file.symlink", given), null);
    await assert.rejects(lab.apply("file.symlink", given), why);
  }
});

labTest("file.symlink removes in an undo only the link that it made", async ({ lab, folder }) => {
  const given = { id: `${folder}/l`, args: { target: "x" } };
  const { memo } = (await lab.apply("file.symlink", given))!;
  await Deno.remove(`${folder}/l`);
  await Deno.writeTextFile(`${folder}/l`, "of somebody else");
  await assert.rejects(lab.revert("file.symlink", given, memo), /no longer the link/);
});

labTest("file.copy leaves a file alone without force", async ({ lab, folder }) => {
  await Deno.writeTextFile(`${folder}/s`, "new");
  await Deno.writeTextFile(`${folder}/f`, "old");
  const given = { id: `${folder}/f`, args: { source: `${folder}/s` } };
  assert.equal(await lab.apply("file.copy", given), null);
  const missing = { id: `${folder}/f`, args: { source: `${folder}/none` } };
  await assert.rejects(lab.check("file.copy", missing), /does not exist/);
});

labTest(
  "file.touch gives a file that is there a new time when something watched changed",
  async (bench) => {
    const { lab, folder } = bench;
    await Deno.writeTextFile(`${folder}/f`, "x");
    await Deno.utime(`${folder}/f`, 1_000, 1_000);
    const given = { id: `${folder}/f` };
    assert.equal(await lab.apply("file.touch", given), null);
    const { memo } = (await lab.apply("file.touch", given, { isForced: true }))!;
    assert.ok((await Deno.stat(`${folder}/f`)).mtime!.getTime() > 1_000_000);
    await lab.revert("file.touch", given, memo);
    assert.equal((await Deno.stat(`${folder}/f`)).mtime!.getTime(), 1_000_000);
    assert.equal(await Deno.readTextFile(`${folder}/f`), "x");
  },
);

// ---- file.recurse --------------------------------------------------------------------------------------------

labTest("file.recurse copies a folder of the state tree", async ({ lab, folder }) => {
  await Deno.mkdir(`${folder}/tree/site/css`, { recursive: true });
  await Deno.writeTextFile(`${folder}/tree/site/index.html`, "<p>");
  await Deno.writeTextFile(`${folder}/tree/site/css/a.css`, "a {}");
  await Deno.writeTextFile(`${folder}/tree/secret`, "not asked for");
  const given = { id: `${folder}/www`, args: { source: "zester://site", clean: true } };
  const grant = await lab.grant("file.recurse", given);
  assert.deepEqual(grant.tree, ["site", "site/**"]);
  assert.match((await lab.check("file.recurse", given))!.diff, /^4 files differ between/);
  const change = (await lab.apply("file.recurse", given))!;
  assert.match(change.diff, /^copied 2 files, 2 dirs from zester:\/\/site to .* \(cleaned 0\)/);
  assert.equal(await Deno.readTextFile(`${folder}/www/css/a.css`), "a {}");
  assert.equal(await lab.check("file.recurse", given), null);
  await lab.revert("file.recurse", given, change.memo);
  await assert.rejects(Deno.stat(`${folder}/www`), Deno.errors.NotFound);
});

labTest(
  "file.recurse does not write through links, and changes nothing when one is in the way",
  async (bench) => {
    const { lab, folder } = bench;
    await Deno.mkdir(`${folder}/s/sub`, { recursive: true });
    await Deno.mkdir(`${folder}/d`);
    await Deno.mkdir(`${folder}/outside`);
    for (const name of ["s/a", "s/sub/b"]) await Deno.writeTextFile(`${folder}/${name}`, "new");
    await Deno.symlink("../outside", `${folder}/d/sub`);
    const before = await snapshot(folder);
    const given = { id: `${folder}/d`, args: { source: `${folder}/s` } };
    await assert.rejects(lab.apply("file.recurse", given), /is a link, not a folder/);
    assert.deepEqual(await snapshot(folder), before);
  },
);

labTest("file.recurse says what of its source it cannot copy", async ({ lab, folder }) => {
  await Deno.mkdir(`${folder}/s`);
  await Deno.symlink("/etc/shadow", `${folder}/s/link`);
  const args = { source: `${folder}/s` };
  const given = { id: `${folder}/d`, args };
  await assert.rejects(lab.check("file.recurse", given), /link is no regular file \(exclude_pat/);
  const excluded = { ...given, args: { ...args, exclude_pat: ["link"] } };
  assert.notEqual(await lab.apply("file.recurse", excluded), null);
  const missing: [source: string, why: RegExp][] = [
    [`${folder}/none`, /does not exist/],
    ["zester://none", /does not exist or holds no files/],
    ["zester://", /a folder in the state tree is wanted/],
    ["https://example.org/x", /a web server has no folders/],
  ];
  for (const [source, why] of missing) {
    await assert.rejects(lab.check("file.recurse", { ...given, args: { source } }), why);
  }
});
