/** Finds the name that was probably meant. Silent unless it is close: a wild guess is worse than none. */

/** One edit in four letters may be wrong, and always one; swapped neighbours count once. */
const LETTERS_PER_EDIT = 4;

/** The closest candidate, the earlier one of equals; null when none is close. */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance > editsAllowed(word, candidate) || distance >= bestDistance) continue;
    [best, bestDistance] = [candidate, distance];
  }
  return best;
}

function editsAllowed(word: string, candidate: string): number {
  const length = Math.min(word.length, candidate.length);
  if (length < 3) return length === 2 ? 1 : 0;
  return Math.max(1, Math.floor(Math.max(word.length, candidate.length) / LETTERS_PER_EDIT));
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
export function editDistance(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) rows.push(nextRow(rows, { row, from, to }));
  return rows[from.length]![to.length]!;
}

function nextRow(rows: number[][], at: { row: number; from: string; to: string }): number[] {
  const { row, from, to } = at;
  const above = rows[row - 1]!;
  const current = [row];
  for (let column = 1; column <= to.length; column++) {
    const same = from[row - 1] === to[column - 1];
    const replaced = above[column - 1]! + (same ? 0 : 1);
    const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] &&
        from[row - 2] === to[column - 1]
      ? rows[row - 2]![column - 2]! + 1
      : Infinity;
    current.push(Math.min(replaced, swapped, above[column]! + 1, current[column - 1]! + 1));
  }
  return current;
}
