/** An error as an operator sees it. */
import { errorText } from "../../core/error_text.ts";
import { type ErrorCode, ERRORS, type ZesterError } from "../../core/errors.ts";
import { paint, type Style } from "./style.ts";

/** Lines of an error, in colour where that is wanted. */
export function renderError(
  error: ZesterError,
  { style, verbose = false }: { style: Style; verbose?: boolean },
): string {
  const { unicode } = style;
  const text = errorText(error, { paint: (head) => paint(style, "red", head), verbose, unicode });
  return `${text}\n`;
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
