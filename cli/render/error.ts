/** An error as an operator reads it: code and problem, what is known, what to do. */
import { type ErrorCode, ERRORS, type ZesterError } from "../../core/errors.ts";
import { printable } from "../../core/printable.ts";
import { paint, type Style } from "./style.ts";

const LABEL_WIDTH = 9;

/**
 * Lines of an error. The first line of its message is the problem, further ones are what is known. With `verbose`, the
 * chain of causes follows.
 */
export function renderError(
  error: ZesterError,
  { style, verbose = false }: { style: Style; verbose?: boolean },
): string {
  const [problem = "", ...known] = error.message.split("\n");
  const lines = [
    `${paint(style, "red", `error ${ERRORS[error.code].number}:`)} ${printable(problem)}`,
  ];
  for (const line of known) lines.push(`  = ${printable(line)}`);
  if (verbose) {
    for (const cause of causes(error)) lines.push(labelled("= cause", printable(cause)));
  }
  const fixes = error.fix?.split("\n") ?? [];
  fixes.forEach((fix, at) => lines.push(labelled(at === 0 ? "fix" : "", printable(fix))));
  return lines.join("\n") + "\n";
}

function labelled(label: string, text: string): string {
  return `  ${label.padEnd(LABEL_WIDTH)}${text}`;
}

function causes(error: ZesterError): string[] {
  const found: string[] = [];
  for (let cause = error.cause; cause instanceof Error; cause = cause.cause) {
    found.push(`${cause.name}: ${cause.message}`);
  }
  return found;
}

/** The same for programs. */
export function errorJson(error: ZesterError): Record<string, unknown> {
  const { number } = ERRORS[error.code];
  return {
    code: number,
    name: error.code,
    message: error.message,
    fix: error.fix?.split("\n") ?? [],
  };
}

/** The exit code that goes with an error. */
export function exitCodeOfError(code: ErrorCode): number {
  return ERRORS[code].exit;
}
