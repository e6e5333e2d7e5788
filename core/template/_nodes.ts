/** The tree of a template as nunjucks' parser makes it, with the nodes that we add, told apart by `typename`. */

interface At {
  readonly lineno: number;
  readonly colno: number;
}

/** A node by its name, with what it holds. */
type Made<Name extends string, Fields = unknown> = At & { readonly typename: Name } & Fields;

type Binary = { readonly left: Expression; readonly right: Expression };
type Body = { readonly body: NodeList };

export type NodeList = Made<"NodeList" | "Root", { readonly children: Node[] }>;
export type Pair = Made<"Pair", { readonly key: Expression; readonly value: Expression }>;
export type KeywordArgs = Made<"KeywordArgs", { readonly children: Pair[] }>;
export type NameNode = Made<"Symbol", { readonly value: string }>;
export type Slice = Made<"Slice", {
  readonly start: Expression | null;
  readonly stop: Expression | null;
  readonly step: Expression | null;
}>;
/** `*list` and `**dict` among arguments. */
export type Spread = Made<"Spread", { readonly target: Expression; readonly named: boolean }>;
export type CallNode = Made<"FunCall", { readonly name: Expression; readonly args: NodeList }>;
export type FilterNode = Made<"Filter", { readonly name: NameNode; readonly args: NodeList }>;
export type LookupNode = Made<
  "LookupVal",
  { readonly target: Expression; readonly val: Expression | null }
>;
export type InlineIf = Made<"InlineIf", {
  readonly cond: Expression;
  readonly body: Expression;
  readonly else_: Expression | null;
}>;
export type CompareNode = Made<"Compare", {
  readonly expr: Expression;
  readonly ops: readonly { readonly expr: Expression; readonly type: string }[];
}>;
export type BinaryNode = Made<
  | "In"
  | "Is"
  | "Or"
  | "And"
  | "Add"
  | "Concat"
  | "Sub"
  | "Mul"
  | "Div"
  | "FloorDiv"
  | "Mod"
  | "Pow",
  Binary
>;
export type MacroNode = Made<
  "Macro" | "Caller",
  Body & { readonly name: NameNode; readonly args: NodeList }
>;

/** What has a value. */
export type Expression =
  | Made<"Literal" | "TemplateData", { readonly value: string | number | boolean | null }>
  | NameNode
  | Made<"Group" | "Array", { readonly children: Expression[] }>
  | Made<"Dict", { readonly children: Pair[] }>
  | LookupNode
  | Slice
  | InlineIf
  | CallNode
  | FilterNode
  | Made<"Capture", Body>
  | Made<"Not" | "Neg" | "Pos", { readonly target: Expression }>
  | BinaryNode
  | CompareNode
  | KeywordArgs
  | Spread
  | MacroNode;

export type IfNode = Made<
  "If",
  Body & { readonly cond: Expression; readonly else_: IfNode | NodeList | null }
>;
export type ForNode = Made<
  "For",
  Body & {
    readonly arr: Expression;
    readonly name: Expression;
    readonly else_: NodeList | null;
  }
>;
export type SetNode = Made<"Set", {
  readonly targets: readonly Expression[];
  readonly value: Expression | null;
  readonly body?: Expression;
}>;
export type ImportNode = Made<"Import", {
  readonly template: Expression;
  readonly target: Expression;
  readonly withContext: boolean | null;
}>;
export type FromImportNode = Made<"FromImport", {
  readonly template: Expression;
  readonly names: { readonly children: readonly (NameNode | Pair)[] };
  readonly withContext: boolean | null;
}>;
export type IncludeNode = Made<"Include", {
  readonly template: Expression;
  readonly ignoreMissing: boolean;
  readonly withContext: boolean;
}>;
export type BlockNode = Made<"Block", Body & { readonly name: NameNode }>;
export type WithNode = Made<
  "With",
  Body & { readonly names: readonly NameNode[]; readonly values: readonly Expression[] }
>;
/** `import_yaml "file" as name` and its relatives, or with a body: `load_yaml as name`. */
export type LoadNode = Made<"Load", {
  readonly format: DataFormat;
  readonly template: Expression | null;
  readonly body: NodeList | null;
  readonly target: NameNode;
}>;
export type DataFormat = "yaml" | "json" | "text";

/** What is done in its place. */
export type Statement =
  | NodeList
  | Made<"Output", { readonly children: readonly Expression[] }>
  | IfNode
  | ForNode
  | SetNode
  | MacroNode
  | ImportNode
  | FromImportNode
  | IncludeNode
  | BlockNode
  | Made<"Extends", { readonly template: Expression }>
  | Made<"Do", { readonly expression: Expression }>
  | Made<"LoopControl", { readonly what: "break" | "continue" }>
  | WithNode
  | LoadNode;

export type Node = Expression | Statement;
