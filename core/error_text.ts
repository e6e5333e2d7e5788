/** An error as a person reads it: code and problem, what is known, what to do. The same in every program. */
import { ERRORS, type ZesterError } from "./errors.ts";
import { printable } from "./printable.ts";

const LABEL_WIDTH = 9;

export interface ErrorTextOptions {
  /** How the head (`error ZE0405:`) is shown. */
  paint?(head: string): string;
  /** Adds the chain of causes. */
  verbose?: boolean;
  /** Draws with signs beyond ASCII. */
  unicode?: boolean;
}

/**
 * Lines of an error. The first line of its message is the problem, further ones are what is known; those that begin with a bar
 * quote what was written, with a mark below the place.
 */
export function errorText(error: ZesterError, options: ErrorTextOptions = {}): string {
  const { paint = (head) => head, verbose = false, unicode = false } = options;
  const [problem = "", ...known] = error.message.split("\n");
  const lines = [`${paint(`error ${ERRORS[error.code].number}:`)} ${printable(problem)}`];
  for (const line of known) lines.push(`  ${knownLine(printable(line), unicode)}`.trimEnd());
  if (verbose) {
    for (const cause of causes(error)) lines.push(labelled("= cause", printable(cause)));
  }
  const fixes = error.fix?.split("\n") ?? [];
  fixes.forEach((fix, at) => lines.push(labelled(at === 0 ? "fix" : "", printable(fix))));
  return lines.join("\n");
}

function knownLine(line: string, unicode: boolean): string {
  if (!line.startsWith("|")) return `= ${line.trim()}`;
  return `${unicode ? "│" : "|"}${line.slice(1)}`;
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
