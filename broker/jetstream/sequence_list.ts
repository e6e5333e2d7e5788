/** A rising list of sequences that mostly loses its first and gains a new last, both cheaply. */
export class SequenceList {
  #items: number[] = [];
  /** Items before this index are gone; they are cut off once they are more than half. */
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  get first(): number | undefined {
    return this.#items[this.#head];
  }

  get last(): number | undefined {
    return this.length === 0 ? undefined : this.#items[this.#items.length - 1];
  }

  /** Adds a sequence above all others. */
  push(sequence: number): void {
    this.#items.push(sequence);
  }

  remove(sequence: number): boolean {
    const at = this.#indexFrom(sequence);
    if (this.#items[at] !== sequence) return false;
    if (at === this.#head) this.#dropFirst();
    else this.#items.splice(at, 1);
    return true;
  }

  /** The first that is not below `sequence`. */
  firstFrom(sequence: number): number | undefined {
    return this.#items[this.#indexFrom(sequence)];
  }

  /** How many are not below `sequence`. */
  countFrom(sequence: number): number {
    return this.#items.length - this.#indexFrom(sequence);
  }

  values(): number[] {
    return this.#items.slice(this.#head);
  }

  #dropFirst(): void {
    this.#head++;
    if (this.#head * 2 <= this.#items.length) return;
    this.#items = this.#items.slice(this.#head);
    this.#head = 0;
  }

  #indexFrom(sequence: number): number {
    let low = this.#head;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#items[middle] as number) < sequence) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
