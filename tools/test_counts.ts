/** Reads the counts from what `deno test` prints, for the closing line of `deno task ok`. */

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/**
 * The summary of the last test run in `output`, or null when there is none: a run that died says nothing, and nothing must
 * not look like success. Steps count towards their test only.
 */
export function testCounts(output: string): TestCounts | null {
  const line = withoutColours(output).split("\n").findLast((each) => SUMMARY.test(each));
  if (line === undefined) return null;
  return { passed: count(line, "passed"), failed: count(line, "failed"), skipped: skipped(line) };
}

/** `12 passed, 0 failed`, and how many were skipped if any were. */
export function closingLine({ passed, failed, skipped }: TestCounts): string {
  return `${passed} passed, ${failed} failed` + (skipped === 0 ? "" : `, ${skipped} skipped`);
}

/** `ok | 12 passed (3 steps) | 0 failed | 2 ignored (1 step) | 1 filtered out (5s)`. */
const SUMMARY =
  /^(ok|FAILED) \| \d+ passed( \(\d+ steps?\))? \| \d+ failed( \(\d+ steps?\))?( \| .*)? \(.+\)\s*$/;

function count(line: string, what: string): number {
  return Number(new RegExp(`\\b(\\d+) ${what}\\b`).exec(line)?.[1] ?? 0);
}

function skipped(line: string): number {
  return count(line, "ignored");
}

function withoutColours(text: string): string {
  // deno-lint-ignore no-control-regex -- colour sequences begin with a control character
  return text.replaceAll(/\x1b\[[0-9;]*m/g, "");
}
