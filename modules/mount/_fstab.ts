/** Reads mounts and edits the text of `/etc/fstab`. Pure: comments and the lines of others stay as they are. */

/** One line of fstab. */
export interface FstabEntry {
  readonly device: string;
  readonly point: string;
  readonly fstype: string;
  readonly options: string;
  readonly dump: number;
  readonly pass: number;
}

/** The points at which something is mounted, from `/proc/mounts`. */
export function readMountPoints(text: string): ReadonlySet<string> {
  return new Set(
    text.split("\n").flatMap((line) => {
      const point = line.split(" ")[1];
      return point === undefined ? [] : [unescaped(point)];
    }),
  );
}

/** Blanks and backslashes in paths are written as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_all, octal) => String.fromCharCode(parseInt(octal, 8)));
}

/** The line for a point; null when there is none. */
export function findLine(text: string, point: string): string | null {
  return text.split("\n").find((line) => readLine(line)?.point === point) ?? null;
}

/** What a line says; null for comments and what is no entry. */
export function readLine(line: string): FstabEntry | null {
  if (/^\s*(#|$)/.test(line)) return null;
  const [device, point, fstype, options = "defaults", dump = "0", pass = "0"] = line.trim()
    .split(/\s+/);
  if (device === undefined || point === undefined || fstype === undefined) return null;
  return {
    device: unescaped(device),
    point: unescaped(point),
    fstype,
    options,
    dump: Number(dump),
    pass: Number(pass),
  };
}

/** The line of an entry. */
export function lineOf({ device, point, fstype, options, dump, pass }: FstabEntry): string {
  return [device, point, fstype, options, dump, pass].join("\t");
}

/** Whether a line says exactly what is wanted, however its blanks are. */
export function isSameEntry(line: string | null, want: FstabEntry): boolean {
  const found = line === null ? null : readLine(line);
  return found !== null && lineOf(found) === lineOf(want);
}

/** The text with this line for the point, where its first one was or at the end; null takes it out. */
export function withLine(text: string, point: string, wanted: string | null): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => readLine(line)?.point === point);
  const others = lines.filter((line, index) => index === at || readLine(line)?.point !== point);
  if (at >= 0) {
    others.splice(at, 1, ...(wanted === null ? [] : [wanted]));
    return others.join("\n");
  }
  if (wanted === null) return text;
  return `${text === "" || text.endsWith("\n") ? text : `${text}\n`}${wanted}\n`;
}
