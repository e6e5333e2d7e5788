/** Variables of a template: each loop, macro and `with` sees those around it and keeps its own to itself. */
import { Problem } from "./_problem.ts";

export class Scope {
  readonly #own = new Map<string, unknown>();

  constructor(readonly parent: Scope | null = null) {}

  /** A variable of this scope or of one around it; undefined when there is none. */
  get(name: string): unknown {
    return this.#own.has(name) ? this.#own.get(name) : this.parent?.get(name);
  }

  set(name: string, value: unknown): void {
    if (FIXED.has(name)) throw new Problem(`\`${name}\` cannot be set`);
    this.#own.set(name, value);
  }

  /** Variables of this scope alone: what another template can import. */
  own(): ReadonlyMap<string, unknown> {
    return this.#own;
  }

  /** Names of all variables in sight. */
  names(): string[] {
    return [...(this.parent?.names() ?? []), ...this.#own.keys()];
  }
}

/** A template that sets these would be read by people as doing what it does not. */
const FIXED = new Set(["salt", "true", "false", "none", "True", "False", "None"]);
