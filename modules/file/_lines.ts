/** Lines of a text. Editors see plain newlines: a file that ends all of its lines with CR LF gets them back. Pure. */

/** Whether every line of the text ends with CR LF, and neither stands alone: only then the way back is exact. */
export function hasWindowsNewlines(text: string): boolean {
  return text.includes("\r\n") && !/(^|[^\r])\n|\r(?!\n)/.test(text);
}

/** The text with plain newlines. */
export function toPlainNewlines(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** The text with CR LF at the end of each line. */
export function toWindowsNewlines(text: string): string {
  return toPlainNewlines(text).replaceAll("\n", "\r\n");
}

/** The lines without their newlines; an empty text has none. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  return text.endsWith("\n") ? lines.slice(0, -1) : lines;
}

/** The text of the lines, the last of which ends as `like` does: with a newline, or without. */
export function textOfLines(lines: readonly string[], like: string): string {
  if (lines.length === 0) return "";
  return lines.join("\n") + (like === "" || like.endsWith("\n") ? "\n" : "");
}

/** The text with whole lines after it. */
export function appended(text: string, added: string): string {
  return endingLine(text) + endingLine(added);
}

/** The text with a newline at its end; nothing stays nothing. */
export function endingLine(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

/** What is wrong with a text that must be one line; null when nothing is. */
export function notOneLine(text: string): string | null {
  return /[\r\n\0]/.test(text.replace(/\r?\n$/, "")) ? "one line is wanted" : null;
}

/** One line, without the newline that block texts of YAML end with. */
export function oneLine(text: string): string {
  return text.replace(/\r?\n$/, "");
}

/** The line without a CR at its end, which files with mixed newlines have. */
export function bare(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
