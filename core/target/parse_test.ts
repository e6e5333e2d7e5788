import assert from "node:assert/strict";
import fc from "fast-check";
import { errorText } from "../error_text.ts";
import { isZesterError, ZesterError } from "../errors.ts";
import { TARGET_DEPTH_MAX, TARGET_LENGTH_MAX, TARGET_TERMS_MAX } from "../limits.ts";
import type { TargetNode } from "./expr.ts";
import { parseTarget } from "./parse.ts";

const GROUPS = new Map([
  ["web", "web* and not web-09"],
  ["both", "N@web or N@db"],
  ["db", "G@role:db"],
  ["round", "web* or N@about"],
  ["about", "not N@round"],
  ["broken", "web* and ("],
]);

/** The shape of a target, with every parenthesis written out. */
function shape(node: TargetNode): string {
  switch (node.op) {
    case "and":
    case "or":
      return `(${node.parts.map(shape).join(` ${node.op} `)})`;
    case "not":
      return `!${shape(node.part)}`;
    case "term":
      return node.term.text;
  }
}

const shapes: [text: string, want: string][] = [
  ["*", "*"],
  ["  web-01\t", "web-01"],
  ["G@os:ubuntu and web*", "(G@os:ubuntu and web*)"],
  ["a and b or c", "((a and b) or c)"],
  ["a or b and c", "(a or (b and c))"],
  ["a and b and c", "(a and b and c)"],
  ["not a and b", "(!a and b)"],
  ["not (a and b)", "!(a and b)"],
  ["NOT not a", "!!a"],
  ["a AND b Or c", "((a and b) or c)"],
  ["(a)", "a"],
  ["((a)or(b))and(c)", "((a or b) and c)"],
  ["(a or b)and not c", "((a or b) and !c)"],
  ["android or order or nothing", "(android or order or nothing)"],
  ["\\and and \\or", "(\\and and \\or)"],
  ["E@^(web|db)-\\d+$ and a", "(E@^(web|db)-\\d+$ and a)"],
  ["(E@^(web|db)(1|2)) or a", "(E@^(web|db)(1|2) or a)"],
  ["(E@[)] or E@\\) or E@x)", "(E@[)] or E@\\) or E@x)"],
  ["(P@os:^(a|b)$ and a)", "(P@os:^(a|b)$ and a)"],
  ['G@cpu.model:"Xeon (R) and more" and a', '(G@cpu.model:"Xeon (R) and more" and a)'],
  ["(G@a:>=4)", "G@a:>=4"],
  ["N@web and a", "(N@web and a)"],
  ["a\nor\r\nb", "(a or b)"],
];
for (const [text, want] of shapes) {
  Deno.test(`parseTarget() reads ${JSON.stringify(text)} as ${want}`, () => {
    assert.equal(shape(parseTarget(text, { groups: GROUPS }).root), want);
  });
}

const facts: [text: string, key: string, operator: string, value: string][] = [
  ["G@os:ubuntu", "os", "=", "ubuntu"],
  ["I@os.family:Debian", "os.family", "=", "Debian"],
  ["G@mac:aa:bb:cc", "mac", "=", "aa:bb:cc"],
  ["G@memory_mb:>=4096", "memory_mb", ">=", "4096"],
  ["G@memory_mb:<=4096", "memory_mb", "<=", "4096"],
  ["G@memory_mb:>4096", "memory_mb", ">", "4096"],
  ["G@memory_mb:<4096", "memory_mb", "<", "4096"],
  ["G@os:!=ubuntu", "os", "!=", "ubuntu"],
  ['G@os:!="Rocky Linux"', "os", "!=", "Rocky Linux"],
  ['G@os:"say \\"hi\\""', "os", "=", 'say "hi"'],
  ['G@os:""', "os", "=", ""],
  ["G@os:Ubuntu*", "os", "=", "Ubuntu*"],
];
for (const [text, key, operator, value] of facts) {
  Deno.test(`parseTarget() takes ${text} as ${key} ${operator} ${JSON.stringify(value)}`, () => {
    const { root } = parseTarget(text);
    assert.ok(root.op === "term" && root.term.matcher.kind === "fact");
    const { matcher } = root.term;
    assert.deepEqual([matcher.key, matcher.operator, matcher.value], [key, operator, value]);
  });
}

const mistakes: [text: string, problem: RegExp, column: number][] = [
  ["a b", /expected `and` or `or`/, 3],
  ["a and", /the target ends where a term/, 6],
  ["and a", /`and` stands where a term/, 1],
  ["a or or b", /`or` stands/, 6],
  ["not", /the target ends/, 4],
  ["(a", /never closed/, 1],
  ["a)", /never opened/, 2],
  ["()", /`\)` stands where a term/, 2],
  ["(a b)", /expected `and`, `or` or `\)`/, 4],
  ["a (b)", /expected `and` or `or`/, 3],
  ["web[", /class that begins here has no end/, 4],
  ["web[]", /the class is empty/, 4],
  ["web[9-0]", /runs backwards/, 5],
  ["web\\", /backslash stands at the end/, 4],
  ["web1,web2", /no peel id holds ","/, 5],
  ["os:ubuntu", /no peel id holds ":"/, 3],
  ["web{1,2}", /no peel id holds "{"/, 4],
  ["wéb", /no peel id holds "é"/, 2],
  ["J@a:b", /there is no matcher J@/, 1],
  ["g@a:b", /there is no matcher g@/, 1],
  ["E@", /E@ needs a regular expression/, 3],
  ["E@(", /not a regular expression: missing closing \)/, 3],
  ["E@(?=a)", /not a regular expression/, 3],
  ["E@a\\1", /not a regular expression: invalid escape/, 3],
  ["E@(a{1000}){1000}", /not a regular expression/, 3],
  ["E@" + "a".repeat(1_025), /at most 1024/, 3],
  ["E@a{1000}b{1000}c{1000}d{1000}e{1000}", /steps/, 3],
  ["G@os", /needs key:value/, 3],
  ["G@ os:a", /needs key:value/, 3],
  ["G@:a", /name of a fact is missing/, 3],
  ["G@a..b:c", /name of a fact is missing/, 3],
  ["G@os:", /a value is missing/, 6],
  ["G@os:>=", /a value is missing/, 8],
  ['G@os:"a', /never closed/, 6],
  ['G@os:"a\\', /never closed/, 6],
  ['G@os:"a"b', /expected a blank after the quote/, 9],
  ["P@os:", /needs a regular expression/, 6],
  ["L@", /at least one id/, 3],
  ["L@,,", /at least one id/, 3],
  ["L@web*,a", /"web\*" is not a peel id/, 3],
  ["S@10.0.0.0/33", /not an address/, 3],
  ["S@010.0.0.1", /not an address/, 3],
  ["S@host", /not an address/, 3],
  ["a and N@wbe", /there is no group wbe/, 9],
  ["N@", /needs a name/, 3],
];
for (const [text, problem, column] of mistakes) {
  Deno.test(`parseTarget() points at column ${column} of ${JSON.stringify(text.slice(0, 40))}`, () => {
    assert.throws(() => parseTarget(text, { groups: GROUPS }), (error) => {
      assert.ok(isZesterError(error, "bad_target"), String(error));
      assert.match(error.message, problem);
      assert.match(error.message, new RegExp(`at column ${column}\n`));
      const [, shown, mark] = error.message.split("\n");
      const cut = shown!.includes("…");
      if (!cut) assert.equal(mark!.indexOf("^"), 2 + column - 1);
      return true;
    });
  });
}

Deno.test("parseTarget() says that an empty target is empty, and points at nothing", () => {
  for (const text of ["", "   "]) {
    assert.throws(() => parseTarget(text), (error) => {
      assert.ok(isZesterError(error, "bad_target"));
      assert.equal(error.message, "the target is empty: it says nobody");
      return true;
    });
  }
});

Deno.test("parseTarget() has errors that keep their mark in place when they are shown", () => {
  assert.throws(() => parseTarget("G@os:ubuntu web*"), (error) => {
    assert.ok(error instanceof ZesterError);
    assert.equal(
      errorText(error),
      [
        "error ZE0404: target: expected `and` or `or` before this, at column 13",
        "  | G@os:ubuntu web*",
        "  |             ^",
        "  fix      join terms with `and` or `or`",
      ].join("\n"),
    );
    return true;
  });
});

const fixes: [text: string, fix: RegExp][] = [
  ["web1,web2", /L@web1,web2/],
  ["os:ubuntu", /G@os:ubuntu/],
  ["^web", /E@\^web/],
  ["N@wbe", /N@web\?/],
  ["g@a:b", /write G@/],
  ["", /'\*'/],
];
for (const [text, fix] of fixes) {
  Deno.test(`parseTarget() says what was meant by ${JSON.stringify(text)}`, () => {
    assert.throws(
      () => parseTarget(text, { groups: GROUPS }),
      (error) => isZesterError(error) && fix.test(error.fix ?? ""),
    );
  });
}

Deno.test("parseTarget() finds groups that go round in a circle, and names the broken one", () => {
  assert.throws(
    () => parseTarget("N@round", { groups: GROUPS }),
    /group about: target: groups go round in a circle: round → about → round/,
  );
  assert.throws(() => parseTarget("a or N@broken", { groups: GROUPS }), /group broken: target: /);
});

Deno.test("parseTarget() refuses groups that grow without end, at once", () => {
  const names = Array.from({ length: 40 }, (_, at) => `g${at}`);
  const groups = new Map(names.map((name, at) => [name, `N@g${at + 1} or N@g${at + 1}`]));
  groups.set("g39", "a");
  assert.throws(() => parseTarget("N@g0", { groups }), /more than 256 terms/);
});

Deno.test("parseTarget() has limits on length, terms and depth", () => {
  assert.throws(() => parseTarget("a".repeat(TARGET_LENGTH_MAX + 1)), /at most 16384/);
  const terms = (count: number) => Array(count).fill("a").join(" or ");
  assert.equal(parseTarget(terms(TARGET_TERMS_MAX)).terms, TARGET_TERMS_MAX);
  assert.throws(() => parseTarget(terms(TARGET_TERMS_MAX + 1)), /more than 256 terms/);
  const nested = (depth: number) => "(".repeat(depth) + "a" + ")".repeat(depth);
  assert.ok(parseTarget(nested(TARGET_DEPTH_MAX - 1)));
  assert.throws(() => parseTarget(nested(TARGET_DEPTH_MAX)), /nested more than 64/);
  assert.throws(() => parseTarget("not ".repeat(4_000) + "a"), /nested more than 64/);
  assert.throws(() => parseTarget("(".repeat(TARGET_LENGTH_MAX)), /nested more than 64/);
});

Deno.test("parseTarget() ends for any text, with a target or with `bad_target`", () => {
  const pieces = fc.constantFrom(
    ...[
      "and",
      "or",
      "not",
      "(",
      ")",
      " ",
      "\t",
      "\n",
      "*",
      "?",
      "[",
      "]",
      "\\",
      '"',
      "a",
      "web-01",
    ],
    ...[
      "G@",
      "E@",
      "L@",
      "S@",
      "P@",
      "N@",
      "I@",
      "Z@",
      "os:",
      ":",
      ">=",
      "!=",
      "{9}",
      "|",
      ".*",
      ",",
    ],
    ...["^", "$", "é", "\u0000", "\ud800", "::", "/8", "10.0.0.1", "web", "both", "round", "+"],
  );
  const hostile = fc.oneof(
    fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join("")),
    fc.string({ unit: "binary", maxLength: 60 }),
  );
  fc.assert(
    fc.property(hostile, (text) => {
      try {
        parseTarget(text, { groups: GROUPS });
      } catch (error) {
        assert.ok(isZesterError(error, "bad_target"), `${JSON.stringify(text)}: ${error}`);
      }
    }),
    { numRuns: 10_000 },
  );
});
