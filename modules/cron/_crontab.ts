/**
 * Reads and edits the text of a crontab. Pure. Only the entry that is meant and its marker are touched: every other line,
 * comments and settings included, stays as it is.
 */

const MARKER = "# ZESTER_CRON_ID: ";

/** One entry as it is wanted. */
export interface Entry {
  readonly label: string;
  /** Five fields, or a nickname such as `@daily`. */
  readonly schedule: string;
  readonly command: string;
}

/** One entry as it was found: `from` and `to` are the lines that it takes up, its marker included. */
export interface FoundEntry {
  readonly label: string | null;
  readonly schedule: string;
  readonly command: string;
  readonly from: number;
  readonly to: number;
}

/** All entries. A nickname line is one only when it has a marker: then it is ours. */
export function readEntries(text: string): FoundEntry[] {
  const lines = text.split("\n");
  return lines.flatMap((line, index) => {
    const label = labelOf(lines[index - 1]);
    const read = readLine(line, label !== null);
    if (read === null) return [];
    return [{ ...read, label, from: label === null ? index : index - 1, to: index + 1 }];
  });
}

function labelOf(line: string | undefined): string | null {
  return line?.startsWith(MARKER) ? line.slice(MARKER.length).trim() : null;
}

/** Settings begin with a letter, comments with `#`: neither is an entry. */
function readLine(line: string, isMarked: boolean): { schedule: string; command: string } | null {
  const fields = /^\s*([0-9*]\S*(?:\s+\S+){4})\s+(\S.*)$/.exec(line) ??
    (isMarked ? /^\s*(@[A-Za-z]+)\s+(\S.*)$/.exec(line) : null);
  if (fields === null) return null;
  return { schedule: collapsed(fields[1]!), command: fields[2]! };
}

/** How often blanks are repeated says nothing. */
function collapsed(text: string): string {
  return text.trim().replace(/\s+/g, " ");
}

/** The entry with this label, else one that nobody has labelled and that runs the same command. */
export function findEntry(
  text: string,
  { label, command }: Pick<Entry, "label" | "command">,
): FoundEntry | null {
  const entries = readEntries(text);
  return entries.find((entry) => entry.label === label) ??
    entries.find((entry) => entry.label === null && isSameCommand(entry.command, command)) ?? null;
}

/** Whether two commands are the same but for blanks. */
export function isSameCommand(one: string, other: string): boolean {
  return collapsed(one) === collapsed(other);
}

/** What differs, in words. */
export function entryDrift(want: Entry, found: FoundEntry | null): string[] {
  if (found === null) return [`cron entry ${JSON.stringify(want.label)} does not exist`];
  return [
    ...(isSameCommand(found.command, want.command) ? [] : ["command differs"]),
    ...(found.schedule === want.schedule ? [] : ["schedule differs"]),
    ...(found.label === want.label
      ? []
      : [`entry is missing identifier comment ${JSON.stringify(want.label)}`]),
  ];
}

/** The lines of an entry with its marker. */
export function linesOf({ label, schedule, command }: Entry): string[] {
  return [`${MARKER}${label}`, `${schedule} ${command}`];
}

/** The lines that a found entry takes up. */
export function linesAt(text: string, { from, to }: FoundEntry): string[] {
  return text.split("\n").slice(from, to);
}

/** The text with the lines of an entry replaced, or with new ones at its end. */
export function spliced(text: string, found: FoundEntry | null, lines: readonly string[]): string {
  const all = text.split("\n");
  if (found !== null) {
    all.splice(found.from, found.to - found.from, ...lines);
    return all.join("\n");
  }
  const ended = text === "" || text.endsWith("\n") ? text : `${text}\n`;
  return `${ended}${lines.map((line) => `${line}\n`).join("")}`;
}

/** The text without any entry that runs the command. */
export function withoutCommand(text: string, command: string): string {
  const meant = readEntries(text).filter((entry) => isSameCommand(entry.command, command));
  // From the end, so that the places of those before stay right.
  return meant.reverse().reduce((left, entry) => spliced(left, entry, []), text);
}
