/** Subjects of `pkg.*`: a tiny package, on a Debian as root. */
import assert from "node:assert/strict";
import type { ModuleFixture } from "../module_fixture.ts";

const SUBJECT = "hello";

interface Ran {
  readonly code: number;
  readonly stdout: string;
}

async function ran(program: string, ...args: string[]): Promise<Ran> {
  const { code, stdout } = await new Deno.Command(program, {
    args,
    stderr: "null",
    env: { DEBIAN_FRONTEND: "noninteractive" },
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}

let reason: Promise<string | null> | undefined;

/** Packages can be tried for real where apt has a source for one and we are root. */
function whyNot(): Promise<string | null> {
  return reason ??= look();
}

async function look(): Promise<string | null> {
  if (Deno.uid() !== 0) return "installing packages needs root";
  const program = await ran("sh", "-c", "command -v apt-get dpkg-query");
  if (program.code !== 0) return "this is no Debian";
  if ((await status()) !== "absent") {
    return `${SUBJECT} is installed here, so it is not ours to play with`;
  }
  const fetched = await ran("apt-get", "install", "--download-only", "-y", "-q", SUBJECT);
  return fetched.code === 0 ? null : `apt cannot fetch ${SUBJECT} here`;
}

async function status(): Promise<string> {
  const { stdout } = await ran("dpkg-query", "-W", "-f=${db:Status-Status} ${Version}", SUBJECT);
  return stdout.trim() === "" ? "absent" : stdout.trim();
}

const install = () => ran("apt-get", "install", "-y", "-q", SUBJECT);
const purge = async () => void await ran("apt-get", "purge", "-y", "-q", SUBJECT);

const common = { skip: whyNot } as const;
const given = { id: SUBJECT };

export const FIXTURES: readonly ModuleFixture[] = [
  {
    ...common,
    module: "pkg.installed",
    title: "a package that is not there",
    prepare: () =>
      Promise.resolve({
        given,
        look: async () => (await status()).split(" ")[0] === "installed",
        verify: async () => assert.match(await status(), /^installed /),
        cleanUp: purge,
      }),
  },
  {
    ...common,
    module: "pkg.latest",
    title: "a package that is not there",
    prepare: () =>
      Promise.resolve({
        given: { ...given, args: { refresh: false } },
        look: async () => (await status()).split(" ")[0] === "installed",
        verify: async () => assert.match(await status(), /^installed /),
        cleanUp: purge,
      }),
  },
  {
    ...common,
    module: "pkg.removed",
    title: "a package that is there",
    cannotRevert: true,
    async prepare() {
      await install();
      return {
        given,
        look: status,
        verify: async () => assert.doesNotMatch(await status(), /^installed/),
        cleanUp: purge,
      };
    },
  },
  {
    ...common,
    module: "pkg.purged",
    title: "a package that is there",
    cannotRevert: true,
    async prepare() {
      await install();
      return {
        given,
        look: status,
        verify: async () => assert.equal(await status(), "absent"),
        cleanUp: purge,
      };
    },
  },
];
