/** What happened in a run, line by line: for people to read, and as a hash to compare two runs. */
import { createHash } from "node:crypto";

/** Lines kept when nobody asked for all: enough to see what led to a failure. */
const TAIL_LINES = 120;

/** Collects lines; all of them go into the hash, the last ones can be shown. */
export class Trace {
  readonly #hash = createHash("sha256");
  readonly #keepAll: boolean;
  readonly #lines: string[] = [];

  constructor(options: { keepAll: boolean }) {
    this.#keepAll = options.keepAll;
  }

  add(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3).padStart(11)} ${who.padEnd(8)} ${what}`;
    this.#hash.update(line).update("\n");
    this.#lines.push(line);
    if (!this.#keepAll && this.#lines.length > 2 * TAIL_LINES) this.#lines.splice(0, TAIL_LINES);
  }

  hash(): string {
    return this.#hash.copy().digest("hex").slice(0, 16);
  }

  lines(): readonly string[] {
    return this.#keepAll ? this.#lines : this.#lines.slice(-TAIL_LINES);
  }
}
