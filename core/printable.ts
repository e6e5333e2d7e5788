/** Makes text from outside safe to show: it can neither move the cursor nor forge a line nor hide what it says. */

// Controls (C0, DEL, C1), line separators and the marks that reorder text.
const UNSAFE = /[\p{Cc}\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/gu;
const NAMED: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Escapes every control character, so that the result is one harmless line. */
export function printable(text: string): string {
  return text.toWellFormed().replace(UNSAFE, (character) => NAMED[character] ?? escaped(character));
}

/** As `printable`, but keeps line breaks and tabs: for text that is shown as a block. */
export function printableBlock(text: string): string {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  return lines.map((line) => line.split("\t").map(printable).join("\t")).join("\n");
}

/** The same for text that is already JSON: the C0 controls in its texts are escaped, so a line break can only be layout. */
export function printableJson(json: string): string {
  return json.replace(UNSAFE, (character) => character === "\n" ? character : escaped(character));
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
