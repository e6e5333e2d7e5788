/**
 * Walks the tree of a template. No code is ever made of a template: what it can do is what the branches below do, to values
 * that were copied in, within a budget.
 */
import { TEMPLATE_SOURCE_LENGTH_MAX } from "../limits.ts";
import {
  fileMissing,
  missingMember,
  notDefined,
  notExported,
  unknownMethod,
  unknownName,
} from "./_absent.ts";
import * as args from "./_arguments.ts";
import { Budget } from "./_budget.ts";
import { dataIn, type YamlParser } from "./_data.ts";
import { type FilterContext, filterNamed, filterNames } from "./_filters.ts";
import { functionNamed, functionNames, saltRoute, type Surroundings } from "./_functions.ts";
import { method } from "./_methods.ts";
import type {
  BinaryNode,
  BlockNode,
  CallNode,
  Expression,
  FilterNode,
  ForNode,
  FromImportNode,
  ImportNode,
  IncludeNode,
  KeywordArgs,
  LoadNode,
  LookupNode,
  MacroNode,
  Node,
  NodeList,
  SetNode,
  Slice,
  Statement,
  WithNode,
} from "./_nodes.ts";
import { compare, operate } from "./_operators.ts";
import { parse } from "./_parser.ts";
import { pathInSet } from "./_path.ts";
import { placed, Problem, type Source, spelled } from "./_problem.ts";
import type { RenderOptions } from "./render.ts";
import { Scope } from "./_scope.ts";
import { testNamed, testNames } from "./_tests.ts";
import {
  type Call,
  Callable,
  dataFrom,
  isTrue,
  itemsOf,
  kindOf,
  LoopState,
  memberOf,
  Missing,
  Namespace,
  OpaqueValue,
  Rendered,
  SaltName,
  sortedKeys,
  textOf,
  valueFrom,
} from "./_values.ts";

/** How a statement ended: a loop that is left says so upwards. */
type Ended = "break" | "continue" | undefined;

/** One definition of a block, with the template that it stands in. */
interface BlockVersion {
  readonly node: BlockNode;
  readonly source: Source;
}

/** What belongs to one template while it is rendered: itself, and the blocks of those that extend it. */
interface Sheet {
  readonly source: Source;
  readonly blocks: Map<string, BlockVersion[]>;
  parent: string | null;
}

const PAIRS: Readonly<Record<string, string>> = {
  facts: "grains",
  grains: "facts",
  settings: "pillar",
  pillar: "settings",
};

export class Evaluator {
  readonly budget: Budget;
  readonly #parsed = new Map<string, { source: Source; root: Node }>();
  readonly #copies = new Map<unknown, unknown>();
  readonly #around: Surroundings;
  readonly #filters: FilterContext;
  #printed: string[] = [];
  #loopDepth = 0;

  constructor(
    private readonly values: Readonly<Record<string, unknown>>,
    private readonly options: RenderOptions,
  ) {
    this.budget = new Budget(options.limits);
    this.#around = {
      budget: this.budget,
      facts: () => this.#value("facts") ?? new Map(),
      settings: () => this.#value("settings") ?? new Map(),
      salt: (name, call) => this.#callSalt(name, call),
    };
    this.#filters = {
      budget: this.budget,
      filter: (name, value, call) => this.#filter(name, value, call),
      test: (name, value, call) => this.#test(name, value, call),
    };
  }

  /** Text of a whole template. */
  render(source: Source): string {
    const sheet = { source, blocks: new Map(), parent: null };
    return this.#captured(() => this.#renderSheet(sheet, this.#parse(source), new Scope()));
  }

  // Templates and their files.

  #parse(source: Source): Node {
    if (source.text.length > TEMPLATE_SOURCE_LENGTH_MAX) {
      throw new Problem(`the template has more than ${TEMPLATE_SOURCE_LENGTH_MAX} characters`);
    }
    this.budget.text(source.text.length);
    return parse(source, this.options);
  }

  #load(wanted: unknown, from: Source): { source: Source; root: Node } | null {
    const { path, text } = this.#read(wanted, from);
    const known = this.#parsed.get(path);
    if (known !== undefined || text === null) return known ?? null;
    const source = { name: path, text };
    const loaded = { source, root: this.#parse(source) };
    this.#parsed.set(path, loaded);
    return loaded;
  }

  #read(wanted: unknown, from: Source): { path: string; text: string | null } {
    const path = pathInSet(args.text(wanted), from.name);
    const { includes } = this.options;
    if (includes === undefined) {
      throw new Problem(
        `the file ${JSON.stringify(path)} cannot be read: this template has no files beside it`,
      );
    }
    this.budget.step();
    return { path, text: outside(`the file ${JSON.stringify(path)}`, () => includes(path)) };
  }

  #mustLoad(wanted: unknown, from: Source): { source: Source; root: Node } {
    return this.#load(wanted, from) ?? fileMissing(wanted);
  }

  /** Renders a template and, if it extends another, that one with its blocks. */
  #renderSheet(sheet: Sheet, root: Node, scope: Scope): void {
    this.budget.nested(() => {
      collectBlocks(root, sheet);
      const before = this.#printed.length;
      this.#execute(root, scope, sheet);
      if (sheet.parent === null) return;
      // What a template prints outside its blocks is dropped when it extends another.
      this.#printed.length = before;
      const { source, root: base } = this.#mustLoad(sheet.parent, sheet.source);
      this.#renderSheet({ source, blocks: sheet.blocks, parent: null }, base, scope);
    });
  }

  /** Variables and macros that a template leaves behind; what it prints is dropped. */
  #moduleOf(node: ImportNode | FromImportNode, scope: Scope, sheet: Sheet): Scope {
    const { source, root } = this.#mustLoad(
      this.#evaluate(node.template, scope, sheet),
      sheet.source,
    );
    const top = new Scope(node.withContext ? scope : null);
    this.#captured(() => this.#renderSheet({ source, blocks: new Map(), parent: null }, root, top));
    return top;
  }

  // Statements.

  #execute(node: Node, scope: Scope, sheet: Sheet): Ended {
    try {
      this.budget.enter();
      return this.#executed(node as Statement, scope, sheet);
    } catch (thrown) {
      throw placed(thrown, sheet.source, node);
    } finally {
      this.budget.leave();
    }
  }

  #executed(node: Statement, scope: Scope, sheet: Sheet): Ended {
    switch (node.typename) {
      case "NodeList":
      case "Root":
        return this.#executeAll(node, scope, sheet);
      case "Output":
        for (const part of node.children) this.#print(part, scope, sheet);
        return;
      case "If":
        return this.#executeIf(node, scope, sheet);
      case "For":
        return this.#executeFor(node, scope, sheet);
      case "Set":
        return this.#executeSet(node, scope, sheet);
      case "Macro":
        return scope.set(node.name.value, this.#macro(node, scope, sheet)) as undefined;
      case "Import":
        return this.#executeImport(node, scope, sheet);
      case "FromImport":
        return this.#executeFromImport(node, scope, sheet);
      case "Include":
        return this.#executeInclude(node, scope, sheet);
      case "Block":
        if (sheet.parent === null) this.#executeBlock(node.name.value, 0, scope, sheet);
        return;
      case "Extends":
        sheet.parent = args.text(this.#evaluate(node.template, scope, sheet));
        return;
      case "Do":
        return void this.#evaluate(node.expression, scope, sheet);
      case "LoopControl":
        return node.what;
      case "With":
        return this.#executeWith(node, scope, sheet);
      case "Load":
        return this.#executeLoad(node, scope, sheet);
      default:
        throw new Problem(`\`${(node as Node).typename}\` cannot stand here`);
    }
  }

  #executeAll(list: NodeList, scope: Scope, sheet: Sheet): Ended {
    for (const child of list.children) {
      const ended = this.#execute(child, scope, sheet);
      if (ended !== undefined) return ended;
    }
    return undefined;
  }

  #print(part: Expression, scope: Scope, sheet: Sheet): void {
    if (part.typename === "TemplateData") return this.#write(String(part.value));
    const value = this.#evaluate(part, scope, sheet);
    try {
      this.#write(this.#printedText(value));
    } catch (thrown) {
      throw placed(thrown, sheet.source, part);
    }
  }

  #printedText(value: unknown): string {
    if (value instanceof Rendered) return value.text;
    this.#refuseMissing(value);
    const { onPrint } = this.options;
    if (onPrint !== undefined) {
      const data = dataFrom(value, this.budget);
      return outside("printing", () => onPrint(data));
    }
    if (value instanceof OpaqueValue) {
      throw new Problem(`\`${value.label}\` is a secret: it cannot be printed here`);
    }
    return textOf(value, this.budget);
  }

  #write(text: string): void {
    this.budget.output(text.length);
    this.#printed.push(text);
  }

  #captured(work: () => unknown): string {
    const outer = this.#printed;
    this.#printed = [];
    try {
      work();
      return this.#printed.join("");
    } finally {
      this.#printed = outer;
    }
  }

  #executeIf(node: Statement & { typename: "If" }, scope: Scope, sheet: Sheet): Ended {
    if (this.#isTrue(node.cond, scope, sheet)) return this.#execute(node.body, scope, sheet);
    return node.else_ === null ? undefined : this.#execute(node.else_, scope, sheet);
  }

  #executeFor(node: ForNode, scope: Scope, sheet: Sheet): Ended {
    const items = this.#loopItems(node, scope, sheet);
    if (items.length === 0) {
      return node.else_ === null ? undefined : this.#execute(node.else_, new Scope(scope), sheet);
    }
    const loop = new LoopState(items, ++this.#loopDepth);
    try {
      for (const item of items) {
        const inner = new Scope(scope);
        inner.set("loop", loop);
        this.#assign([node.name], item, inner, sheet);
        if (this.#execute(node.body, inner, sheet) === "break") return undefined;
        loop.index0++;
      }
    } finally {
      this.#loopDepth--;
    }
    return undefined;
  }

  /** `for x in list if condition`: the parser gives it as a choice without an else. */
  #loopItems(node: ForNode, scope: Scope, sheet: Sheet): unknown[] {
    const { arr } = node;
    const filtered = arr.typename === "InlineIf" && arr.else_ === null ? arr : null;
    const from = this.#evaluate(filtered?.body ?? arr, scope, sheet);
    this.#refuseMissing(from);
    const pairs = from instanceof Map && node.name.typename === "Array";
    const items = pairs
      ? sortedKeys(from).map((key) => [key, from.get(key)])
      : itemsOf(from, this.budget);
    if (filtered === null) return items;
    return items.filter((item) => {
      const inner = new Scope(scope);
      this.#assign([node.name], item, inner, sheet);
      return this.#isTrue(filtered.cond, inner, sheet);
    });
  }

  #executeSet(node: SetNode, scope: Scope, sheet: Sheet): undefined {
    const value = this.#evaluate((node.body ?? node.value)!, scope, sheet);
    this.#assign(node.targets, value, scope, sheet);
  }

  /** One target takes the value; several take one member each. */
  #assign(targets: readonly Expression[], value: unknown, scope: Scope, sheet: Sheet): void {
    const [first] = targets;
    if (targets.length === 1 && first !== undefined) {
      return this.#assignOne(first, value, scope, sheet);
    }
    const items = itemsOf(value, this.budget);
    if (items.length !== targets.length) {
      throw new Problem(`there are ${targets.length} names for ${items.length} values`);
    }
    targets.forEach((target, at) => this.#assignOne(target, items[at], scope, sheet));
  }

  #assignOne(target: Expression, value: unknown, scope: Scope, sheet: Sheet): void {
    if (target.typename === "Symbol") return scope.set(target.value, value);
    if (target.typename === "Array") return this.#assign(target.children, value, scope, sheet);
    if (target.typename === "Group") return this.#assign(target.children, value, scope, sheet);
    if (target.typename !== "LookupVal" || target.val === null) {
      throw new Problem("only a name can be set");
    }
    const holder = this.#evaluate(target.target, scope, sheet);
    if (!(holder instanceof Namespace)) {
      throw new Problem(`a member of ${kindOf(holder)} cannot be set`, {
        fix: "use `{% do dict.update({...}) %}`, or a `namespace()`",
      });
    }
    holder.members.set(this.#evaluate(target.val, scope, sheet), value);
  }

  #executeImport(node: ImportNode, scope: Scope, sheet: Sheet): undefined {
    const module = this.#moduleOf(node, scope, sheet);
    if (node.target.typename !== "Symbol") throw new Problem("needs a name after `as`");
    scope.set(node.target.value, new Map(module.own()));
  }

  #executeFromImport(node: FromImportNode, scope: Scope, sheet: Sheet): undefined {
    const module = this.#moduleOf(node, scope, sheet).own();
    for (const wanted of node.names.children) {
      const [from, to] = importedNames(wanted);
      const value = module.get(from);
      if (!module.has(from)) throw notExported(from, [...module.keys()]);
      scope.set(to, value);
    }
  }

  #executeInclude(node: IncludeNode, scope: Scope, sheet: Sheet): undefined {
    const wanted = this.#evaluate(node.template, scope, sheet);
    const choices = Array.isArray(wanted) ? wanted : [wanted];
    for (const choice of choices) {
      const loaded = this.#load(choice, sheet.source);
      if (loaded === null) continue;
      const inner = new Scope(node.withContext ? scope : null);
      const { source, root } = loaded;
      return void this.#renderSheet({ source, blocks: new Map(), parent: null }, root, inner);
    }
    if (!node.ignoreMissing) fileMissing(wanted);
  }

  /** Version 0 of a block is the one of the template that extends all others; `super()` prints the next. */
  #executeBlock(name: string, version: number, scope: Scope, sheet: Sheet): void {
    const found = sheet.blocks.get(name)?.[version];
    if (found === undefined) throw new Problem(`the block \`${name}\` has nothing above it`);
    const inner = new Scope(scope);
    inner.set(
      "super",
      new Callable("super", () => {
        return this.#rendered(() => this.#executeBlock(name, version + 1, scope, sheet));
      }),
    );
    const own: Sheet = { source: found.source, blocks: sheet.blocks, parent: null };
    this.budget.nested(() => this.#execute(found.node.body, inner, own));
  }

  #executeWith(node: WithNode, scope: Scope, sheet: Sheet): Ended {
    const inner = new Scope(scope);
    node.names.forEach((name, at) =>
      inner.set(name.value, this.#evaluate(node.values[at]!, scope, sheet))
    );
    return this.#execute(node.body, inner, sheet);
  }

  #executeLoad(node: LoadNode, scope: Scope, sheet: Sheet): undefined {
    const text = node.body === null
      ? this.#fileText(this.#evaluate(node.template!, scope, sheet), sheet)
      : this.#captured(() => this.#execute(node.body!, new Scope(scope), sheet));
    scope.set(
      node.target.value,
      dataIn(text, node.format, { budget: this.budget, ...yamlOf(this.options) }),
    );
  }

  /** A file that is loaded as data is a template first, as in Salt. */
  #fileText(wanted: unknown, sheet: Sheet): string {
    const { source, root } = this.#mustLoad(wanted, sheet.source);
    return this.#captured(() =>
      this.#renderSheet({ source, blocks: new Map(), parent: null }, root, new Scope())
    );
  }

  // Expressions.

  #evaluate(node: Expression, scope: Scope, sheet: Sheet): unknown {
    try {
      this.budget.enter();
      return this.#evaluated(node, scope, sheet);
    } catch (thrown) {
      throw placed(thrown, sheet.source, node);
    } finally {
      this.budget.leave();
    }
  }

  #evaluated(node: Expression, scope: Scope, sheet: Sheet): unknown {
    switch (node.typename) {
      case "Literal":
      case "TemplateData":
        return node.value;
      case "Symbol":
        return this.#variable(node.value, scope);
      case "Group":
        return this.#evaluate(node.children[0]!, scope, sheet);
      case "Array":
        return node.children.map((child) => this.#evaluate(child, scope, sheet));
      case "Dict":
        return new Map(node.children.map(({ key, value }) => [
          keyOf(this.#evaluate(key, scope, sheet)),
          this.#evaluate(value, scope, sheet),
        ]));
      case "LookupVal":
        return this.#lookup(node, scope, sheet);
      case "InlineIf":
        if (this.#isTrue(node.cond, scope, sheet)) return this.#evaluate(node.body, scope, sheet);
        return node.else_ === null ? "" : this.#evaluate(node.else_, scope, sheet);
      case "FunCall":
        return this.#call(node, scope, sheet);
      case "Filter":
        return this.#applyFilter(node, scope, sheet);
      case "Capture":
        return this.#rendered(() => this.#execute(node.body, new Scope(scope), sheet));
      case "Not":
        return !this.#isTrue(node.target, scope, sheet);
      case "Neg":
        return -args.number(this.#known(node.target, scope, sheet));
      case "Pos":
        return args.number(this.#known(node.target, scope, sheet));
      case "Compare":
        return this.#compared(node, scope, sheet);
      case "Caller":
        return this.#macro(node, scope, sheet);
      case "Slice":
      case "Spread":
      case "KeywordArgs":
      case "Macro":
        throw new Problem("this cannot stand here");
      default:
        return this.#binary(node, scope, sheet);
    }
  }

  #rendered(work: () => unknown): unknown {
    const text = this.#captured(work);
    return this.options.onPrint === undefined ? text : new Rendered(text);
  }

  #isTrue(node: Expression, scope: Scope, sheet: Sheet): boolean {
    const value = this.#evaluate(node, scope, sheet);
    try {
      this.#refuseMissing(value);
      return isTrue(value);
    } catch (thrown) {
      throw placed(thrown, sheet.source, node);
    }
  }

  /** A value that an operator needs: with strict templates it has to be there. */
  #known(node: Expression, scope: Scope, sheet: Sheet): unknown {
    const value = this.#evaluate(node, scope, sheet);
    try {
      this.#refuseMissing(value);
    } catch (thrown) {
      throw placed(thrown, sheet.source, node);
    }
    return value;
  }

  #refuseMissing(value: unknown): void {
    if (this.options.undefined === "error" && value instanceof Missing) throw notDefined(value);
  }

  #compared(node: Expression & { typename: "Compare" }, scope: Scope, sheet: Sheet): boolean {
    let left = this.#known(node.expr, scope, sheet);
    for (const { expr, type } of node.ops) {
      const right = this.#known(expr, scope, sheet);
      if (!compare(type, left, right, this.budget)) return false;
      left = right;
    }
    return true;
  }

  #binary(node: BinaryNode, scope: Scope, sheet: Sheet): unknown {
    if (node.typename === "Is") return this.#is(node, scope, sheet);
    if (node.typename === "And" || node.typename === "Or") {
      const left = this.#evaluate(node.left, scope, sheet);
      this.#refuseMissing(left);
      return isTrue(left) === (node.typename === "Or")
        ? left
        : this.#evaluate(node.right, scope, sheet);
    }
    const left = this.#known(node.left, scope, sheet);
    return operate(node.typename, left, this.#known(node.right, scope, sheet), this.budget);
  }

  #is(node: BinaryNode, scope: Scope, sheet: Sheet): boolean {
    const value = this.#evaluate(node.left, scope, sheet);
    const { right } = node;
    if (right.typename === "Literal") {
      return this.#test(String(right.value ?? "none"), value, NO_ARGUMENTS);
    }
    if (right.typename === "Symbol") return this.#test(right.value, value, NO_ARGUMENTS);
    if (right.typename !== "FunCall" || right.name.typename !== "Symbol") {
      throw new Problem("needs the name of a test after `is`");
    }
    return this.#test(right.name.value, value, this.#arguments(right.args, scope, sheet));
  }

  #test(name: string, value: unknown, call: Call): boolean {
    const test = testNamed(name);
    if (test === null) throw unknownName("test", name, testNames());
    return test(value, call, {
      budget: this.budget,
      hasFilter: (filter) => filterNamed(filter) !== null,
    });
  }

  #applyFilter(node: FilterNode, scope: Scope, sheet: Sheet): unknown {
    const [input, ...rest] = node.args.children as Expression[];
    const value = this.#evaluate(input!, scope, sheet);
    const call = this.#arguments({ ...node.args, children: rest }, scope, sheet);
    const name = node.name.value;
    if (name !== "default" && name !== "d") this.#refuseMissing(value);
    return named(`the filter \`${name}\``, () => this.#filter(name, value, call));
  }

  #filter(name: string, value: unknown, call: Call): unknown {
    const filter = filterNamed(name);
    if (filter === null) throw unknownName("filter", name, filterNames());
    this.budget.step();
    return filter(value, call, this.#filters);
  }

  // Names and members.

  #variable(name: string, scope: Scope): unknown {
    const own = scope.get(name);
    if (own !== undefined) return own;
    const value = this.#value(name);
    if (value !== undefined) return value;
    const host = this.#hostFunction(name) ?? functionNamed(name, this.#around);
    if (host !== null) return host;
    if (name === "salt") return new SaltName("");
    return new Missing(name, this.#namesInSight(scope));
  }

  /** A variable that was passed in, copied when it is first asked for. The same thing under two names stays the same. */
  #value(name: string): unknown {
    const key = Object.hasOwn(this.values, name) ? name : PAIRS[name] ?? name;
    const property = Object.getOwnPropertyDescriptor(this.values, key);
    if (property === undefined || !("value" in property) || property.value === undefined) {
      return undefined;
    }
    const data: unknown = property.value;
    if (!this.#copies.has(data)) this.#copies.set(data, valueFrom(data, this.budget));
    return this.#copies.get(data);
  }

  #hostFunction(name: string): Callable | null {
    const { functions } = this.options;
    if (functions === undefined || !Object.hasOwn(functions, name)) return null;
    const host = functions[name]!;
    return new Callable(name, (call) => this.#asked(name, call, host));
  }

  /** Calls out of the template with plain data, and copies the answer in. */
  #asked(
    what: string,
    call: Call,
    ask: (positional: unknown[], named: Record<string, unknown>) => unknown,
  ): unknown {
    const positional = call.positional.map((value) => dataFrom(value, this.budget));
    const named = dataFrom(call.named, this.budget) as Record<string, unknown>;
    return valueFrom(outside(what, () => ask(positional, named)), this.budget);
  }

  #namesInSight(scope: Scope): string[] {
    const functions = Object.keys(this.options.functions ?? {});
    return [
      ...new Set([...scope.names(), ...Object.keys(this.values), ...functions, ...functionNames()]),
    ];
  }

  #lookup(node: LookupNode, scope: Scope, sheet: Sheet): unknown {
    const holder = this.#known(node.target, scope, sheet);
    if (node.val === null) throw new Problem("needs an index between `[` and `]`");
    if (node.val.typename === "Slice") return this.#slice(holder, node.val, scope, sheet);
    const key = this.#known(node.val, scope, sheet);
    const found = memberOf(holder, key);
    return found === undefined ? missingMember(node, holder) : found;
  }

  #slice(holder: unknown, slice: Slice, scope: Scope, sheet: Sheet): unknown {
    const bound = (node: Expression | null): number | undefined => {
      const value = node === null ? null : this.#known(node, scope, sheet);
      return value === null ? undefined : args.number(value);
    };
    const [start, stop, step = 1] = [bound(slice.start), bound(slice.stop), bound(slice.step)];
    if (step === 0) throw new Problem("a slice needs a step that is not zero");
    const items = itemsOf(holder, this.budget);
    const picked = stepped(step > 0 ? items : items.toReversed(), { start, stop, step });
    return Array.isArray(holder) ? picked : picked.join("");
  }

  #call(node: CallNode, scope: Scope, sheet: Sheet): unknown {
    const called = this.#callee(node.name, scope, sheet);
    const call = this.#arguments(node.args, scope, sheet);
    return named(`\`${spelled(node.name)}\``, () => called(call));
  }

  /** What a call runs: a member that can be called, else a method of the tables, else a value that can be called. */
  #callee(name: Expression, scope: Scope, sheet: Sheet): (call: Call) => unknown {
    if (name.typename !== "LookupVal" || name.val === null) {
      return this.#invoker(this.#evaluate(name, scope, sheet), name);
    }
    const holder = this.#known(name.target, scope, sheet);
    const key = this.#evaluate(name.val, scope, sheet);
    const member = memberOf(holder, key);
    if (member instanceof Callable || member instanceof SaltName) {
      return this.#invoker(member, name);
    }
    const found = typeof key === "string" ? method(holder, key) : null;
    if (found !== null) return (call) => found(call, this.budget);
    if (member !== undefined) return this.#invoker(member, name);
    if (holder instanceof Missing) throw notDefined(holder);
    throw unknownMethod(holder, String(key));
  }

  #invoker(value: unknown, node: Expression): (call: Call) => unknown {
    if (value instanceof Callable) {
      return (call) => this.budget.nested(() => value.invoke(call)) ?? null;
    }
    if (value instanceof SaltName) return (call) => this.#callSalt(value.name, call);
    if (value instanceof Missing) throw notDefined(value);
    throw new Problem(`\`${spelled(node)}\` is ${kindOf(value)}: it cannot be called`);
  }

  #callSalt(name: string, call: Call): unknown {
    const route = saltRoute(name);
    if (route !== null) return route(call, this.#around);
    const what = `salt[${JSON.stringify(name)}]`;
    const { call: ask } = this.options;
    if (ask === undefined) {
      throw new Problem(`${what}: execution functions cannot be called in this template`);
    }
    return this.#asked(what, call, (positional, named) => ask(name, positional, named));
  }

  #arguments(list: NodeList, scope: Scope, sheet: Sheet): Call {
    if (list.children.length === 0) return NO_ARGUMENTS;
    const positional: unknown[] = [];
    const named = new Map<string, unknown>();
    for (const argument of list.children as Expression[]) {
      if (argument.typename === "KeywordArgs") {
        for (const [name, value] of this.#namedArguments(argument, scope, sheet)) {
          named.set(name, value);
        }
      } else if (argument.typename !== "Spread") {
        positional.push(this.#evaluate(argument, scope, sheet));
      } else if (argument.named) {
        const from = this.#evaluate(argument.target, scope, sheet);
        if (!(from instanceof Map)) throw new Problem(`\`**\` needs a dict, not ${kindOf(from)}`);
        this.budget.step(from.size);
        for (const [key, value] of from) named.set(String(key), value);
      } else {
        for (const item of itemsOf(this.#evaluate(argument.target, scope, sheet), this.budget)) {
          positional.push(item);
        }
      }
    }
    return { positional, named };
  }

  #namedArguments(list: KeywordArgs, scope: Scope, sheet: Sheet): [string, unknown][] {
    return list.children.map(({ key, value }) => {
      if (key.typename !== "Symbol") {
        throw new Problem("the name of an argument has to be a plain name");
      }
      return [key.value, this.#evaluate(value, scope, sheet)];
    });
  }

  /** A macro sees the variables around its definition, and never those of its caller. */
  #macro(node: MacroNode, scope: Scope, sheet: Sheet): Callable {
    return new Callable(node.name.value, (call) => {
      const inner = new Scope(scope);
      this.#bindParameters(node, call, inner, sheet);
      return this.#rendered(() => this.#execute(node.body, inner, sheet));
    });
  }

  #bindParameters(node: MacroNode, call: Call, inner: Scope, sheet: Sheet): void {
    const parameters = parametersOf(node);
    const extra = new Map(call.named);
    parameters.forEach(({ name, otherwise }, at) => {
      const given = at < call.positional.length ? call.positional[at] : extra.get(name);
      extra.delete(name);
      if (given !== undefined) return inner.set(name, given);
      inner.set(
        name,
        otherwise === null ? new Missing(name) : this.#evaluate(otherwise, inner, sheet),
      );
    });
    inner.set("caller", extra.get("caller") ?? new Missing("caller"));
    extra.delete("caller");
    inner.set("varargs", call.positional.slice(parameters.length));
    inner.set("kwargs", extra);
  }
}

const NO_ARGUMENTS: Call = { positional: [], named: new Map() };

function yamlOf(options: RenderOptions): { parseYaml?: YamlParser } {
  return options.parseYaml === undefined ? {} : { parseYaml: options.parseYaml };
}

/** What those outside throw becomes a failure of the template, with its place. */
function outside<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message : String(thrown);
    throw new Problem(`${what}: ${why}`, { cause: thrown });
  }
}

/** Says which function a failure without a name is about. */
function named<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (thrown) {
    const isBare = thrown instanceof Problem && thrown.place === null &&
      /^(needs|takes|has no argument)/.test(thrown.message);
    if (!isBare) throw thrown;
    throw new Problem(`${what} ${thrown.message}`, thrown.hints);
  }
}

interface Parameter {
  readonly name: string;
  readonly otherwise: Expression | null;
}

function parametersOf(node: MacroNode): Parameter[] {
  return (node.args.children as Expression[]).flatMap((parameter): Parameter[] => {
    if (parameter.typename === "Symbol") return [{ name: parameter.value, otherwise: null }];
    if (parameter.typename !== "KeywordArgs") {
      throw new Problem("a parameter has to be a plain name");
    }
    return parameter.children.map(({ key, value }) => {
      if (key.typename !== "Symbol") throw new Problem("a parameter has to be a plain name");
      return { name: key.value, otherwise: value };
    });
  });
}

function collectBlocks(root: Node, sheet: Sheet): void {
  for (const node of blocksIn(root)) {
    const versions = sheet.blocks.get(node.name.value) ?? [];
    sheet.blocks.set(node.name.value, [...versions, { node, source: sheet.source }]);
  }
}

/** All blocks below a node, those inside other blocks included. */
function blocksIn(node: Node): BlockNode[] {
  switch (node.typename) {
    case "NodeList":
    case "Root":
      return node.children.flatMap(blocksIn);
    case "Block":
      return [node, ...blocksIn(node.body)];
    case "If":
      return [...blocksIn(node.body), ...(node.else_ === null ? [] : blocksIn(node.else_))];
    case "For":
    case "With":
      return blocksIn(node.body);
    default:
      return [];
  }
}

function importedNames(
  wanted: FromImportNode["names"]["children"][number],
): [from: string, to: string] {
  const [from, to] = wanted.typename === "Pair" ? [wanted.key, wanted.value] : [wanted, wanted];
  if (from.typename !== "Symbol" || to.typename !== "Symbol") {
    throw new Problem("only names can be imported");
  }
  return [from.value, to.value];
}

/** A dict has no keys that cannot be compared. */
function keyOf(key: unknown): unknown {
  if (key instanceof Rendered) return key.text;
  const isScalar = key === null || ["string", "number", "boolean"].includes(typeof key);
  if (!isScalar) throw new Problem(`${kindOf(key)} cannot be a key`);
  return key;
}

function stepped(
  items: readonly unknown[],
  how: { start: number | undefined; stop: number | undefined; step: number },
): unknown[] {
  const { length } = items;
  const place = (at: number | undefined, otherwise: number): number => {
    if (at === undefined) return otherwise;
    const fromStart = Math.min(length, Math.max(at < 0 ? at + length : at, how.step < 0 ? -1 : 0));
    return how.step < 0 ? Math.max(0, length - 1 - fromStart) : fromStart;
  };
  const [from, to, by] = [place(how.start, 0), place(how.stop, length), Math.abs(how.step)];
  return items.filter((_, at) => at >= from && at < to && (at - from) % by === 0);
}
