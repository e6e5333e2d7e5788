/** What the functions of the family answer, in real workers under their own grants. */
import assert from "node:assert/strict";
import { type ModuleLab, openModuleLab } from "../../tests/fakes/module_lab.ts";

interface Bench {
  readonly lab: ModuleLab;
  readonly folder: string;
}

/** Runs with a folder that holds `a.log`, `b.txt`, `sub/c.log` and a link to all of /etc. */
function labTest(name: string, act: (bench: Bench) => Promise<void>): void {
  Deno.test(name, async () => {
    const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "zester-file-" }));
    await Deno.mkdir(`${folder}/sub`);
    await Deno.writeTextFile(`${folder}/a.log`, "one\ntwo\nthree\n");
    await Deno.writeTextFile(`${folder}/b.txt`, "x".repeat(2_000));
    await Deno.writeTextFile(`${folder}/sub/c.log`, "one\n2\nthree\n");
    await Deno.utime(`${folder}/sub/c.log`, 1_000, 1_000);
    await Deno.symlink("/etc", `${folder}/etc`);
    const lab = openModuleLab();
    try {
      await act({ lab, folder });
    } finally {
      lab.close();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

labTest("file.read answers with the text, or with a part of it", async ({ lab, folder }) => {
  const id = `${folder}/a.log`;
  assert.equal(await lab.answer("file.read", { id }), "one\ntwo\nthree\n");
  assert.equal(await lab.answer("file.read", { id, args: { head: 2 } }), "one\ntwo");
  assert.equal(await lab.answer("file.read", { id, args: { tail: "1" } }), "three");
  assert.deepEqual(await lab.grant("file.read", { id }), { read: [id] });
  await assert.rejects(lab.answer("file.read", { id: `${folder}/none` }), /does not exist/);
  await assert.rejects(lab.answer("file.read", { id, args: { head: 0 } }), /one line or more/);
});

labTest("file.read refuses what is too much or no text", async ({ lab, folder }) => {
  await Deno.writeTextFile(`${folder}/big`, "line\n".repeat(100_000));
  await Deno.writeFile(`${folder}/binary`, new Uint8Array([0, 255]));
  await assert.rejects(
    lab.answer("file.read", { id: `${folder}/big` }),
    /500000 bytes are too many/,
  );
  const tail = await lab.answer("file.read", { id: `${folder}/big`, args: { tail: 1 } });
  assert.equal(tail, "line");
  await assert.rejects(lab.answer("file.read", { id: `${folder}/binary` }), /is no text/);
});

labTest("file.stat tells what is there, and that nothing is", async ({ lab, folder }) => {
  if (Deno.uid() !== 0) return console.log("      skipped: only root may give files to others");
  await Deno.chown(`${folder}/sub/c.log`, 1, 0);
  const found = await lab.answer("file.stat", { id: `${folder}/sub/c.log` });
  assert.deepEqual(found, {
    path: `${folder}/sub/c.log`,
    exists: true,
    kind: "file",
    mode: "0644",
    uid: 1,
    user: "daemon",
    gid: 0,
    group: "root",
    size: 12,
    modified: "1970-01-01T00:16:40.000Z",
  });
  const link = await lab.answer("file.stat", { id: `${folder}/etc` }) as Record<string, unknown>;
  assert.deepEqual([link["kind"], link["target"]], ["link", "/etc"]);
  const gone = await lab.answer("file.stat", { id: `${folder}/none` });
  assert.deepEqual(gone, { path: `${folder}/none`, exists: false });
});

labTest("file.hash answers with the digest that is asked for", async ({ lab, folder }) => {
  const id = `${folder}/sub/c.log`;
  assert.match(String(await lab.answer("file.hash", { id })), /^[0-9a-f]{64}$/);
  assert.match(
    String(await lab.answer("file.hash", { id, args: { _: ["md5"] } })),
    /^[0-9a-f]{32}$/,
  );
  await assert.rejects(lab.answer("file.hash", { id: `${folder}/none` }), /does not exist/);
});

const finds: [args: Record<string, unknown>, want: string[]][] = [
  [{}, ["a.log", "b.txt", "etc", "sub", "sub/c.log"]],
  [{ glob: "*.log" }, ["a.log", "sub/c.log"]],
  [{ glob: "sub/*" }, ["sub/c.log"]],
  [{ type: "d" }, ["sub"]],
  [{ type: "link" }, ["etc"]],
  [{ type: "file", size: "+1k" }, ["b.txt"]],
  [{ type: "file", size: "-1k", maxdepth: 1 }, ["a.log"]],
  [{ type: "f", mtime: "+30d" }, ["sub/c.log"]],
  [{ type: "f", mtime: "-1h" }, ["a.log", "b.txt"]],
];

for (const [args, want] of finds) {
  labTest(
    `file.find finds ${want.join(", ")} by ${JSON.stringify(args)}`,
    async ({ lab, folder }) => {
      const found = await lab.answer("file.find", { id: folder, args }) as { paths: string[] };
      assert.deepEqual(found.paths.map((path) => path.slice(folder.length + 1)), want);
    },
  );
}

labTest(
  "file.find says that there is more, and reads nothing outside of its folder",
  async (bench) => {
    const { lab, folder } = bench;
    const found = await lab.answer("file.find", { id: folder, args: { limit: 2 } });
    assert.deepEqual(found, { paths: [`${folder}/a.log`, `${folder}/b.txt`], truncated: true });
    assert.deepEqual(await lab.grant("file.find", { id: folder }), {
      read: [folder, `${folder}/**`],
    });
  },
);

labTest("file.find says what it does not understand", async ({ lab, folder }) => {
  const wrong: [args: Record<string, unknown>, why: RegExp][] = [
    [{ size: "10M" }, /"size" cannot be/],
    [{ mtime: "+3y" }, /"mtime" cannot be/],
    [{ type: "socket" }, /"type" cannot be/],
    [{ limit: 1_000_000 }, /"limit" cannot be/],
    [{ maxdepth: 0 }, /"maxdepth" cannot be/],
  ];
  for (const [args, why] of wrong) {
    await assert.rejects(lab.answer("file.find", { id: folder, args }), why);
  }
  await assert.rejects(lab.answer("file.find", { id: `${folder}/a.log` }), /is no folder/);
});

labTest("file.diff compares with a file or with a content", async ({ lab, folder }) => {
  const id = `${folder}/a.log`;
  const withFile = await lab.answer("file.diff", { id, args: { _: [`${folder}/sub/c.log`] } });
  assert.match(String(withFile), /^-two\n\+2$/m);
  const withText = await lab.answer("file.diff", { id, args: { content: "one\ntwo\nthree\n" } });
  assert.equal(withText, "");
  await assert.rejects(lab.answer("file.diff", { id }), /one of other and content/);
});
