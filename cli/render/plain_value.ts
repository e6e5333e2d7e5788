/** Values that functions give back: read from the text on the wire, and shown as text that reads like YAML. */
import { printable, printableBlock } from "../../core/printable.ts";

type Composite = readonly unknown[] | Readonly<Record<string, unknown>>;

/**
 * The list or map that a result stands for; null when it is plain text. Peels write values without any layout, so text that
 * only looks like JSON, such as a file that was read, stays what it is.
 */
export function compositeOf(text: string): Composite | null {
  if (!/^[[{]/.test(text)) return null;
  try {
    const value = JSON.parse(text) as Composite;
    return JSON.stringify(value) === text ? value : null;
  } catch {
    return null; // text that begins with a bracket
  }
}

/** A value for people: indented lists and maps, without the quotes that only programs need. */
export function plainText(value: unknown): string {
  return linesOf(value).join("\n");
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) {
    return value.length === 0 ? ["[]"] : value.flatMap((each) => below("-", each, true));
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) return ["{}"];
    return entries.flatMap(([key, each]) => below(`${printable(key)}:`, each, false));
  }
  return scalarLines(value);
}

/** What is short stands on the line of its key or dash; a longer item begins there, and a longer value below its key. */
function below(head: string, value: unknown, isItem: boolean): string[] {
  const flow = flowOf(value);
  if (flow !== null && head.length + 1 + flow.length <= FLOW_WIDTH) return [`${head} ${flow}`];
  const lines = linesOf(value);
  if (lines.length === 1 && !isNested(value)) return [`${head} ${lines[0]}`];
  if (isItem) return lines.map((line, at) => `${at === 0 ? head : " "} ${line}`);
  return [head, ...lines.map((line) => `  ${line}`)];
}

const FLOW_WIDTH = 80;

/** A list or map on one line; null for text, and for what has text of several lines in it. */
function flowOf(value: unknown): string | null {
  if (!isNested(value)) return null;
  const isList = Array.isArray(value);
  const parts: string[] = [];
  for (const [key, each] of Object.entries(value as object)) {
    const text = isNested(each) ? flowOf(each) : flowScalar(each);
    if (text === null) return null;
    parts.push(isList ? text : `${printable(key)}: ${text}`);
  }
  return isList ? `[${parts.join(", ")}]` : `{${parts.join(", ")}}`;
}

function flowScalar(value: unknown): string | null {
  const [line = "", ...more] = linesOf(value);
  if (more.length > 0) return null;
  return typeof value === "string" && /[,[\]{}]|: |^\s|\s$/.test(value)
    ? JSON.stringify(line)
    : line;
}

function isNested(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

function scalarLines(value: unknown): string[] {
  if (value === "") return ['""'];
  return printableBlock(String(value).replace(/\n$/, "")).split("\n");
}
