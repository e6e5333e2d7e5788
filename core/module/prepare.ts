/**
 * Makes a call of what was given: decodes the parameters and asks the module for its grant. Shipped modules are asked in
 * the peel's own process; one from the state tree is asked inside a worker, and only this plain description comes out.
 */
import { ZesterError } from "../errors.ts";
import type { Facts, Module, Params } from "../module.ts";
import type { Grant } from "./grant.ts";
import { decodeParams, type GivenParams } from "./params.ts";

/** A call ready to be held against the policy. Plain data. */
export interface PreparedCall {
  readonly name: string;
  readonly kind: Module["kind"];
  readonly isReadOnly: boolean;
  readonly canRevert: boolean;
  readonly whyNoRevert: string;
  readonly params: Params;
  readonly grant: Grant;
  /** Names of the parameters whose values are never shown. */
  readonly sensitive: readonly string[];
}

/** Key of the arguments that holds the bare words after the first one. */
export const WORDS_KEY = "_";

/** Decodes and asks. Throws `bad_params` with all that is wrong. */
export function prepareCall(
  module: Module,
  { id, args }: { readonly id: string; readonly args: Readonly<Record<string, unknown>> },
  facts: Facts,
): PreparedCall {
  const { name, kind } = module;
  const decoded = decodeParams(module, givenOf(module, id, args));
  if (!decoded.ok) throw new ZesterError("bad_params", `${name}: ${decoded.errors.join("; ")}`);
  const params = module.isOpen ? { ...decoded.extra, ...decoded.params } : { ...decoded.params };
  return {
    name,
    kind,
    isReadOnly: module.kind === "function" && module.isReadOnly,
    canRevert: module.kind === "state" && module.revert !== undefined,
    whyNoRevert: (module.kind === "state" ? module.whyNoRevert : undefined) ??
      "it changes nothing that could be undone",
    params,
    grant: module.permissions(params, facts),
    sensitive: Object.entries(module.params)
      .filter(([, spec]) => spec.isSensitive)
      .map(([parameter]) => parameter),
  };
}

/** A module that takes any parameter is given the further words as they are: it passes them on. */
function givenOf(
  { isOpen = false }: Module,
  id: string,
  args: Readonly<Record<string, unknown>>,
): GivenParams {
  const { [WORDS_KEY]: words, ...named } = args;
  if (isOpen || !Array.isArray(words)) return { id, args: isOpen ? args : named };
  return { id, args: named, words: words.map(String) };
}
