/**
 * What CI runs: format, lint, types, generated docs, the README's test command, an unchanged lock file. Every stage runs
 * even if one before it failed, so that one run shows all there is to mend. Ends with `N passed, N failed` of the tests.
 *
 *     deno task ok
 */
import { ROOT, sourceFiles } from "./repository.ts";
import { closingLine, type TestCounts, testCounts } from "./test_counts.ts";

interface Stage {
  readonly name: string;
  readonly command: readonly string[];
}

/** The command that the README tells a newcomer to run: the tests run in CI are the same. */
export function readmeTestCommand(readme: string): string[] | null {
  const found = /^\W*(npx -y deno@\d+\.\d+\.\d+ task test)\s*`*\s*(#.*)?$/m.exec(readme);
  return found === null ? null : found[1]!.split(" ");
}

async function stagesBeforeTests(): Promise<Stage[]> {
  const deno = Deno.execPath();
  return [
    { name: "format", command: [deno, "fmt", "--check"] },
    { name: "lint", command: [deno, "lint"] },
    { name: "types", command: [deno, "check", "--frozen", ...await sourceFiles()] },
    {
      name: "generated docs",
      command: [deno, "run", "--no-prompt", "--allow-all", "tools/docs.ts", "--check"],
    },
  ];
}

/** Runs a command, shows all it prints, and gives its exit code and what it printed to standard output. */
async function stream(command: readonly string[]): Promise<{ code: number; output: string }> {
  const [program, ...args] = command;
  const child = new Deno.Command(program!, {
    args,
    cwd: ROOT,
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const decoder = new TextDecoder();
  let output = "";
  for await (const chunk of child.stdout) {
    await writeAll(chunk);
    output += decoder.decode(chunk, { stream: true });
  }
  return { code: (await child.status).code, output };
}

async function writeAll(chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) at += await Deno.stdout.write(chunk.subarray(at));
}

function announce(name: string): void {
  console.log(`\n== ${name}`);
}

async function runStage({ name, command }: Stage): Promise<string[]> {
  announce(name);
  const { code } = await stream(command);
  return code === 0 ? [] : [`${name} (exit ${code})`];
}

interface Tested {
  failures: string[];
  counts: TestCounts | null;
}

async function runTests(): Promise<Tested> {
  announce("tests");
  const command = readmeTestCommand(await readIfThere("README.md"));
  if (command === null) {
    return { failures: ["tests: README.md has no `npx -y deno@X task test`"], counts: null };
  }
  const { code, output } = await stream(command);
  const counts = testCounts(output);
  const failures: string[] = [];
  if (code !== 0) failures.push(`tests (exit ${code})`);
  if (counts === null) failures.push("tests: no summary was printed");
  else if (counts.passed === 0) failures.push("tests: none passed");
  return { failures, counts };
}

/** Compares with what was there before, and with what is committed if this is a git checkout. */
async function lockFailures(before: string): Promise<string[]> {
  announce("lock file");
  if (await readIfThere("deno.lock") !== before) return ["deno.lock changed during this run"];
  const { code } = await stream([
    "git",
    "diff",
    "--exit-code",
    "--stat",
    "HEAD",
    "--",
    "deno.lock",
  ]);
  if (code === GIT_FAILED) console.log("not a git checkout: nothing to compare with");
  return code === 0 || code === GIT_FAILED ? [] : ["deno.lock differs from the committed one"];
}

/** How git ends where it has nothing to work on. */
const GIT_FAILED = 128;

async function readIfThere(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(`${ROOT}/${path}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

async function main(): Promise<number> {
  const lock = await readIfThere("deno.lock");
  const failures: string[] = [];
  for (const stage of await stagesBeforeTests()) failures.push(...await runStage(stage));
  const tested = await runTests();
  failures.push(...tested.failures, ...await lockFailures(lock));
  console.log(failures.length === 0 ? "\nAll stages passed." : "\nFailed:");
  for (const failure of failures) console.log(`  ${failure}`);
  if (tested.counts !== null) console.log(closingLine(tested.counts));
  return failures.length === 0 ? 0 : 1;
}

if (import.meta.main) Deno.exit(await main());
