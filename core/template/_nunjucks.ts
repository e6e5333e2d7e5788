/**
 * What we use of nunjucks, with types: its parser, and the classes of its tree that the parser itself looks for. Its compiler,
 * which makes JavaScript of templates, and its runtime are never loaded.
 */
import nodesModule from "nunjucks/src/nodes.js";
import parserModule from "nunjucks/src/parser.js";
import type { Expression, KeywordArgs, Node, NodeList, Pair } from "./_nodes.ts";
import type { Token, TokenType } from "./_tokens.ts";

/** Where the parser takes its tokens from. */
export interface TokenSource {
  readonly tags: { readonly VARIABLE_END: string };
  nextToken(): Token | null;
}

interface NunjucksParser {
  breakOnBlocks: readonly string[] | null;
  nextToken(): Token | null;
  peekToken(): Token | null;
  fail(message: string, lineno?: number, colno?: number): never;
  skip(type: TokenType): boolean;
  expect(type: TokenType): Token;
  skipValue(type: TokenType, value: string): boolean;
  skipSymbol(value: string): boolean;
  advanceAfterBlockEnd(name?: string): Token;
  advanceAfterVariableEnd(): void;
  parseAsRoot(): Node;
  parseNodes(): Node[];
  parseUntilBlocks(...names: string[]): NodeList;
  parseStatement(): Node | null;
  parseInclude(): Node;
  parseWithContext(): boolean | null;
  parseExpression(): Expression;
  parseInlineIf(): Expression;
  parseOr(): Expression;
  parseAdd(): Expression;
  parseMul(): Expression;
  parsePow(): Expression;
  parsePrimary(noPostfix?: boolean): Expression;
  parseAggregate(): Expression;
  parseSignature(tolerant?: boolean): NodeList | null;
  parseFilterArgs(): Expression[];
}

type Made<T> = new (lineno: number, colno: number) => T;

/** nunjucks' parser, to be extended. */
export const Parser: new (tokens: TokenSource) => NunjucksParser = parserModule.Parser;

/** Nodes that nunjucks tells apart by their class. */
export const nodes: {
  readonly NodeList: Made<NodeList>;
  readonly KeywordArgs: Made<KeywordArgs>;
  readonly Pair: new (lineno: number, colno: number, key: Expression, value: Expression) => Pair;
} = nodesModule;
