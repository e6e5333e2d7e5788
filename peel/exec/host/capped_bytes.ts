/** Gathers bytes up to a cap, in one buffer however small the pieces are, and counts what is beyond. */

const FIRST_LENGTH = 4_096;

export class CappedBytes {
  readonly #max: number;
  #buffer: Uint8Array<ArrayBuffer>;
  #length = 0;
  #dropped = 0;

  /** `expected` saves growing when the length is known. */
  constructor(max: number, expected = FIRST_LENGTH) {
    this.#max = max;
    this.#buffer = new Uint8Array(Math.min(max, expected));
  }

  /** Bytes that came after the cap was reached. */
  get dropped(): number {
    return this.#dropped;
  }

  add(piece: Uint8Array): void {
    const taken = Math.min(piece.length, this.#max - this.#length);
    this.#reserve(this.#length + taken);
    this.#buffer.set(piece.subarray(0, taken), this.#length);
    this.#length += taken;
    this.#dropped += piece.length - taken;
  }

  /** What was gathered. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#length === this.#buffer.length
      ? this.#buffer
      : this.#buffer.slice(0, this.#length);
  }

  /** What was gathered as text; a character that the cap cut in two is left out. */
  text(): string {
    return new TextDecoder().decode(this.bytes(), { stream: this.#dropped > 0 });
  }

  #reserve(length: number): void {
    if (length <= this.#buffer.length) return;
    const larger = new Uint8Array(
      Math.min(this.#max, Math.max(length, this.#buffer.length * 2, FIRST_LENGTH)),
    );
    larger.set(this.#buffer.subarray(0, this.#length));
    this.#buffer = larger;
  }
}
