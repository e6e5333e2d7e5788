/**
 * What the tidy rules know of a source file. Deno's own parser (the one behind lint plugins, available in `deno test`) reads
 * it, so comments, strings and templates cannot fool a rule.
 */
import { posix } from "node:path";

/** A file as it lies in the tree; `path` is relative to the root, with `/`. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Found<T> {
  readonly line: number;
  readonly value: T;
}

export interface Import {
  readonly specifier: string;
  /** Path from the root for a relative one; undefined for packages and built-ins. */
  readonly path: string | undefined;
  /** Names taken from it, by their exported name; `*` for the whole. */
  readonly names: readonly string[];
}

export interface ParsedSource extends Source {
  /** Imports and re-exports, static and dynamic, and files named by `new URL("./x.ts", import.meta.url)`. */
  readonly imports: readonly Found<Import>[];
  /** Uses of globals with the members taken from them: `Deno.readFile`, `setTimeout`, `new Date()`. */
  readonly globals: readonly Found<string>[];
  /** String literals and the chunks of templates; the text before the first hole is marked as the start. */
  readonly strings: readonly Found<{ text: string; isStart: boolean }>[];
  /** Constants that are plain numbers or arithmetic on them. */
  readonly numbers: readonly Found<{ name: string; value: number }>[];
  /** Where the type `any` stands. */
  readonly anys: readonly Found<"any">[];
  /** The `name` given to `defineModule` or `defineFunction`. */
  readonly moduleNames: readonly Found<string>[];
}

/** Globals that only adapters may touch. */
const WATCHED = new Set([
  "AbortSignal",
  "Date",
  "Deno",
  "Math",
  "Temporal",
  "WebSocket",
  "clearInterval",
  "clearTimeout",
  "crypto",
  "fetch",
  "performance",
  "process",
  "setInterval",
  "setTimeout",
]);

/** Other names of the global object. */
const GLOBAL_OBJECTS = new Set(["globalThis", "self", "window"]);

/** Parses one file. Throws if it is not TypeScript. */
export function parseSource(source: Source): ParsedSource {
  const facts = {
    imports: [] as Found<Import>[],
    globals: [] as Found<string>[],
    strings: [] as Found<{ text: string; isStart: boolean }>[],
    numbers: [] as Found<{ name: string; value: number }>[],
    anys: [] as Found<"any">[],
    moduleNames: [] as Found<string>[],
  };
  const lineOf = lineCounter(source.text);
  const at = <T>(node: Deno.lint.Node, value: T) => ({ line: lineOf(node.range[0]), value });
  const addImport = (node: Deno.lint.Node, specifier: unknown, names: string[]) => {
    if (typeof specifier !== "string") return;
    facts.imports.push(at(node, { specifier, path: resolved(source.path, specifier), names }));
  };
  const plugin: Deno.lint.Plugin = {
    name: "tidy",
    rules: {
      read: {
        create: () => ({
          ImportDeclaration(node) {
            addImport(node, node.source.value, node.specifiers.map(importedName));
          },
          ExportNamedDeclaration(node) {
            if (node.source) addImport(node, node.source.value, ["*"]);
          },
          ExportAllDeclaration(node) {
            addImport(node, node.source.value, ["*"]);
          },
          ImportExpression(node) {
            if (node.source.type === "Literal") addImport(node, node.source.value, ["*"]);
          },
          NewExpression(node) {
            const file = urlOfModule(node);
            if (file !== undefined) addImport(node, file, ["*"]);
            if (isName(node.callee, "Date") && node.arguments.length === 0) {
              facts.globals.push(at(node, "new Date()"));
            }
          },
          Identifier(node) {
            if (!WATCHED.has(node.name) || !isGlobalUse(node)) return;
            facts.globals.push(at(node, withMember(node)));
          },
          Literal(node) {
            if (typeof node.value !== "string" || isSpecifier(node)) return;
            facts.strings.push(at(node, { text: node.value, isStart: true }));
          },
          TemplateLiteral(node) {
            node.quasis.forEach((chunk, index) => {
              facts.strings.push(at(chunk, { text: chunk.cooked, isStart: index === 0 }));
            });
          },
          VariableDeclarator(node) {
            const value = numericValue(node.init);
            if (node.id.type !== "Identifier" || value === undefined) return;
            facts.numbers.push(at(node, { name: node.id.name, value }));
          },
          TSAnyKeyword(node) {
            facts.anys.push(at(node, "any"));
          },
          CallExpression(node) {
            const name = moduleName(node);
            if (name !== undefined) facts.moduleNames.push(at(node, name));
          },
        }),
      },
    },
  };
  Deno.lint.runPlugin(plugin, source.path, source.text);
  return { ...source, ...facts };
}

function lineCounter(text: string): (offset: number) => number {
  const starts = [0];
  for (const { index } of text.matchAll(/\n/g)) starts.push(index + 1);
  return (offset) => {
    const next = starts.findIndex((start) => start > offset);
    return next === -1 ? starts.length : next;
  };
}

function resolved(from: string, specifier: string): string | undefined {
  return /^\.{1,2}\//.test(specifier) ? posix.join(posix.dirname(from), specifier) : undefined;
}

function importedName(node: Deno.lint.ImportDeclaration["specifiers"][number]): string {
  if (node.type === "ImportDefaultSpecifier") return "default";
  if (node.type === "ImportNamespaceSpecifier") return "*";
  return node.imported.type === "Identifier" ? node.imported.name : String(node.imported.value);
}

/** The file of `new URL("./x.ts", import.meta.url)`. */
function urlOfModule(node: Deno.lint.NewExpression): string | undefined {
  const [path, base] = node.arguments;
  if (!isName(node.callee, "URL") || path?.type !== "Literal") return undefined;
  if (base?.type !== "MemberExpression" || base.object.type !== "MetaProperty") return undefined;
  return typeof path.value === "string" && /\.tsx?$/.test(path.value) ? path.value : undefined;
}

function isName(node: Deno.lint.Node, name: string): boolean {
  return node.type === "Identifier" && node.name === name;
}

/** False where the word is the name of a member, a key or a declaration: there it means something else. */
function isGlobalUse(node: Deno.lint.Identifier): boolean {
  const parent = node.parent as Deno.lint.Node | undefined;
  switch (parent?.type) {
    case "MemberExpression":
      return parent.object === node || parent.computed || isGlobalObject(parent.object);
    case "Property":
      return parent.value === node || parent.computed;
    case "PropertyDefinition":
    case "MethodDefinition":
      return parent.computed;
    default:
      return parent !== undefined && !/^(TS|Import|Export)/.test(parent.type) ||
        /^TS(As|NonNull|Satisfies)/.test(parent?.type ?? "");
  }
}

function isGlobalObject(node: Deno.lint.Node): boolean {
  return node.type === "Identifier" && GLOBAL_OBJECTS.has(node.name);
}

/** `Deno.readFile` for the `Deno` in it; the bare name where no member is taken. */
function withMember(node: Deno.lint.Identifier): string {
  let whole = node.parent as Deno.lint.Node | undefined;
  // globalThis.Deno.readFile: the member is one level up.
  if (whole?.type === "MemberExpression" && whole.object !== node) {
    whole = whole.parent as Deno.lint.Node | undefined;
  }
  if (whole?.type !== "MemberExpression" || whole.computed) return node.name;
  return whole.property.type === "Identifier" ? `${node.name}.${whole.property.name}` : node.name;
}

function isSpecifier(node: Deno.lint.Node): boolean {
  const parent = (node as { parent?: Deno.lint.Node }).parent;
  return /^(Import|Export(Named|All))/.test(parent?.type ?? "");
}

/** The value of a number or of arithmetic on numbers; undefined for anything else. */
function numericValue(node: Deno.lint.Node | null | undefined): number | undefined {
  switch (node?.type) {
    case "Literal":
      // The parser gives NaN for 1_000.
      return typeof node.value === "number" ? Number(node.raw.replaceAll("_", "")) : undefined;
    case "UnaryExpression": {
      const value = numericValue(node.argument);
      return value === undefined || node.operator !== "-" ? undefined : -value;
    }
    case "TSAsExpression":
      return numericValue(node.expression);
    case "BinaryExpression": {
      const left = numericValue(node.left);
      const right = numericValue(node.right);
      if (left === undefined || right === undefined) return undefined;
      return ARITHMETIC[node.operator]?.(left, right);
    }
    default:
      return undefined;
  }
}

const ARITHMETIC: Readonly<Record<string, (left: number, right: number) => number>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "**": (left, right) => left ** right,
};

function moduleName(node: Deno.lint.CallExpression): string | undefined {
  const spec = node.arguments[0];
  const defines = isName(node.callee, "defineModule") || isName(node.callee, "defineFunction");
  if (!defines || spec?.type !== "ObjectExpression") return undefined;
  for (const property of spec.properties) {
    if (property.type !== "Property" || !isName(property.key, "name")) continue;
    return property.value.type === "Literal" ? String(property.value.value) : "(computed)";
  }
  return undefined;
}
