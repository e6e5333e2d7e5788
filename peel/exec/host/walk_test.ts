import assert from "node:assert/strict";
import { isZesterError } from "../../../core/errors.ts";
import { fileCalls } from "./files.ts";
import { HAS_HANDLES, isTrustedLink } from "./walk.ts";

const OWN = 1_000;
const SOMEBODY = 2_000;

const cases: [
  name: string,
  link: [uid: number, nlink: number],
  folder: [number, number],
  boolean,
][] = [
  ["root's link in root's folder", [0, 1], [0, 0o755], true],
  ["our link in our folder", [OWN, 1], [OWN, 0o700], true],
  ["our link in root's folder", [OWN, 1], [0, 0o755], true],
  ["root's link in our folder with two names", [0, 2], [OWN, 0o755], true],
  ["their link in root's folder", [SOMEBODY, 1], [0, 0o755], false],
  ["root's link in their folder", [0, 1], [SOMEBODY, 0o755], false],
  ["root's link in a folder for a group", [0, 1], [0, 0o775], false],
  ["root's link in a folder for all", [0, 1], [0, 0o777], false],
  ["root's link in /tmp", [0, 1], [0, 0o1777], true],
  ["root's link in /tmp with a second name elsewhere", [0, 2], [0, 0o1777], false],
  ["their link in /tmp", [SOMEBODY, 1], [0, 0o1777], false],
  ["root's link in their own kind of /tmp", [0, 1], [SOMEBODY, 0o1777], false],
];
for (const [name, [linkUid, nlink], [uid, mode], want] of cases) {
  Deno.test(`isTrustedLink() ${name}: ${want}`, () => {
    const link = { uid: linkUid, mode: 0o777, nlink };
    assert.equal(isTrustedLink(link, { uid, mode: mode | 0o40000, nlink: 2 }, OWN), want);
  });
}

// ---- a race --------------------------------------------------------------------------------------------------

const RACE_MS = Deno.env.get("CI") === undefined ? 3_000 : 10_000;

/** Swaps the folder `parent` with a link to the folder `outside` as fast as it can, until its input ends. */
const SWAPPER = `
const [base] = Deno.args;
const parent = base + "/parent";
let isOver = false;
Deno.stdin.read(new Uint8Array(1)).then(() => isOver = true);
console.log("ready");
while (!isOver) {
  for (let round = 0; round < 200; round += 1) {
    Deno.renameSync(parent, base + "/kept");
    Deno.symlinkSync(base + "/outside", parent);
    Deno.removeSync(parent);
    Deno.renameSync(base + "/kept", parent);
  }
  await new Promise((resolve) => setTimeout(resolve));
}
`;

interface Race {
  /** The file within the folder that is swapped. */
  readonly path: string;
  readonly canary: string;
  readonly outside: string;
}

async function racing(act: (race: Race) => Promise<void>): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${base}/parent`);
  await Deno.mkdir(`${base}/outside`);
  await Deno.writeTextFile(`${base}/outside/file`, "canary");
  await Deno.writeTextFile(`${base}/swapper.ts`, SWAPPER);
  // Whoever can swap folders here is not us.
  await Deno.chmod(base, 0o777);
  const swapper = new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-config", "--no-lock", "-A", `${base}/swapper.ts`, base],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const output = swapper.stdout.getReader();
  try {
    await output.read();
    await act({
      path: `${base}/parent/file`,
      canary: `${base}/outside/file`,
      outside: `${base}/outside`,
    });
  } finally {
    await swapper.stdin.close();
    await output.cancel();
    await swapper.status;
    await Deno.remove(base, { recursive: true });
  }
}

Deno.test({
  name: "findPlace() while a process swaps the parent with a link: nothing outside is touched",
  ignore: !HAS_HANDLES,
  fn: () =>
    racing(async ({ path, canary, outside }) => {
      const files = fileCalls(new AbortController().signal);
      const counts = { done: 0, refused: 0, missing: 0 };
      const acts = [
        () => files.replaceFile(path, "new"),
        () => files.setAttributes(path, { mode: 0o666 }),
        () => files.remove(path),
      ];
      const until = performance.now() + RACE_MS;
      for (let turn = 0; performance.now() < until; turn += 1) {
        try {
          await acts[turn % acts.length]!();
          counts.done += 1;
        } catch (thrown) {
          // A link that was met and is gone at the next look is no folder, and no link either.
          const isGone = isZesterError(thrown, "io_failed") && /ENOTDIR/.test(thrown.message);
          if (isGone || isZesterError(thrown, "unsafe_path")) counts.refused += 1;
          else if (isZesterError(thrown, "not_found")) counts.missing += 1;
          else throw thrown;
        }
      }
      assert.equal(await Deno.readTextFile(canary), "canary");
      assert.equal(Deno.statSync(canary).mode! & 0o777, 0o644);
      assert.deepEqual([...Deno.readDirSync(outside)].map(({ name }) => name), ["file"]);
      // The race was on: all of it happened.
      assert.ok(Object.values(counts).every((count) => count > 0), JSON.stringify(counts));
    }),
});

Deno.test({
  name: "the race is real: plain writes that look before they write hit the canary",
  ignore: !HAS_HANDLES,
  fn: () =>
    racing(async ({ path, canary }) => {
      const until = performance.now() + 30_000;
      while (await Deno.readTextFile(canary) === "canary") {
        assert.ok(performance.now() < until, "never hit");
        try {
          if (Deno.lstatSync(path.slice(0, -"/file".length)).isDirectory) {
            Deno.writeTextFileSync(path, "new");
          }
        } catch (thrown) {
          if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
        }
      }
    }),
});
