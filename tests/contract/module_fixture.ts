/** What the contract suite needs to know of a state module: a harmless subject on this machine, and how to look at it. */
import type { Given } from "../fakes/module_lab.ts";

/** One subject, made ready. */
export interface Prepared {
  readonly given: Given;
  /** What the module may change, as a comparable value, besides the folder of the fixture, which is always compared. */
  look?(): Promise<unknown>;
  /** Shows that the change really came about. */
  verify?(): Promise<void>;
  cleanUp?(): Promise<void>;
}

export interface ModuleFixture {
  readonly module: string;
  /** What this subject shows: `a new file`, `a changed mode`. */
  readonly title: string;
  /** Why it cannot run on this machine; null when it can. It is printed. */
  skip?(): Promise<string | null>;
  /** `folder` is empty and goes away afterwards. */
  prepare(folder: string): Promise<Prepared>;
  /** It changes something at each apply, such as a command. */
  readonly neverConverges?: boolean;
  /** It has nothing to undo, or cannot. */
  readonly cannotRevert?: boolean;
  /** Rows of its grant (`read /etc/group`) that this subject gives no reason to use. */
  readonly unused?: readonly (string | RegExp)[];
}
