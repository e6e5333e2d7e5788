/**
 * What an execution module is. A module is a spec, and the spec is the only source: parameter errors, grants, help, docs
 * and the contract tests are made from it. There are two kinds: a *state* looks for drift and mends it; a *function*
 * answers. Modules import this file and nothing else of `core`.
 */
import type { Grant } from "./module/grant.ts";
import type { Host } from "./module/host.ts";
import type { ParamRules, ParamsOf, ParamSpecs } from "./module/params.ts";

export type { Account, Group } from "./module/accounts.ts";
export {
  findAccount,
  findGroup,
  GROUP_PATH,
  PASSWD_PATH,
  readAccounts,
  readGroups,
} from "./module/accounts.ts";
export { type Digest, parseDigest, shortHash } from "./module/digest.ts";
export { accountName, accountNames } from "./module/account_names.ts";
export { valueAt } from "./module/lookup.ts";
export type { Grant, Program } from "./module/grant.ts";
export type {
  Attributes,
  FileInfo,
  FolderEntry,
  Host,
  ReplaceOptions,
  RunOptions,
  RunResult,
} from "./module/host.ts";
export { netOf } from "./module/host.ts";
export type { GroupRef, Param, ParamsOf, ParamSpecs } from "./module/params.ts";
export {
  absolutePath,
  aliased,
  anything,
  checked,
  defaulted,
  fileMode,
  flag,
  groupRef,
  integer,
  line,
  map,
  number,
  oneOf,
  optional,
  primary,
  sensitive,
  templateFlag,
  text,
  textList,
  textMap,
  triState,
} from "./module/params.ts";

export { failureOf, perform } from "./module/perform.ts";
export { compilePattern, type Pattern } from "./module/pattern.ts";
export { type Family, familyOf } from "./module/system.ts";
export { textDiff, textOf } from "./module/text_diff.ts";
export { applyText, checkText, revertText, type TextMemo } from "./module/text_file.ts";
export {
  FILE_MEMO_BYTES_MAX,
  FILE_SHOWN_BYTES_MAX,
  FILES_FOUND_MAX,
  FILES_VISITED_MAX,
  FOLDER_DIFF_LINES_MAX,
} from "./limits.ts";
export { matchesGlob } from "./target/glob.ts";

/** A value that came back from a function: plain data, fit for the wire. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue };

/** What the peel knows of its host. */
export type Facts = Readonly<Record<string, unknown>>;

/** Strings by name, shown beside a result. */
export type Details = Readonly<Record<string, string>>;

interface Documented {
  /** `<namespace>.<name>`, equal to the path below `modules/`. */
  readonly name: string;
  /** One sentence. */
  readonly summary: string;
  /** What else a user should know: paragraphs of Markdown. */
  readonly description?: string;
  readonly examples?: readonly Example[];
  /** Where it differs from what users of Salt expect. */
  readonly differences?: readonly string[];
}

/** An example is a command line (`zester …`) or a state file. */
export interface Example {
  readonly title: string;
  readonly code: string;
}

/** What a look found: what would change, in words. */
export interface Drift {
  readonly diff: string;
  /** The look cannot tell whether anything would change. */
  readonly isUnsure?: boolean;
}

/** What was done. */
export interface Change {
  readonly diff: string;
  readonly details?: Details;
  /** False when the work was done and changed nothing, such as `test.ping`. */
  readonly changed?: boolean;
  /** All that `revert` needs to undo this; recorded only when something changed. Plain data and bytes. */
  readonly memo?: unknown;
}

/** A state that failed after it had done something worth showing. */
export class StateFailure extends Error {
  readonly details: Details;
  readonly changed: boolean;
  readonly memo: unknown;

  constructor(
    message: string,
    { details = {}, changed = false, memo }: {
      details?: Details;
      changed?: boolean;
      memo?: unknown;
    } = {},
  ) {
    super(message);
    this.details = details;
    this.changed = changed;
    this.memo = memo;
  }
}

export interface ApplyContext {
  /** Something that is watched has changed: act even without drift. */
  readonly isForced: boolean;
}

export interface StateModule extends Documented, ParamRules {
  readonly kind: "state";
  permissions(params: Params, facts: Facts): Grant;
  /** Null when there is nothing to do. Changes nothing. */
  check(params: Params, host: Host): Promise<Drift | null>;
  /** Looks again, and mends. Null when there was nothing to do after all. */
  apply(params: Params, host: Host, context: ApplyContext): Promise<Change | null>;
  /** Undoes what the memo tells. Absent: it cannot be undone, and `whyNoRevert` says why. */
  readonly revert?: (params: Params, memo: unknown, host: Host) => Promise<Change | null>;
  readonly whyNoRevert?: string;
}

export interface FunctionModule extends Documented, ParamRules {
  readonly kind: "function";
  /** Changes nothing, so it may run beside other work, in dry runs and in templates. */
  readonly isReadOnly: boolean;
  /**
   * Computes on its parameters alone and at once, so it may run in the peel's own process. Everything else runs in a
   * worker.
   */
  readonly isInline?: boolean;
  permissions(params: Params, facts: Facts): Grant;
  run(params: Params, host: Host): Promise<PlainValue> | PlainValue;
}

export type Module = StateModule | FunctionModule;

/** Decoded parameters of a module whose own types are not known here. */
export type Params = Readonly<Record<string, unknown>>;

interface StateSpec<Specs extends ParamSpecs, Memo> extends Documented {
  readonly params: Specs;
  readonly positional?: readonly (keyof Specs & string)[];
  readonly isOpen?: boolean;
  permissions(params: ParamsOf<Specs>, facts: Facts): Grant;
  check(params: ParamsOf<Specs>, host: Host): Promise<Drift | null> | Drift | null;
  apply(
    params: ParamsOf<Specs>,
    host: Host,
    context: ApplyContext,
  ): Promise<(Change & { memo?: Memo }) | null> | (Change & { memo?: Memo }) | null;
  revert?(params: ParamsOf<Specs>, memo: Memo, host: Host): Promise<Change | null>;
  readonly whyNoRevert?: string;
}

interface FunctionSpec<Specs extends ParamSpecs> extends Documented {
  readonly params: Specs;
  readonly positional?: readonly (keyof Specs & string)[];
  readonly isOpen?: boolean;
  readonly isReadOnly: boolean;
  readonly isInline?: boolean;
  /** Absent: it touches nothing. */
  permissions?(params: ParamsOf<Specs>, facts: Facts): Grant;
  run(params: ParamsOf<Specs>, host: Host): Promise<PlainValue> | PlainValue;
}

/** Declares a module that looks for drift and mends it. */
export function defineModule<const Specs extends ParamSpecs, Memo = unknown>(
  spec: StateSpec<Specs, Memo>,
): StateModule {
  // The parameters were decoded with these very specs, and the memo is what `apply` gave: the types hold.
  return { kind: "state", ...spec } as unknown as StateModule;
}

/** Declares a function that answers. */
export function defineFunction<const Specs extends ParamSpecs>(
  spec: FunctionSpec<Specs>,
): FunctionModule {
  return { kind: "function", permissions: () => ({}), ...spec } as unknown as FunctionModule;
}
