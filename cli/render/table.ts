/** Rows as a table: columns as wide as their widest cell, two blanks between, nothing at the end of a line. */
import { type Paint, paint, type Style } from "./style.ts";

export type Cell = string | { readonly text: string; readonly paint: Paint };

/** Draws it. Cells must be harmless: see `core/printable.ts`. */
export function table(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  style: Style,
): string {
  const widths = header.map((name, at) =>
    rows.reduce((width, cells) => Math.max(width, textOf(cells[at] ?? "").length), name.length)
  );
  const draw = (cells: readonly Cell[]): string =>
    cells.map((cell, at) => drawn(cell, at === cells.length - 1 ? 0 : widths[at] ?? 0, style))
      .join("  ").trimEnd();
  return [header, ...rows].map((cells) => `${draw(cells)}\n`).join("");
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

function drawn(cell: Cell, width: number, style: Style): string {
  const padded = textOf(cell).padEnd(width);
  return typeof cell === "string" ? padded : paint(style, cell.paint, padded);
}
