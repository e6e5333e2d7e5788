/** Reads and edits `/etc/locale.gen`: which locales the host makes. Pure. */

/** Case and dashes differ between what is declared and what the system prints: `en_US.UTF-8`, `en_US.utf8`. */
export function isSameLocale(one: string, other: string): boolean {
  return plain(one) === plain(other);
}

function plain(locale: string): string {
  return locale.toLowerCase().replaceAll("-", "");
}

/** Whether `locale -a` lists it. */
export function isMade(list: string, locale: string): boolean {
  return list.split("\n").some((line) => isSameLocale(line.trim(), locale));
}

/** Whether the file has its line, not commented out. */
export function isDeclared(text: string, locale: string): boolean {
  return text.split("\n").some((line) => localeOf(line) === plain(locale));
}

function localeOf(line: string): string | null {
  const word = /^\s*([A-Za-z][^\s#]*)(\s|$)/.exec(line)?.[1];
  return word === undefined ? null : plain(word);
}

/** A line that only a `#` keeps from counting; prose has more words than two. */
function commentedLocaleOf(line: string): string | null {
  const word = /^\s*#\s*([A-Za-z]\S*)\s+\S+\s*$/.exec(line)?.[1];
  return word === undefined ? null : plain(word);
}

/** The text with the locale's line uncommented, or with a line of its own. */
export function withLocale(text: string, locale: string): string {
  if (isDeclared(text, locale)) return text;
  const lines = text.split("\n");
  const at = lines.findIndex((line) => commentedLocaleOf(line) === plain(locale));
  if (at >= 0) {
    lines[at] = lines[at]!.replace(/^\s*#\s*/, "");
    return lines.join("\n");
  }
  const ended = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${ended}${locale} ${charsetOf(locale)}\n`;
}

function charsetOf(locale: string): string {
  return /\.([A-Za-z0-9-]+)/.exec(locale)?.[1] ?? "UTF-8";
}
