/** Rows as a table: columns as wide as their widest cell, two blanks between, nothing at the end of a line. */
import { cut, type Paint, paint, type Style } from "./style.ts";

export type Cell = string | { readonly text: string; readonly paint: Paint };

/** What to do with a table that is wider than the terminal. */
export interface Fit {
  readonly columns: number;
  /** Name of the column whose cells may be cut. */
  readonly flexible: string;
}

/** Less of a cell says nothing. */
const CELL_WIDTH_MIN = 8;

/** Draws it. Cells must be harmless: see `core/printable.ts`. */
export function table(
  header: readonly string[],
  rows: readonly (readonly Cell[])[],
  style: Style,
  fit?: Fit,
): string {
  const wanted = header.map((name, at) =>
    rows.reduce((width, cells) => Math.max(width, textOf(cells[at] ?? "").length), name.length)
  );
  const widths = fit === undefined ? wanted : fitted(header, wanted, fit);
  const draw = (cells: readonly Cell[]): string =>
    cells.map((cell, at) => drawn(cell, widths[at] ?? 0, at === cells.length - 1, style))
      .join(GAP).trimEnd();
  return [header, ...rows].map((cells) => `${draw(cells)}\n`).join("");
}

function textOf(cell: Cell): string {
  return typeof cell === "string" ? cell : cell.text;
}

const GAP = "  ";

function fitted(header: readonly string[], wanted: readonly number[], fit: Fit): number[] {
  const total = wanted.reduce((sum, width) => sum + width, GAP.length * (wanted.length - 1));
  const excess = Math.max(0, total - fit.columns);
  return wanted.map((width, at) =>
    header[at] === fit.flexible ? Math.max(Math.min(width, CELL_WIDTH_MIN), width - excess) : width
  );
}

function drawn(cell: Cell, width: number, isLast: boolean, style: Style): string {
  const text = cut(textOf(cell), width, style);
  const padded = isLast ? text : text.padEnd(width);
  return typeof cell === "string" ? padded : paint(style, cell.paint, padded);
}
