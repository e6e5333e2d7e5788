/** The documentation of a module, made from its spec alone: what the docs pages, `sys.doc` and `zester doc` show. */
import type { Module } from "../module.ts";
import type { Param } from "./params.ts";

/** One parameter as plain data. */
export interface ParamDoc {
  readonly name: string;
  readonly type: string;
  readonly usage: string;
  /** `required`, `the id`, a default, or empty. */
  readonly absent: string;
  readonly aliases: readonly string[];
  readonly isSensitive: boolean;
}

/** A module as plain data: all that a reader may want to know. */
export interface ModuleDoc {
  readonly name: string;
  readonly kind: Module["kind"];
  readonly isReadOnly: boolean;
  readonly summary: string;
  readonly description: string;
  readonly params: readonly ParamDoc[];
  readonly isOpen: boolean;
  readonly positional: readonly string[];
  readonly primary: string | null;
  /** Whether it can be undone: "yes", or why not. */
  readonly revert: string;
  readonly examples: readonly { readonly title: string; readonly code: string }[];
  readonly differences: readonly string[];
}

/** The documentation of one module. */
export function documentModule(module: Module): ModuleDoc {
  const params = Object.entries(module.params);
  return {
    name: module.name,
    kind: module.kind,
    isReadOnly: module.kind === "function" && module.isReadOnly,
    summary: module.summary,
    description: module.description ?? "",
    params: params.map(([name, param]) => documentParam(name, param)),
    isOpen: module.isOpen ?? false,
    positional: module.positional ?? [],
    primary: params.find(([, { isPrimary }]) => isPrimary)?.[0] ?? null,
    revert: revertOf(module),
    examples: module.examples ?? [],
    differences: module.differences ?? [],
  };
}

function revertOf(module: Module): string {
  if (module.kind === "function") return "";
  return module.revert === undefined ? module.whyNoRevert ?? "no" : "yes";
}

function documentParam(name: string, param: Param<unknown>): ParamDoc {
  return {
    name,
    type: param.type,
    usage: param.usage,
    absent: absentOf(param),
    aliases: param.aliases ?? [],
    isSensitive: param.isSensitive ?? false,
  };
}

function absentOf({ isPrimary, isRequired, fallback, usedWhenAbsent }: Param<unknown>): string {
  if (isPrimary && isRequired) return "the id";
  if (isRequired) return "required";
  if (fallback !== undefined) return `default ${JSON.stringify(fallback)}`;
  return usedWhenAbsent === undefined ? "" : `default ${usedWhenAbsent}`;
}

/** JSON Schema of the parameters, for editors and for the API. */
export function schemaOf(module: Module): Readonly<Record<string, unknown>> {
  const params = Object.entries(module.params);
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: module.name,
    description: module.summary,
    type: "object",
    properties: Object.fromEntries(
      params.flatMap(([name, param]) =>
        [name, ...(param.aliases ?? [])].map((key) => [key, propertyOf(param)])
      ),
    ),
    required: params.filter(([, { isRequired, isPrimary, aliases }]) =>
      isRequired && !isPrimary && (aliases ?? []).length === 0
    ).map(([name]) => name),
    additionalProperties: module.isOpen ?? false,
  };
}

function propertyOf({ schema, usage, fallback, isSensitive }: Param<unknown>) {
  return {
    ...schema,
    description: usage,
    ...(fallback === undefined ? {} : { default: fallback }),
    ...(isSensitive ? { writeOnly: true } : {}),
  };
}

/** The documentation as text for a terminal. */
export function docText(doc: ModuleDoc): string {
  const parts = [`${doc.name}: ${doc.summary}`];
  if (doc.description !== "") parts.push(doc.description);
  if (doc.params.length > 0) parts.push(`Parameters\n${doc.params.map(paramLine).join("\n")}`);
  if (doc.isOpen) parts.push("Takes any further parameter.");
  if (doc.revert !== "") parts.push(`Undo: ${doc.revert}`);
  parts.push(...doc.examples.map(({ title, code }) => `${title}\n${indented(code)}`));
  if (doc.differences.length > 0) {
    parts.push(`Unlike Salt\n${doc.differences.map((each) => `  - ${each}`).join("\n")}`);
  }
  return parts.join("\n\n");
}

function paramLine({ name, type, usage, absent, aliases, isSensitive }: ParamDoc): string {
  const notes = [
    absent,
    aliases.length === 0 ? "" : `also ${aliases.join(", ")}`,
    isSensitive ? "never shown" : "",
  ].filter((note) => note !== "");
  return `  ${name} (${type}${notes.length === 0 ? "" : `; ${notes.join("; ")}`})\n      ${usage}`;
}

function indented(text: string): string {
  return text.split("\n").map((line) => `  ${line}`).join("\n");
}
