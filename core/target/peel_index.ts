/**
 * What targets are resolved against: who is there, and what each says of itself. Facts are kept as they came; a fact that is
 * asked for is inverted by value then, and kept so while it is asked for, so that memory goes with use.
 */
import { FACT_COLUMNS_MAX } from "../limits.ts";
import { addressValues, type FactMap, factValues, folded } from "./fact_value.ts";

/** One fact across the fleet. */
export interface FactColumn {
  /** Peels that have the fact, whatever its value. */
  readonly present: ReadonlySet<string>;
  /** Printed values, each with the peels that have it. */
  readonly values: ReadonlyMap<string, ReadonlySet<string>>;
  /** Values that are the same but for case. */
  same(value: string): readonly string[];
}

/** What matching needs to know. Facts of peels that are not among the ids are never matched. */
export interface PeelIndex {
  readonly size: number;
  ids(): Iterable<string>;
  has(id: string): boolean;
  facts(id: string): FactMap | undefined;
  column(key: string): FactColumn;
  addresses(): FactColumn;
}

/** Facts of many peels, by peel and, where asked for, by value. */
export class FactIndex {
  readonly #facts = new Map<string, FactMap>();
  /** In the order of use, the latest last. */
  readonly #columns = new Map<string, Column>();
  #addresses: Column | undefined;

  get size(): number {
    return this.#facts.size;
  }

  facts(id: string): FactMap | undefined {
    return this.#facts.get(id);
  }

  ids(): Iterable<string> {
    return this.#facts.keys();
  }

  /** Replaces what is known of a peel. */
  put(id: string, facts: FactMap): void {
    this.remove(id);
    this.#facts.set(id, facts);
    for (const column of this.#allColumns()) column.add(id, facts);
  }

  remove(id: string): void {
    const facts = this.#facts.get(id);
    if (facts === undefined) return;
    this.#facts.delete(id);
    for (const column of this.#allColumns()) column.remove(id, facts);
  }

  column(key: string): FactColumn {
    const column = this.#columns.get(key) ?? this.#built((facts) => factValues(facts, key));
    this.#columns.delete(key);
    this.#columns.set(key, column);
    if (this.#columns.size > FACT_COLUMNS_MAX) {
      const [oldest] = this.#columns.keys();
      this.#columns.delete(oldest!);
    }
    return column;
  }

  addresses(): FactColumn {
    return this.#addresses ??= this.#built(addressValues);
  }

  #allColumns(): Column[] {
    const columns = [...this.#columns.values()];
    return this.#addresses === undefined ? columns : [...columns, this.#addresses];
  }

  #built(valuesOf: (facts: FactMap) => readonly string[] | null): Column {
    const column = new Column(valuesOf);
    for (const [id, facts] of this.#facts) column.add(id, facts);
    return column;
  }
}

class Column implements FactColumn {
  readonly present = new Set<string>();
  readonly values = new Map<string, Set<string>>();
  /** Values by their folded form, where the two differ. */
  readonly #variants = new Map<string, Set<string>>();
  readonly #valuesOf: (facts: FactMap) => readonly string[] | null;

  constructor(valuesOf: (facts: FactMap) => readonly string[] | null) {
    this.#valuesOf = valuesOf;
  }

  same(value: string): readonly string[] {
    const key = folded(value);
    const variants = this.#variants.get(key) ?? [];
    return this.values.has(key) ? [key, ...variants] : [...variants];
  }

  add(id: string, facts: FactMap): void {
    const values = this.#valuesOf(facts);
    if (values === null) return;
    this.present.add(id);
    for (const value of values) this.#addValue(id, value);
  }

  remove(id: string, facts: FactMap): void {
    this.present.delete(id);
    for (const value of this.#valuesOf(facts) ?? []) this.#removeValue(id, value);
  }

  #addValue(id: string, value: string): void {
    const ids = this.values.get(value);
    if (ids !== undefined) return void ids.add(id);
    this.values.set(value, new Set([id]));
    const key = folded(value);
    if (key === value) return;
    const variants = this.#variants.get(key);
    if (variants === undefined) this.#variants.set(key, new Set([value]));
    else variants.add(value);
  }

  #removeValue(id: string, value: string): void {
    const ids = this.values.get(value);
    ids?.delete(id);
    if (ids === undefined || ids.size > 0) return;
    this.values.delete(value);
    const variants = this.#variants.get(folded(value));
    variants?.delete(value);
    if (variants?.size === 0) this.#variants.delete(folded(value));
  }
}

/** Joins who is there with what is known of them. `ids` gives them sorted or not; `has` must agree with it. */
export function peelIndexOf(
  members: { ids(): readonly string[]; has(id: string): boolean },
  facts: FactIndex,
): PeelIndex {
  let listed: readonly string[] | undefined;
  const ids = () => listed ??= members.ids();
  return {
    get size() {
      return ids().length;
    },
    ids,
    has: (id) => members.has(id),
    facts: (id) => facts.facts(id),
    column: (key) => facts.column(key),
    addresses: () => facts.addresses(),
  };
}
