/** Chance that repeats: the same seed gives the same run. */
import type { Random } from "../../core/ports.ts";

/** A stream of numbers made from a seed (sfc32). `fork` gives others a stream of their own, by name. */
export class SeededRandom implements Random {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: string) {
    this.#seed = seed;
    const word = wordsOf(seed);
    this.#a = word();
    this.#b = word();
    this.#c = word();
    for (let round = 0; round < 12; round++) this.#word();
  }

  /** An independent stream: what one part draws does not change what another part gets. */
  fork(name: string): SeededRandom {
    return new SeededRandom(`${this.#seed}/${name}`);
  }

  float(): number {
    return this.#word() / 2 ** 32;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.#word() & 0xff);
  }

  chance(probability: number): boolean {
    return this.float() < probability;
  }

  between(min: number, max: number): number {
    return min + this.float() * (max - min);
  }

  pick<T>(choices: readonly T[]): T {
    const choice = choices[Math.floor(this.float() * choices.length)];
    if (choice === undefined) throw new Error("nothing to pick from");
    return choice;
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#counter++) >>> 0;
    this.#a = (this.#b ^ (this.#b >>> 9)) >>> 0;
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum >>> 0;
    return sum;
  }
}

/** Spreads a text over 32-bit words (xmur3). */
function wordsOf(text: string): () => number {
  let hash = 1779033703 ^ text.length;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 3432918353);
    hash = (hash << 13) | (hash >>> 19);
  }
  return () => {
    hash = Math.imul(hash ^ (hash >>> 16), 2246822507);
    hash = Math.imul(hash ^ (hash >>> 13), 3266489909);
    return (hash ^= hash >>> 16) >>> 0;
  };
}
