/** Parses templates: nunjucks' parser, with what Jinja has and it lacks, and without what runs later or elsewhere. */
import { TEMPLATE_TOKENS_MAX } from "../limits.ts";
import { nearest } from "../nearest.ts";
import type {
  BinaryNode,
  DataFormat,
  Expression,
  NameNode,
  Node,
  NodeList,
  Spread,
  Statement,
} from "./_nodes.ts";
import { nodes, Parser, type TokenSource } from "./_nunjucks.ts";
import { Problem, type Source } from "./_problem.ts";
import { type Token, tokenize, type Whitespace } from "./_tokens.ts";

const TAGS = [
  "autoescape",
  "block",
  "break",
  "call",
  "continue",
  "do",
  "extends",
  "filter",
  "for",
  "from",
  "if",
  "import",
  "import_json",
  "import_text",
  "import_yaml",
  "include",
  "load_json",
  "load_text",
  "load_yaml",
  "macro",
  "raw",
  "set",
  "with",
] as const;

const ADDITIVE = { "+": "Add", "-": "Sub" } as const;
const MULTIPLICATIVE = { "*": "Mul", "/": "Div", "//": "FloorDiv", "%": "Mod" } as const;

/** Parses a template, or throws a `Problem` that knows its place. */
export function parse(source: Source, whitespace: Whitespace): Node {
  const tokens = tokenize(source, whitespace);
  if (tokens.length > TEMPLATE_TOKENS_MAX) {
    throw new Problem(`the template has more than ${TEMPLATE_TOKENS_MAX} words and signs`);
  }
  let read = 0;
  const parser = new JinjaParser({
    tags: { VARIABLE_END: "}}" },
    nextToken: () => tokens[read++] ?? null,
  }, source);
  try {
    return parser.parseAsRoot();
  } catch (thrown) {
    throw located(thrown, source, tokens[Math.min(read, tokens.length) - 1] ?? null);
  }
}

/** nunjucks says where in most cases; where it stumbles over the end of a file, the last token read must do. */
function located(thrown: unknown, source: Source, last: Token | null): Problem {
  const problem = thrown instanceof Problem ? thrown : new Problem(messageOf(thrown), {
    cause: thrown,
  });
  const { lineno, colno } = thrown as { lineno?: number; colno?: number };
  problem.place ??= {
    source,
    line: lineno ?? (last?.lineno ?? 0) + 1,
    column: colno ?? (last?.colno ?? 0) + 1,
    width: 1,
  };
  return problem;
}

function messageOf(thrown: unknown): string {
  if (thrown instanceof RangeError) return "it is nested too deeply";
  if (thrown instanceof TypeError || !(thrown instanceof Error)) return "this is not complete";
  if (thrown.message.startsWith("pushToken")) return "unexpected `not`";
  return thrown.message.replace(/^parse\w+: /, "").replace(/^advanceAfterBlockEnd: /, "");
}

class JinjaParser extends Parser {
  constructor(tokens: TokenSource, readonly source: Source) {
    super(tokens);
  }

  override parseNodes(): Node[] {
    const found: Node[] = [];
    for (let token = this.nextToken(); token !== null; token = this.nextToken()) {
      const node = this.#nodeAt(token);
      if (node === null) return found;
      found.push(node);
    }
    if (this.breakOnBlocks !== null) {
      throw new Problem(`\`{% ${this.breakOnBlocks.at(-1)} %}\` is missing`);
    }
    return found;
  }

  #nodeAt(token: Token): Node | null {
    const { lineno, colno } = token;
    if (token.type === "data") {
      const data = { typename: "TemplateData" as const, lineno, colno, value: token.value };
      return { typename: "Output", lineno, colno, children: [data] };
    }
    if (token.type === "block-start") return this.parseStatement();
    const expression = this.parseExpression();
    this.advanceAfterVariableEnd();
    return { typename: "Output", lineno, colno, children: [expression] };
  }

  override parseStatement(): Node | null {
    const token = this.#peek();
    if (token.type === "symbol" && this.breakOnBlocks?.includes(token.value)) return null;
    const added = this.#addedStatement(token);
    if (added !== null) return added;
    if (!TAGS.some((tag) => tag === token.value)) throw this.#unknownTag(token);
    return super.parseStatement();
  }

  #addedStatement(token: Token): Statement | null {
    switch (token.value) {
      case "do":
        return this.#parseDo(token);
      case "break":
      case "continue":
        this.advanceAfterBlockEnd();
        return { ...at(token), typename: "LoopControl", what: token.value };
      case "with":
        return this.#parseWith(token);
      case "autoescape":
        return this.#parseAutoescape(token);
    }
    const load = /^(import|load)_(yaml|json|text)$/.exec(token.value);
    return load === null ? null : this.#parseLoad(token, load[2] as DataFormat);
  }

  #unknownTag(token: Token): Problem {
    const closes = token.value.startsWith("end") || token.value === "else" ||
      token.value === "elif";
    const meant = closes ? null : nearest(token.value, TAGS);
    const problem = new Problem(
      closes ? `\`${token.value}\` closes nothing here` : `unknown tag \`${token.value}\``,
      meant === null ? {} : { beside: `did you mean \`${meant}\`?` },
    );
    const { value: { length: width }, lineno, colno } = token;
    problem.place = { source: this.source, line: lineno + 1, column: colno + 1, width };
    return problem;
  }

  #parseDo(token: Token): Statement {
    this.nextToken();
    const expression = this.parseExpression();
    this.advanceAfterBlockEnd("do");
    return { ...at(token), typename: "Do", expression };
  }

  #parseWith(token: Token): Statement {
    this.nextToken();
    const names: NameNode[] = [];
    const values: Expression[] = [];
    while (this.#peek().type !== "block-end") {
      if (names.length > 0) this.expect("comma");
      names.push(this.#parseName());
      if (!this.skipValue("operator", "=")) this.fail("expected `=`");
      values.push(this.parseExpression());
    }
    this.advanceAfterBlockEnd("with");
    const body = this.#parseBody("endwith");
    return { ...at(token), typename: "With", names, values, body };
  }

  /** Nothing is ever escaped, so this only groups. */
  #parseAutoescape(token: Token): Statement {
    this.nextToken();
    this.parseExpression();
    this.advanceAfterBlockEnd("autoescape");
    const body = this.#parseBody("endautoescape");
    return { ...at(token), typename: "With", names: [], values: [], body };
  }

  #parseLoad(token: Token, format: DataFormat): Statement {
    this.nextToken();
    const isImport = token.value.startsWith("import");
    const template = isImport ? this.parseExpression() : null;
    if (!this.skipSymbol("as")) this.fail("expected `as` and a name");
    const target = this.#parseName();
    this.parseWithContext();
    this.advanceAfterBlockEnd(token.value);
    const body = isImport ? null : this.#parseBody("endload");
    return { ...at(token), typename: "Load", format, template, body, target };
  }

  #parseBody(end: string): NodeList {
    const body = this.parseUntilBlocks(end);
    this.advanceAfterBlockEnd();
    return body;
  }

  #parseName(): NameNode {
    const node = this.parsePrimary(true);
    if (node.typename !== "Symbol") this.fail("expected a name", node.lineno, node.colno);
    return node as NameNode;
  }

  override parseInclude(): Node {
    const token = this.#peek();
    this.nextToken();
    const template = this.parseExpression();
    const ignoreMissing = this.skipSymbol("ignore") && this.skipSymbol("missing");
    const withContext = this.parseWithContext() ?? true;
    this.advanceAfterBlockEnd("include");
    return { ...at(token), typename: "Include", template, ignoreMissing, withContext };
  }

  /** nunjucks reads `a if b else c if d else e` from the left. */
  override parseInlineIf(): Expression {
    const body = this.parseOr();
    if (!this.skipSymbol("if")) return body;
    const cond = this.parseOr();
    const else_ = this.skipSymbol("else") ? this.parseInlineIf() : null;
    return { ...at(body), typename: "InlineIf", body, cond, else_ };
  }

  /** nunjucks gives each operator a rank of its own, so that `2 * 7 // 2` is 6 there. */
  override parseAdd(): Expression {
    return this.#parseLeftToRight(ADDITIVE, () => this.parseMul());
  }

  override parseMul(): Expression {
    return this.#parseLeftToRight(MULTIPLICATIVE, () => this.parsePow());
  }

  #parseLeftToRight(
    operators: Readonly<Record<string, BinaryNode["typename"]>>,
    operand: () => Expression,
  ): Expression {
    let left = operand();
    for (;;) {
      const token = this.peekToken();
      const isOperator = token?.type === "operator" && Object.hasOwn(operators, token.value);
      if (!isOperator) return left;
      this.nextToken();
      left = { ...at(left), typename: operators[token.value]!, left, right: operand() };
    }
  }

  /** nunjucks knows neither slices nor a comma at the end. */
  override parseAggregate(): Expression {
    const token = this.#peek();
    switch (token.type) {
      case "left-paren":
        return this.#parseGroup(token);
      case "left-bracket":
        return this.#parseList(token);
      case "left-curly":
        return this.#parseDict(token);
      default:
        return this.fail(`unexpected \`${token.value}\``, token.lineno, token.colno);
    }
  }

  /** A single value in parentheses is that value; with a comma, or empty, it is a tuple. */
  #parseGroup(token: Token): Expression {
    this.nextToken();
    const { children, commas } = this.#parseItems("right-paren", () => this.parseExpression());
    const isTuple = commas > 0 || children.length !== 1;
    return { ...at(token), typename: isTuple ? "Array" : "Group", children };
  }

  #parseList(token: Token): Expression {
    this.nextToken();
    const { children } = this.#parseItems("right-bracket", () => this.#parseItemOrSlice());
    return { ...at(token), typename: "Array", children };
  }

  #parseDict(token: Token): Expression {
    this.nextToken();
    const { children } = this.#parseItems("right-curly", () => {
      const key = this.parseExpression();
      if (!this.skip("colon")) this.fail("expected `:` after the key of a dict");
      return { ...at(key), typename: "Pair" as const, key, value: this.parseExpression() };
    });
    return { ...at(token), typename: "Dict", children };
  }

  #parseItems<T>(end: Token["type"], item: () => T): { children: T[]; commas: number } {
    const children: T[] = [];
    let commas = 0;
    while (!this.skip(end)) {
      if (children.length > commas) {
        this.fail(`expected \`,\` here, found \`${this.#peek().value}\``);
      }
      children.push(item());
      if (this.skip("comma")) commas++;
    }
    return { children, commas };
  }

  #parseItemOrSlice(): Expression {
    const from = at(this.#peek());
    const start = this.#peek().type === "colon" ? null : this.parseExpression();
    if (!this.skip("colon")) return start!;
    const stop = this.#parseBound();
    const step = this.skip("colon") ? this.#parseBound() : null;
    return { ...from, typename: "Slice", start, stop, step };
  }

  #parseBound(): Expression | null {
    const { type } = this.#peek();
    return type === "colon" || type === "right-bracket" ? null : this.parseExpression();
  }

  override parseSignature(tolerant?: boolean): NodeList | null {
    const token = this.#peek();
    if (token.type !== "left-paren") {
      return tolerant ? null : this.fail("expected `(`", token.lineno, token.colno);
    }
    this.nextToken();
    const list = new nodes.NodeList(token.lineno, token.colno);
    const named = new nodes.KeywordArgs(token.lineno, token.colno);
    this.#parseItems("right-paren", () => {
      const value = this.#parseSpread() ?? this.parseExpression();
      if (!this.skipValue("operator", "=")) return void list.children.push(value);
      const { lineno, colno } = value;
      named.children.push(new nodes.Pair(lineno, colno, value, this.parseExpression()));
    });
    if (named.children.length > 0) list.children.push(named);
    return list;
  }

  #parseSpread(): Spread | null {
    const from = at(this.#peek());
    const isOne = this.skipValue("operator", "*");
    const named = !isOne && this.skipValue("operator", "**");
    if (!isOne && !named) return null;
    return { ...from, typename: "Spread", target: this.parseExpression(), named };
  }

  /** nunjucks goes on to read what follows the arguments as if it belonged to them. */
  override parseFilterArgs(): Expression[] {
    return (this.parseSignature(true)?.children ?? []) as Expression[];
  }

  #peek(): Token {
    return this.peekToken() ?? this.fail("the template ends here, in the middle of a tag");
  }
}

function at(node: { lineno: number; colno: number }): { lineno: number; colno: number } {
  return { lineno: node.lineno, colno: node.colno };
}
