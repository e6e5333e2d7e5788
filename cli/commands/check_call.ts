/**
 * Says what is certain to be wrong with a call of a shipped function, before anything is sent. Functions that are not in the
 * catalog may be modules of a fleet's state tree: of those nothing is known here.
 */
import { ZesterError } from "../../core/errors.ts";
import type { ModuleDoc, ParamDoc } from "../../core/module/doc.ts";
import { WORDS_KEY } from "../../core/module/prepare.ts";
import { RESERVED_PARAMETERS } from "../../core/module/reserved.ts";
import { nearest } from "../../core/nearest.ts";
import { printable } from "../../core/printable.ts";
import type { RunRequest } from "./run.ts";

export type Called = Pick<RunRequest, "function" | "id" | "args">;

/** Throws `bad_params` when the call cannot succeed on any peel of this version. */
export async function checkKnownCall(call: Called): Promise<void> {
  // Loaded here: help and the other commands do without it.
  const { catalogEntry } = await import("../../core/module/catalog.ts");
  const doc = catalogEntry(call.function);
  if (doc !== undefined) checkCall(doc, call);
}

/** The same for one module. */
export function checkCall(doc: ModuleDoc, call: Called): void {
  const given = givenIn(call);
  if (!doc.isOpen) {
    refuseUnknown(doc, call, given.names);
    refuseWords(doc, given.words);
  }
  const missing = doc.params.find((param) => isMissing(param, doc, call, given));
  if (missing !== undefined) throw missingError(doc, missing);
}

interface Given {
  readonly names: readonly string[];
  readonly words: readonly string[];
}

function givenIn({ args }: Called): Given {
  const { [WORDS_KEY]: words = [], ...named } = args;
  return { names: Object.keys(named), words: words as readonly string[] };
}

function refuseUnknown(doc: ModuleDoc, { id, args }: Called, names: readonly string[]): void {
  const known = doc.params.flatMap(({ name, aliases }) => [name, ...aliases]);
  const unknown = names.find((name) => !known.includes(name) && !RESERVED_PARAMETERS.has(name));
  if (unknown === undefined) return;
  const near = nearest(unknown, known);
  throw badCall(doc, `has no parameter \`${printable(unknown)}\``, [
    ...(near === null ? [] : [`did you mean \`${near}\`?`]),
    ...(near === null && id === null && doc.primary !== null
      ? [
        `if it is the ${doc.primary}, write ${doc.primary}='${
          printable(`${unknown}=${args[unknown]}`)
        }'`,
      ]
      : []),
    known.length === 0 ? "it takes none" : `it takes: ${known.join(", ")}`,
  ]);
}

function refuseWords(doc: ModuleDoc, words: readonly string[]): void {
  const tooMany = words[doc.positional.length];
  if (tooMany === undefined) return;
  const takes = [...(doc.primary === null ? [] : [doc.primary]), ...doc.positional];
  const bare = takes.length === 0 ? "no bare words" : `bare words for ${takes.join(", ")} only`;
  throw badCall(doc, `cannot take the word "${printable(tooMany)}"`, [
    `it takes ${bare}; write the others as key=value, and quote what belongs together`,
  ]);
}

function isMissing(param: ParamDoc, doc: ModuleDoc, { id }: Called, given: Given): boolean {
  const { name, aliases, absent } = param;
  if (absent !== "the id" && absent !== "required") return false;
  if ([name, ...aliases].some((each) => given.names.includes(each))) return false;
  if (name === doc.primary && id !== null) return false;
  const place = doc.positional.indexOf(name);
  return place < 0 || place >= given.words.length;
}

function missingError(doc: ModuleDoc, { name, usage }: ParamDoc): ZesterError {
  const article = /^[aeiou]/.test(name) ? "an" : "a";
  return badCall(doc, `requires ${article} ${name} argument`, [`${name}: ${usage}`]);
}

function badCall({ name }: ModuleDoc, problem: string, fix: readonly string[]): ZesterError {
  return new ZesterError("bad_params", `${name} ${problem}`, {
    fix: [...fix, `zester doc ${name}`].join("\n"),
  });
}
