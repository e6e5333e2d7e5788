/** Templates that try to run code, to reach files, to change what others see, or never to end: none succeeds. */
import assert from "node:assert/strict";
import nunjucks from "nunjucks";
import type { Attack, Outcome } from "../../tests/fixtures/template/worker.ts";
import { renderTemplate } from "./render.ts";

/** An attack ends within this, whatever it does. */
const ALLOWED_MS = 1_000;
const CODE = "globalThis.pwned=1";

/** Whether it must fail, or may also print: then exactly this. */
type Want = "fails" | { prints: string };
type Row = readonly [source: string, want: Want, extra?: Partial<Attack>];

const fails = (...sources: string[]): Row[] => sources.map((source): Row => [source, "fails"]);
const printsNothing = (...sources: string[]): Row[] =>
  sources.map((source): Row => [source, { prints: "" }]);

const reachingCode: Row[] = [
  ...fails(
    `{{ range.constructor("${CODE}")() }}`,
    `{{ range["constructor"]("${CODE}")() }}`,
    `{{ ''.sub.constructor("${CODE}")() }}`,
    `{{ cycler.constructor("${CODE}")() }}`,
    `{{ cycler('a').next.constructor("${CODE}")() }}`,
    `{{ joiner.constructor("${CODE}")() }}`,
    `{{ joiner()["constructor"]("${CODE}")() }}`,
    `{{ [].constructor.constructor("${CODE}")() }}`,
    `{{ {}.constructor.constructor("${CODE}")() }}`,
    `{{ 'a'.constructor.constructor("${CODE}")() }}`,
    `{{ (1).constructor.constructor("${CODE}")() }}`,
    `{{ true.constructor.constructor("${CODE}")() }}`,
    `{{ []["filter"]["constructor"]("${CODE}")() }}`,
    `{{ [].map.constructor("${CODE}")() }}`,
    `{{ 'a'.split.constructor("${CODE}")() }}`,
    `{{ 'a'.replace('a', range.constructor) }}`,
    `{% set c = 'const' ~ 'ructor' %}{{ range[c]("${CODE}")() }}`,
    `{% set c = ['constructor'] %}{{ range[c]("${CODE}")() }}`,
    `{% set c = '\\x63onstructor' %}{{ [][c][c]("${CODE}")() }}`,
    `{% macro m() %}{% endmacro %}{{ m.constructor("${CODE}")() }}`,
    `{% macro m() %}{{ caller.constructor("${CODE}")() }}{% endmacro %}{% call m() %}{% endcall %}`,
    `{% block b %}{{ super.constructor("${CODE}")() }}{% endblock %}`,
    `{% for x in [1] %}{{ loop.constructor.constructor("${CODE}")() }}{% endfor %}`,
    `{% for x in [1] %}{{ loop.cycle.constructor("${CODE}")() }}{% endfor %}`,
    `{{ namespace().constructor.constructor("${CODE}")() }}`,
    `{{ salt.constructor.constructor("${CODE}")() }}`,
    `{{ salt['__proto__']['constructor']("${CODE}")() }}`,
    `{{ x|attr('constructor')("${CODE}") }}`,
    `{{ ([]|attr('constructor'))("${CODE}")() }}`,
    `{{ ([[]]|map(attribute='constructor')|first)("${CODE}") }}`,
    `{{ [1]|map('constructor')|list }}`,
    `{{ 1|constructor("${CODE}") }}`,
    `{{ 1|toString }}`,
    `{{ 1|__proto__ }}`,
    `{{ 1 is constructor("${CODE}") }}`,
    `{{ 1 is toString }}`,
    `{{ eval("${CODE}") }}`,
    `{{ Function("${CODE}")() }}`,
    `{{ globalThis.pwned.x() }}`,
    `{{ Deno.readTextFileSync('/etc/passwd') }}`,
    `{{ process.exit() }}`,
    `{{ require('fs').readFileSync('/etc/passwd') }}`,
    `{{ import('node:fs') }}`,
    `{{ self.constructor("${CODE}")() }}`,
    `{{ this.constructor.constructor("${CODE}")() }}`,
    `{{ env.loaders[0].read() }}`,
    `{{ ''.__class__.__mro__[1].__subclasses__() }}`,
    `{{ config.__class__.__init__.__globals__['os'].popen('id').read() }}`,
    `{{ '{0.constructor.constructor}'.format([]) }}`,
    `{{ '{0[constructor]}'.format(range) }}`,
    `{{ '%(constructor)s' % {} }}`,
    `{{ r/x/.constructor.constructor("${CODE}")() }}`,
    `{{ lipsum.__globals__.os.popen('id').read() }}`,
    // Code that nunjucks' compiler would have written into its output.
    `{% set x"];${CODE};["y = 1 %}`,
    `{% block a(){${CODE}} %}{% endblock %}`,
    `{% block "+(${CODE})+" %}{% endblock %}`,
    `{{ range(1, x");${CODE};("=1) }}`,
    `{{ 1|abs");${CODE};(" }}`,
    `{% macro m(a=1, b");${CODE};(") %}{% endmacro %}`,
    `{% macro m);${CODE};(() %}{% endmacro %}`,
    `{% for x;${CODE} in [1] %}{% endfor %}`,
    `{% import 'a' as x);${CODE};( %}`,
    `{% from 'a' import x as y");${CODE};(" %}`,
    `{% ifAsync x %}{% endif %}`,
    `{% asyncEach x in [1] %}{% endeach %}`,
    `{% switch 1 %}{% case 1 %}{% endswitch %}`,
  ),
  ...printsNothing(
    `{{ ''.constructor }}{{ [].constructor }}{{ {}.constructor }}{{ (1).constructor }}`,
    `{{ {}.__proto__ }}{{ {}['__proto__']['constructor'] }}{{ range.prototype }}`,
    `{{ constructor }}{{ __proto__ }}{{ toString }}{{ hasOwnProperty }}{{ globalThis }}{{ Deno }}`,
    `{{ loop }}{{ super }}{{ caller }}{{ context }}{{ frame }}{{ env }}{{ runtime }}`,
    `{{ [].length }}{{ ''.length }}{{ range.name }}`,
    `{{ [[]]|map(attribute='constructor.constructor')|first("${CODE}") }}`,
    `{{ []|attr('constructor') }}{{ ''|attr('__proto__') }}`,
  ),
  [`{{ {'constructor': 1}.constructor }}{{ {'__proto__': 2}.__proto__ }}`, { prints: "12" }],
];

const pollution: Row[] = [
  [`{% do d.update({'__proto__': {'pwned': 1}}) %}{{ {}.pwned }}`, { prints: "" }, {
    values: { d: {} },
  }],
  [`{% set ns = namespace() %}{% set ns.__proto__ = {'pwned': 1} %}{{ {}.pwned }}`, { prints: "" }],
  [`{{ {}|dict_merge({'__proto__': {'pwned': 1}})|tojson }}`, {
    prints: '{"__proto__": {"pwned": 1}}',
  }],
  [`{% load_json as d %}{"__proto__": {"pwned": 1}}{% endload %}{{ d.pwned }}`, { prints: "" }],
  [`{% load_yaml as d %}\n__proto__: {pwned: 1}\n{% endload %}{{ d.pwned }}{{ {}.pwned }}`, {
    prints: "",
  }],
  [`{% load_yaml as d %}\n<<: {__proto__: {pwned: 1}}\n{% endload %}{{ {}.pwned }}`, {
    prints: "",
  }],
  [`{{ dict(__proto__={'pwned': 1}).pwned }}`, { prints: "" }],
  [
    `{{ grains_filter_by({'default': {'__proto__': {'pwned': 1}}}, merge={'constructor': {'prototype': {'pwned': 1}}}).pwned }}`,
    { prints: "" },
  ],
  [`{% macro m(__proto__, constructor) %}{{ __proto__ }}{% endmacro %}{{ m(1, 2) }}`, {
    prints: "1",
  }],
  [`{% set __proto__ = {'pwned': 1} %}{{ pwned }}`, { prints: "" }],
  ...fails(`{% set salt = 1 %}`, `{% set facts.x = 1 %}`, `{% set [].pwned = 1 %}`),
];

const bombs: Row[] = fails(
  "{% for a in range(10000000) %}x{% endfor %}",
  "{% for a in range(400000) %}{{ a }}{{ a }}{% endfor %}",
  "{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% endfor %}{% endfor %}{% endfor %}",
  "{{ range(99999999999999999999) }}",
  "{{ range(0, 1, 0.0000000001) }}",
  "{{ range(1, 2, 0) }}",
  "{{ 'a'|center(100000000) }}",
  "{{ 'a' * 1000000000 }}",
  "{{ [1] * 1000000000 }}",
  "{{ 'a'.zfill(1000000000) }}{{ 'a'.ljust(1000000000) }}",
  "{{ '%1000000000d' % 1 }}",
  "{{ '{:1000000000}'.format(1) }}",
  "{{ 'a'|indent(1000000000) }}",
  "{{ [1]|tojson(indent=1000000000) }}",
  "{{ [1]|batch(1000000000, 0) }}{{ [1]|slice(1000000000) }}",
  "{% set ns = namespace(s='aaaaaaaaaaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}",
  "{% set ns = namespace(s='aaaaaaaaaaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s.replace('a', ns.s) %}{% endfor %}",
  "{% set ns = namespace(s='aaaaaaaaaaaaaaaa') %}{% for i in range(60) %}{% set ns.s = ns.s.join([ns.s, ns.s]) %}{% endfor %}",
  "{% set l = [1] %}{% for i in range(60) %}{% do l.extend(l) %}{% endfor %}",
  "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l }}",
  "{% set ns = namespace(l=[1]) %}{% for i in range(60) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ ns.l == ns.l }}",
  "{% set l = [] %}{% do l.append(l) %}{{ l }}",
  "{% set l = [] %}{% do l.append(l) %}{% do l.append(l) %}{{ l|tojson }}",
  "{% set l = [] %}{% do l.append(l) %}{{ l == [l] }}{{ l|flatten }}",
  "{% set d = {} %}{% do d.update({'d': d}) %}{{ d|yaml }}",
  "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
  "{% macro m() %}{{ m() }}{{ m() }}{% endmacro %}{{ m() }}",
  "{% macro a() %}{{ b() }}{% endmacro %}{% macro b() %}{{ a() }}{% endmacro %}{{ a() }}",
  "{% block a %}{{ super() }}{% endblock %}",
  `{{ ${"(".repeat(50_000)}1${")".repeat(50_000)} }}`,
  `{{ ${"[".repeat(40_000)}${"]".repeat(40_000)} }}`,
  `{{ ${"not ".repeat(90_000)}1 }}`,
  `{{ ${"-".repeat(90_000)}1 }}`,
  `{{ ${"1 ~ ".repeat(45_000)}1 }}`,
  `{{ x${".a".repeat(49_000)} }}`,
  `{{ 1${"|abs".repeat(49_000)}|x }}`,
  "{% if 1 %}".repeat(20_000),
  `${"{% if 1 %}".repeat(20_000)}${"{% endif %}".repeat(20_000)}`,
  `{% if 0 %}${"{% elif 0 %}".repeat(24_000)}{% endif %}{{ 1/0 }}`,
  "{{ 1 }}".repeat(50_000),
  "x".repeat(1_100_000),
  `{{ '${"a".repeat(300_000)}'|regex_search('(a|b|ab)*(a|b){1,20}[xy]') }}`,
  `{{ '${"a".repeat(100_000)}'|regex_replace('a(.*b)?', 'x') }}`,
  `{{ '${"a".repeat(900_000)}'|regex_search('(a|b|c|d|e){1,200}x') }}`,
  "{{ 'a'|regex_search('((a{1,100}){1,100}){1,100}') }}",
  "{{ 'a'|regex_search('(?=a)') }}",
  `{{ '${"a".repeat(2_000)}'|regex_search('${"a".repeat(2_000)}') }}`,
  "{% load_yaml as d %}\na: &a [x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\n" +
    "c: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c, *c]\n" +
    "e: &e [*d, *d, *d, *d, *d, *d, *d, *d]\nf: &f [*e, *e, *e, *e, *e, *e, *e, *e]\n" +
    "g: &g [*f, *f, *f, *f, *f, *f, *f, *f]\n{% endload %}{{ d.g }}",
);
const harmlessButLarge: Row[] = [
  [`{{ '${"a".repeat(40_000)}'|regex_search('(((((a*)*)*)*)*)*b') }}`, { prints: "None" }],
  [`${" ".repeat(900_000)}x{%- if 1 %}{% endif -%}${" ".repeat(100_000)}`, {
    prints: `${" ".repeat(900_000)}x`,
  }],
  [`{{ 'x'${" ".repeat(900_000)}}}`, { prints: "x" }],
  [`{%${" ".repeat(900_000)}set x = 1 %}`, { prints: "" }],
  [`{% raw %}${"{% ".repeat(300_000)}{% endraw %}`, { prints: "{% ".repeat(300_000) }],
  [`{# ${"{# ".repeat(300_000)}#}`, { prints: "" }],
  [`{% set a = 'a' * 500000 %}{{ ('b' ~ a) in (a ~ a) }}`, { prints: "False" }],
  [`{{ '${"1".repeat(500_000)}x'|int }}`, { prints: "0" }],
  [`{{ ('${" ".repeat(500_000)}x${" ".repeat(400_000)}')|trim }}`, { prints: "x" }],
];

const files = {
  "a.jinja": "a",
  "loop.jinja": "{% include 'loop.jinja' %}",
  "two.jinja": "{% include 'one.jinja' %}",
  "one.jinja": "{% include 'two.jinja' %}",
};
const reachingFiles: Row[] = [
  ...[
    "../../etc/passwd",
    "/etc/passwd",
    "a/../../etc/passwd",
    "./../a",
    "file:///etc/passwd",
    "http://localhost/",
    "npm:nunjucks",
    "node:fs",
    "__proto__",
    "constructor",
    "a.jinja\\0",
    "..\\\\a",
    "",
    "link/passwd",
    "loop.jinja",
    "one.jinja",
  ].flatMap((path): Row[] => [
    [`{% include '${path}' %}`, "fails", { files }],
    [`{% import '${path}' as x %}`, "fails", { files }],
    [`{% import_text '${path}' as x %}{{ x }}`, "fails", { files }],
  ]),
  [`{% extends 'loop.jinja' %}`, "fails", {
    files: { "loop.jinja": "{% extends 'loop.jinja' %}" },
  }],
];

const HOSTILE = "{{ 7*7 }}{% set x = 1 %}{# c #}";
const SECRET = "__ZESTER_SECRET:db.password__";
const secondPass: Row[] = [
  ["{{ facts.x }}", { prints: HOSTILE }, { values: { facts: { x: HOSTILE } } }],
  ["{{ facts.x|upper|lower }}", { prints: HOSTILE.toLowerCase() }, {
    values: { facts: { x: HOSTILE } },
  }],
  ["{% set a %}{{ facts.x }}{% endset %}{{ a }}", { prints: HOSTILE }, {
    values: { facts: { x: HOSTILE } },
  }],
  ["{% macro m(a) %}{{ a }}{% endmacro %}{{ m(facts.x) }}", { prints: HOSTILE }, {
    values: { facts: { x: HOSTILE } },
  }],
  ["{% include 'p' %}", { prints: HOSTILE }, {
    values: { facts: { x: HOSTILE } },
    files: { p: "{{ facts.x }}" },
  }],
  ["{% load_text as t %}{{ facts.x }}{% endload %}{{ t }}", { prints: HOSTILE }, {
    values: { facts: { x: HOSTILE } },
  }],
  ["{{ '{{' }} 7*7 {{ '}}' }}", {
    prints: "{{ 7*7 }}".replace("7*7", " 7*7 ").replace("{{  ", "{{ ").replace("  }}", " }}"),
  }],
  ["{{ facts.x }}", { prints: SECRET }, { values: { facts: { x: SECRET } } }],
  [`{{ '${SECRET}' }}`, { prints: SECRET }],
];

const CORPUS: Readonly<Record<string, readonly Row[]>> = {
  "run code": reachingCode,
  "change prototypes": pollution,
  "never end, or grow without end": [...bombs, ...harmlessButLarge],
  "reach files outside the set": reachingFiles,
  "have data rendered, or secrets put in": secondPass,
};

Deno.test("renderTemplate() in a worker without permissions survives templates that try to", async (t) => {
  using room = new Room();
  for (const [what, rows] of Object.entries(CORPUS)) {
    await t.step(`${what} (${rows.length})`, async () => {
      for (const [source, want, extra] of rows) {
        check(await room.attempt({ source, values: {}, files: {}, ...extra }), want, source);
      }
    });
  }
});

function check(outcome: Outcome, want: Want, source: string): void {
  const shown = source.length > 200 ? `${source.slice(0, 200)}…` : source;
  assert.deepEqual(outcome.traces, [], shown);
  assert.ok(outcome.ms < ALLOWED_MS, `${Math.round(outcome.ms)} ms: ${shown}`);
  if (want === "fails") {
    assert.equal(
      outcome.error?.code,
      "template_failed",
      `${shown}\n${outcome.error?.message ?? outcome.text?.slice(0, 200)}`,
    );
  } else {
    assert.equal(outcome.error, null, `${shown}\n${outcome.error?.message}`);
    assert.ok(outcome.text === want.prints, `${shown}\n${outcome.text?.slice(0, 200)}`);
  }
}

/** The worker of all attacks. */
class Room implements Disposable {
  readonly #worker = new Worker(
    new URL("../../tests/fixtures/template/worker.ts", import.meta.url),
    {
      type: "module",
      deno: { permissions: "none" },
    },
  );

  attempt(attack: Attack): Promise<Outcome> {
    const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
    this.#worker.onmessage = ({ data }) => resolve(data);
    this.#worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(`the worker died: ${event.message}`));
    };
    this.#worker.postMessage(attack);
    return promise;
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

Deno.test("renderTemplate() works where no code can be made of text", async () => {
  const script = new URL("../../tests/fixtures/template/no_code.ts", import.meta.url);
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--cached-only",
      "--v8-flags=--disallow-code-generation-from-strings",
      script.pathname,
    ],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  assert.deepEqual(JSON.parse(new TextDecoder().decode(stdout)), {
    canMakeCode: false,
    text: '\nA[2]1\nweb-nn{"a": 1}',
  });
});

Deno.test("renderTemplate() stops what runs in nunjucks itself", () => {
  const source = "{{ range.constructor('return 6 * 7')() }}";
  assert.equal(nunjucks.renderString(source, {}), "42");
  assert.throws(() => renderTemplate(source, {}), /a function has no method `constructor`/);
});

Deno.test("renderTemplate() refuses values that are more than data", () => {
  const run = (): never => assert.fail("a getter was run");
  const refused: [name: string, value: unknown][] = [
    ["a function", () => 1],
    ["a method in a list", [{ f() {} }]],
    ["an instance", new URL("http://localhost")],
    ["a symbol", Symbol("x")],
    [
      "what holds itself",
      (() => {
        const self: Record<string, unknown> = {};
        self.self = self;
        return self;
      })(),
    ],
  ];
  for (const [name, x] of refused) {
    assert.throws(() => renderTemplate("{{ x }}", { x }), /a value given to the template/, name);
  }
  const values = Object.defineProperty(
    { x: Object.defineProperty({}, "g", { get: run, enumerable: true }) },
    "y",
    {
      get: run,
      enumerable: true,
    },
  );
  assert.equal(renderTemplate("{{ x }}{{ x.g }}{{ y }}", values), "{}");
  assert.equal(renderTemplate("{{ x }}", Object.create({ x: "inherited" })), "");
});

Deno.test("renderTemplate() keeps to the limits that it is given", () => {
  const rows: [source: string, limits: Parameters<typeof renderTemplate>[2], why: RegExp][] = [
    ["{{ [1, 2, 3]|sort }}", { limits: { steps: 3 } }, /more than 3 steps/],
    ["abcdef", { limits: { output: 5 } }, /prints more than 5 characters/],
    ["{{ 'a' * 9 }}", { limits: { text: 20 } }, /more than 20 characters of text/],
    [
      "{% macro m(n) %}{{ m(n) }}{% endmacro %}{{ m(1) }}",
      { limits: { depth: 3 } },
      /deeper than 3/,
    ],
  ];
  for (const [source, options, why] of rows) {
    assert.throws(() => renderTemplate(source, {}, options), why, source);
  }
});
