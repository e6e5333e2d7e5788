/** Cuts rows into pages that fit one message. */
import { QUERY_PAGE_BYTES_MAX, QUERY_PAGE_ROWS_MAX } from "../../core/limits.ts";

/** How many rows an answer may have. */
export function rowLimit(asked: number | undefined): number {
  return Math.min(asked || QUERY_PAGE_ROWS_MAX, QUERY_PAGE_ROWS_MAX);
}

/** As many of the first rows as fit together, at least one. */
export function fillPage<T>(rows: readonly T[], sizeOf: (row: T) => number): T[] {
  const page: T[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += sizeOf(row);
    if (page.length > 0 && bytes > QUERY_PAGE_BYTES_MAX) break;
    page.push(row);
  }
  return page;
}
