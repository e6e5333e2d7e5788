/** What one render may use up. Everything that can grow asks here before it does, so a bomb ends as an error. */
import {
  TEMPLATE_DEPTH_MAX,
  TEMPLATE_NODE_DEPTH_MAX,
  TEMPLATE_OUTPUT_LENGTH_MAX,
  TEMPLATE_STEPS_MAX,
  TEMPLATE_TEXT_LENGTH_MAX,
} from "../limits.ts";
import { Problem } from "./_problem.ts";

const CHARACTER_PAIRS_PER_STEP = 1e6;

/** Limits of one render; those left out are the usual ones. */
export interface TemplateLimits {
  /** Nodes visited, members of lists and dicts touched. */
  readonly steps?: number;
  /** Characters of the result. */
  readonly output?: number;
  /** Characters of all texts made on the way. */
  readonly text?: number;
  /** Templates, macros and blocks inside each other. */
  readonly depth?: number;
}

export class Budget {
  #steps: number;
  #output: number;
  #text: number;
  #depth = 0;
  #nodes = 0;
  readonly #limits: Required<TemplateLimits>;

  constructor(limits: TemplateLimits = {}) {
    this.#limits = {
      steps: limits.steps ?? TEMPLATE_STEPS_MAX,
      output: limits.output ?? TEMPLATE_OUTPUT_LENGTH_MAX,
      text: limits.text ?? TEMPLATE_TEXT_LENGTH_MAX,
      depth: limits.depth ?? TEMPLATE_DEPTH_MAX,
    };
    this.#steps = this.#limits.steps;
    this.#output = this.#limits.output;
    this.#text = this.#limits.text;
  }

  /** Before `count` pieces of work; a count that is no number is refused as well. */
  step(count = 1): void {
    this.#steps -= count;
    if (!(this.#steps >= 0)) {
      throw new Problem(`it takes more than ${this.#limits.steps} steps`, {
        fix: "loop over less, or split the file",
      });
    }
  }

  /** Before a text of this length is made. */
  text(length: number): void {
    this.#text -= length;
    if (!(this.#text >= 0)) {
      throw new Problem(`it builds more than ${this.#limits.text} characters of text`);
    }
  }

  /** Before a text is searched for another: in the worst case every character of one meets every one of the other. */
  search(textLength: number, wantedLength: number): void {
    this.step(1 + (textLength * wantedLength) / CHARACTER_PAIRS_PER_STEP);
  }

  /** Before this many characters are printed. */
  output(length: number): void {
    this.#output -= length;
    if (!(this.#output >= 0)) {
      throw new Problem(`it prints more than ${this.#limits.output} characters`);
    }
  }

  /** Before a node inside another one is looked at; `leave` after it. Far from where the stack would end. */
  enter(): void {
    this.step();
    if (++this.#nodes > TEMPLATE_NODE_DEPTH_MAX) throw new Problem("it is nested too deeply");
  }

  leave(): void {
    this.#nodes--;
  }

  /** Runs something that may call itself again. */
  nested<T>(work: () => T): T {
    if (++this.#depth > this.#limits.depth) {
      throw new Problem(`templates, macros or blocks are nested deeper than ${this.#limits.depth}`);
    }
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }
}
