/** What an execution module is. The spec is the only source: help, parameter errors and grants are made from it. */

/** A value that came back from a function: plain data, fit for the wire. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

export interface ModuleSpec {
  /** `<namespace>.<name>`, equal to the path below `modules/`. */
  readonly name: string;
  readonly summary: string;
  /** Parameters by name with a sentence each; a call with another one is refused. */
  readonly params: Readonly<Record<string, string>>;
  /** Changes nothing, so it may run beside other work. */
  readonly readOnly: boolean;
  /**
   * Computes on its parameters alone and at once, so it may run in the peel's own process. Everything else runs in a worker
   * that may touch only what was granted.
   */
  readonly inline: boolean;
  run(params: Readonly<Record<string, unknown>>): PlainValue | Promise<PlainValue>;
}

/** Declares a module. */
export function defineModule(spec: ModuleSpec): ModuleSpec {
  return spec;
}
