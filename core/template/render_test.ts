/** The language, row by row: a template, what it is given, what it prints. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { errorText } from "../error_text.ts";
import { isZesterError } from "../errors.ts";
import { OpaqueValue, type RenderOptions, renderTemplate, TemplateError } from "./render.ts";

const VALUES = {
  facts: { os: { family: "Debian", name: "ubuntu" }, cpus: 4, ips: ["10.0.0.1", "10.0.0.2"] },
  settings: {
    nginx: { port: 80, workers: 2, log_format: "json" },
    users: [{ name: "ann", uid: 3 }, { name: "bob", uid: 1 }],
    on: true,
    none: null,
    empty: [],
    keys: "data wins",
  },
  peel_id: "web-01",
};

const rows: [section: string, rows: [source: string, want: string][]][] = [
  ["prints values", [
    ["plain { text } # } %} }}", "plain { text } # } %} }}"],
    ["{{ 'a' }}{{ 1 }}{{ 1.5 }}{{ -2 }}", "a11.5-2"],
    ["{{ true }} {{ False }} {{ none }} {{ None }}", "True False None None"],
    ["{{ [1, 'a', true, none,] }}", "[1, 'a', True, None]"],
    ["{{ {'a': {'b': 1}} }}", "{'a': {'b': 1}}"],
    [`{{ ["it's", 'say "x"', 'a\\nb'] }}`, `["it's", 'say "x"', 'a\\nb']`],
    ["{{ () }} {{ (1,) }} {{ (1, 2) }} {{ (1) }}", "[] [1] [1, 2] 1"],
    ["{{ '\\d\\.' }} {{ '\\x41\\u0042' }}", "\\d\\. AB"],
    ["{{ 1_000 }} {{ 1e3 }}", "1000 1000"],
    ["<b>{{ '<i>' }}", "<b><i>"],
    ["kept newline\n", "kept newline\n"],
  ]],
  ["looks variables and members up", [
    ["{{ facts.os.family }}{{ grains['os']['family'] }}", "DebianDebian"],
    ["{{ settings.nginx.port }}{{ pillar.nginx.port }}", "8080"],
    ["{{ peel_id }}", "web-01"],
    ["{{ facts.ips[0] }} {{ facts.ips[-1] }} {{ 'abc'[1] }}", "10.0.0.1 10.0.0.2 b"],
    ["{{ settings.keys }} {{ settings.keys() | length }}", "data wins 6"],
    ["[{{ nothing }}{{ settings.nope }}{{ settings.nope.deeper }}{{ facts.ips[9] }}]", "[]"],
    ["{{ 'yes' if nothing else 'no' }}", "no"],
    ["{{ settings.nginx['po' ~ 'rt'] }}", "80"],
  ]],
  ["slices", [
    ["{{ [1,2,3,4][1:] }}{{ [1,2,3,4][:2] }}{{ [1,2,3,4][:] }}", "[2, 3, 4][1, 2][1, 2, 3, 4]"],
    [
      "{{ 'abcdef'[1:4] }} {{ 'abcdef'[-2:] }} {{ 'abcdef'[::2] }} {{ 'abc'[::-1] }}",
      "bcd ef ace cba",
    ],
    ["{{ [1,2,3,4][3:0:-2] }}{{ [1,2,3,4][-3:-1] }}{{ [1][5:] }}", "[4, 2][2, 3][]"],
  ]],
  ["calculates", [
    ["{{ 2 * 7 // 2 }} {{ 2 * 5 % 3 }} {{ 10 - 2 - 3 }} {{ 7 / 2 }} {{ 2 ** 3 }}", "7 1 5 3.5 8"],
    ["{{ -7 // 2 }} {{ -7 % 3 }}", "-4 2"],
    ["{{ 1 + 2 * 3 }} {{ (1 + 2) * 3 }}", "7 9"],
    [
      "{{ 'a' ~ 1 ~ none }} {{ 'a' + 'b' }} {{ [1] + [2] }} {{ 'ab' * 2 }}",
      "a1None ab [1, 2] abab",
    ],
    ["{{ '%s-%03d' % ('a', 7) }} {{ '%(x)s' % {'x': 1} }}", "a-007 1"],
    ["{{ 'a %s' | format('b') }} {{ '{} {1} {n}'.format(1, 2, n=3) }}", "a b 1 2 3"],
    ["{{ '{:>5}|{:<4}|{:05.1f}'.format('a', 'b', 2.25) }}", "    a|b   |002.3"],
  ]],
  ["compares", [
    ["{{ 1 == 1.0 }} {{ 'a' != 'b' }} {{ 1 < 2 <= 2 }} {{ 3 > 4 }}", "True True True False"],
    ["{{ [1, [2]] == [1, [2]] }} {{ {'a': 1} == {'a': 1} }} {{ true == 1 }}", "True True True"],
    ["{{ 1 in [1] }} {{ 'b' in 'abc' }} {{ 'port' in settings.nginx }}", "True True True"],
    ["{{ 3 not in [1] }} {{ not 1 in [1] }} {{ 'x' not in 'abc' }}", "True False True"],
    ["{{ 0 or 'b' }} {{ 'a' and 'b' }} {{ not [] }} {{ not {} }}", "b b True True"],
    ["{{ 'a' if false else 'b' if true else 'c' }}{{ 'x' if false }}", "b"],
    ["{{ 'a' if true else 'b' if false else 'c' }}", "a"],
  ]],
  ["decides", [
    ["{% if settings.on %}a{% else %}b{% endif %}", "a"],
    ["{% if settings.empty %}a{% elif settings.none %}b{% else %}c{% endif %}", "c"],
    ["{% if nothing %}a{% endif %}b", "b"],
    ["{% if 1 %}{% if 0 %}a{% else %}b{% endif %}{% endif %}", "b"],
  ]],
  ["loops", [
    ["{% for x in [1, 2] %}{{ x }},{% endfor %}", "1,2,"],
    ["{% for x in settings.empty %}x{% else %}none{% endfor %}", "none"],
    ["{% for x in nothing %}x{% else %}none{% endfor %}", "none"],
    ["{% for k, v in {'b': 1, 'a': 2}.items() %}{{ k }}{{ v }} {% endfor %}", "a2 b1 "],
    ["{% for k, v in {'b': 1, 'a': 2} %}{{ k }}{{ v }} {% endfor %}", "a2 b1 "],
    ["{% for k in {'b': 1, 'a': 2} %}{{ k }}{% endfor %}", "ab"],
    ["{% for x in [1, 2, 3, 4] if x is even %}{{ loop.index }}:{{ x }} {% endfor %}", "1:2 2:4 "],
    ["{% for a, b in [[1, 2], [3, 4]] %}{{ a + b }} {% endfor %}", "3 7 "],
    [
      "{% for x in 'abc' %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}" +
      "{{ loop.first }}{{ loop.last }}{{ loop.length }} {% endfor %}",
      "1032TrueFalse3 2121FalseFalse3 3210FalseTrue3 ",
    ],
    [
      "{% for x in 'abc' %}{{ loop.cycle('o', 'e') }}{{ loop.previtem }}{{ loop.nextitem }} {% endfor %}",
      "ob eac ob ",
    ],
    [
      "{% for x in [1] %}{% for y in [1] %}{{ loop.depth }}{% endfor %}{{ loop.depth }}{% endfor %}",
      "21",
    ],
    [
      "{% for x in range(9) %}{% if x == 1 %}{% continue %}{% elif x == 3 %}{% break %}{% endif %}{{ x }}{% endfor %}",
      "02",
    ],
    ["{% set x = 1 %}{% for i in [1] %}{% set x = 2 %}{% endfor %}{{ x }}", "1"],
    ["{% for x in range(1, 7, 2) %}{{ x }}{% endfor %}{{ range(3) }}", "135[0, 1, 2]"],
  ]],
  ["sets", [
    ["{% set a = 1 %}{% set b, c = [2, 3] %}{{ a }}{{ b }}{{ c }}", "123"],
    ["{% set a %}x{{ 1 }}{% endset %}[{{ a }}]", "[x1]"],
    [
      "{% set ns = namespace(n=0) %}{% for i in [1,2] %}{% set ns.n = ns.n + i %}{% endfor %}{{ ns.n }}",
      "3",
    ],
    ["{% with a = 1, b = 2 %}{{ a + b }}{% endwith %}{{ a }}", "3"],
    ["{% do settings.nginx.update({'port': 81}) %}{{ pillar.nginx.port }}", "81"],
    ["{% set l = [1] %}{% do l.append(2) %}{% do l.extend([3]) %}{{ l }}", "[1, 2, 3]"],
    [
      "{% set l = mlist(1) %}{% do l.Append(2) %}{{ l.Len() }}{{ l.Items() }}{{ l.Get(9) }}{{ l|length }}",
      "2[1, 2]None2",
    ],
    ["{{ dict(a=1) }}{{ dict([['b', 2]], c=3) }}", "{'a': 1}{'b': 2, 'c': 3}"],
  ]],
  ["has macros", [
    [
      "{% macro m(a, b=2, c) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }} {{ m(1, c=3) }}",
      "12 123",
    ],
    ["{% macro m() %}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, x=2) }}", "[1]{'x': 2}"],
    ["{% macro m() %}[{{ caller() }}]{% endmacro %}{% call m() %}in{% endcall %}", "[in]"],
    ["{% macro m() %}{{ caller(1) }}{% endmacro %}{% call(n) m() %}n{{ n }}{% endcall %}", "n1"],
    ["{% macro m(n) %}{{ n }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(3) }}", "3210"],
    [
      "{% macro m(a, b, c) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(*[1, 2], **{'c': 3}) }}",
      "123",
    ],
    ["{{ '{0}-{1}'.format(*['a', 'b']) }}", "a-b"],
    ["{% filter upper %}abc{{ 'd' }}{% endfilter %}", "ABCD"],
    ["{% autoescape true %}{{ '<' }}{% endautoescape %}", "<"],
  ]],
  ["strips blanks", [
    ["a  {{- 1 -}}  b", "a1b"],
    ["a\n  {%- if 1 -%}\n b {%- endif %}", "ab"],
    ["a {# no #} b {#- no -#} c", "a  bc"],
    ["{% raw %}{{ x }}{% if %}{% endraw %}", "{{ x }}{% if %}"],
    ["a {%- raw -%} {{ x }} {%- endraw -%} b", "a{{ x }}b"],
    ["\t{% if 1 %}\n{% endif %}", "\t\n"],
  ]],
  ["has tests", [
    ["{{ x is defined }} {{ x is undefined }} {{ x is not defined }}", "False True True"],
    ["{{ settings.on is defined and settings.nope is not defined }}", "True"],
    [
      "{{ none is none }} {{ 1 is number }} {{ 'a' is string }} {{ 1 is string }}",
      "True True True False",
    ],
    [
      "{{ {} is mapping }} {{ [] is iterable }} {{ 'a' is sequence }} {{ 1 is iterable }}",
      "True True True False",
    ],
    ["{{ 2 is even }} {{ 3 is odd }} {{ 9 is divisibleby(3) }}", "True True True"],
    [
      "{{ true is true }} {{ 1 is integer }} {{ 1.5 is float }} {{ true is boolean }}",
      "True True True True",
    ],
    [
      "{{ 'a' is lower }} {{ 'A' is upper }} {{ 1 is in([1]) }} {{ 2 is gt(1) }}",
      "True True True True",
    ],
    ["{{ range is callable }} {{ 'upper' is filter }} {{ 'odd' is test }}", "True True True"],
  ]],
  ["has methods of dicts", [
    ["{{ settings.get('on') }} {{ settings.get('x') }} {{ settings.get('x', 5) }}", "True None 5"],
    ["{{ {'b': 1, 'a': 2}.keys() }} {{ {'b': 1, 'a': 2}.values() }}", "['a', 'b'] [2, 1]"],
    ["{{ {'b': 1, 'a': 2}.items() }}", "[['a', 2], ['b', 1]]"],
    [
      "{% set d = {'a': 1} %}{{ d.pop('a') }}{{ d }}{{ d.setdefault('b', 2) }}{{ d.copy() }}",
      "1{}2{'b': 2}",
    ],
  ]],
  ["has methods of texts and lists", [
    [
      "{{ 'a,b,c'.split(',') }} {{ 'a b'.split() }} {{ 'a/b/c'.rsplit('/', 1) }}",
      "['a', 'b', 'c'] ['a', 'b'] ['a/b', 'c']",
    ],
    ["{{ 'a,b,c'.split(',', 1) }} {{ ','.join(['a', 'b']) }}", "['a', 'b,c'] a,b"],
    ["{{ 'abc'.startswith('ab') }} {{ 'abc'.endswith(('x', 'c')) }}", "True True"],
    [
      "{{ 'aB'.upper() }}{{ 'aB'.lower() }}{{ 'ab cd'.title() }}{{ 'aB'.capitalize() }}",
      "ABabAb CdAb",
    ],
    [
      "{{ ' a '.strip() }}|{{ 'xax'.strip('x') }}|{{ ' a'.lstrip() }}|{{ 'a '.rstrip() }}",
      "a|a|a|a",
    ],
    ["{{ 'aXbX'.replace('X', '-') }} {{ 'aXbX'.replace('X', '-', 1) }}", "a-b- a-bX"],
    [
      "{{ 'abc'.find('c') }}{{ 'abc'.find('x') }}{{ 'aa'.count('a') }}{{ '7'.zfill(3) }}",
      "2-12007",
    ],
    [
      "{{ '12'.isdigit() }} {{ 'a'.isalpha() }} {{ 'a=b'.partition('=') }}",
      "True True ['a', '=', 'b']",
    ],
    ["{% set l = [3, 1] %}{% do l.sort() %}{{ l }}{{ l.pop() }}{{ l.index(1) }}", "[1, 3]30"],
  ]],
  ["has filters", [
    ["{{ 'a'|upper }}{{ 'A'|lower }} {{ 'ab cd'|title }} {{ 'ab'|capitalize }}", "Aa Ab Cd Ab"],
    ["{{ ' a '|trim }}|{{ 'a b c'|wordcount }}|{{ 'abc'|replace('b', 'x') }}", "a|3|axc"],
    ["{{ 'abcdefghij'|truncate(5, true, '…', 0) }} {{ 'ab'|truncate(5) }}", "abcd… ab"],
    ["{{ [1, 2]|join('-') }} {{ settings.users|join(',', attribute='name') }}", "1-2 ann,bob"],
    [
      "{{ [3, 1, 2]|sort }}{{ [1, 2]|sort(reverse=true) }}{{ ['b', 'A']|sort }}",
      "[1, 2, 3][2, 1]['A', 'b']",
    ],
    ["{{ settings.users|sort(attribute='uid')|map(attribute='name')|list }}", "['bob', 'ann']"],
    [
      "{{ [1, 2, 3]|first }}{{ [1, 2, 3]|last }}{{ [1, 2]|reverse }}{{ 'ab'|reverse }}",
      "13[2, 1]ba",
    ],
    [
      "{{ [1, 1, 2]|unique }} {{ [1, 2, 3]|select('odd')|list }} {{ [1, 2]|reject('odd') }}",
      "[1, 2] [1, 3] [2]",
    ],
    [
      "{{ ['a']|map('upper')|list }} {{ settings.users|selectattr('uid', 'gt', 1)|map(attribute='name') }}",
      "['A'] ['ann']",
    ],
    [
      "{{ [1, 2, 3]|batch(2) }} {{ [1, 2, 3]|batch(2, 0) }} {{ [1, 2, 3]|slice(2) }}",
      "[[1, 2], [3]] [[1, 2], [3, 0]] [[1, 2], [3]]",
    ],
    [
      "{{ x|default('d') }} {{ ''|default('d', true) }} {{ x.y.z|d(1) }} {{ none|default(2) }}",
      "d d 1 None",
    ],
    [
      "{{ '12'|int + 1 }} {{ 'x'|int(5) }} {{ 'ff'|int(base=16) }} {{ '1.5'|float }} {{ 3.7|int }}",
      "13 5 255 1.5 3",
    ],
    [
      "{{ 1|string ~ 2 }} {{ -3|abs }} {{ 2.6|round }} {{ 2.345|round(2, 'floor') }}",
      "12 3 3 2.34",
    ],
    ["{{ settings.nginx|attr('port') }} {{ settings.nginx|length }} {{ 'abc'|count }}", "80 3 3"],
    ["{{ {'b': 1, 'a': [true, none]}|to_json }}", '{"a": [true, null], "b": 1}'],
    ["{{ none|json }}{{ x|tojson }} {{ [1]|tojson(indent=2) }}", "nullnull [\n  1\n]"],
    [
      "{{ none|yaml_encode }} {{ 'a: b'|yaml_encode }} {{ true|yaml_encode }} {{ [1]|yaml_encode }}",
      "null a: b true [1]",
    ],
    [
      `{{ 'a"b'|yaml_dquote }} {{ "it's"|yaml_squote }} {{ "it's"|quote }}`,
      `"a\\"b" 'it''s' 'it'"'"'s'`,
    ],
    ["{{ {'a': 1}|yaml }} {{ {'a': [1]}|yaml(false) }}", '{"a": 1} a:\n  - 1'],
    [
      "{{ 'web-01'|regex_match('web-\\d+') }} {{ 'x'|regex_match('y') }} {{ 'web-01'|regex_match('(\\w+)-(\\d+)') }}",
      "True None ['web', '01']",
    ],
    [
      "{{ 'a web'|regex_search('WEB', ignorecase=true) }} {{ 'a1b2'|regex_replace('(\\d)', '<\\1>') }}",
      "True a<1>b<2>",
    ],
    [
      "{{ {'a': 1}|dict_merge({'b': 2}) }} {{ 1|dict_merge({}) }} {{ 'x'|settings_decrypt }}",
      "{'a': 1, 'b': 2} 1 x",
    ],
    ["{{ 'a\nb\n\nc'|indent(2) }} {{ 'a\nb'|indent(2, true) }}", "a\n  b\n\n  c   a\n  b"],
    ["{{ {'b': 1, 'a': 2}|dictsort }} {{ {'b': 1}|items }}", "[['a', 2], ['b', 1]] [['b', 1]]"],
    [
      "{{ settings.users|groupby('name')|map('first') }} {{ [1, 2]|sum }} {{ [1, 3]|max }}{{ [1, 3]|min }}",
      "['ann', 'bob'] 3 31",
    ],
    [
      "{{ [1, 2]|union([2, 3]) }} {{ [1, 2]|difference([2]) }} {{ [1, 2]|intersect([2]) }}",
      "[1, 2, 3] [1] [2]",
    ],
    [
      "{{ 'yes'|to_bool }} {{ 'a b/c'|urlencode }} {{ 'hi'|base64_encode }} {{ 'aGk='|base64_decode }}",
      "True a%20b/c aGk= hi",
    ],
    [
      "{{ 'ab'|center(6) }}| {{ '<'|e }} {{ [[1], [2, [3]]]|flatten }} {{ 'a'|list }}",
      "  ab  | &#60; [1, 2, 3] ['a']",
    ],
    ["{{ 'a b c'|wordwrap(3) }}", "a b\nc"],
  ]],
  ["has functions", [
    ["{{ facts_get('os.family') }} {{ facts_get('x') }} {{ facts_get('x', 1) }}", "Debian None 1"],
    ["{{ pillar_get('nginx:port') }} {{ pillar_get('nginx:x', 9) }}", "80 9"],
    ["{{ grains_filter_by({'Debian': {'p': 1}, 'default': {'p': 2}}) }}", "{'p': 1}"],
    [
      "{{ grains_filter_by({'RedHat': 1, 'default': {'p': 2}}, merge={'q': {'r': 3}}) }}",
      "{'p': 2, 'q': {'r': 3}}",
    ],
    ["{{ grains_filter_by({'ubuntu': 5}, 'os.name') }} {{ grains_filter_by({'x': 5}) }}", "5 None"],
    ["{{ file_dirname('/etc/a/b') }} {{ file_dirname('/a') }}", "/etc/a /"],
    [
      "{% set c = cycler('a', 'b') %}{{ c.next() }}{{ c.next() }}{{ c.next() }}{{ c.current }}",
      "abab",
    ],
    ["{% set j = joiner('|') %}{% for x in 'ab' %}{{ j() }}{{ x }}{% endfor %}", "a|b"],
  ]],
  ["answers salt[...] from facts and settings", [
    [
      "{{ salt['grains.get']('os.family') }} {{ salt['grains.get']('os:family') }}",
      "Debian Debian",
    ],
    ["{{ salt.grains.get('os:family') }} {{ salt['pillar.get']('nginx:port') }}", "Debian 80"],
    [
      "[{{ salt['pillar.get']('no') }}{{ salt['pillar.get']('no', 7) }}{{ salt['pillar.get']('no', default={}) }}]",
      "[7{}]",
    ],
    ["{{ salt['pillar.items']().nginx.port }} {{ salt_call('grains.item', 'cpus') }}", "80 4"],
    ["{{ salt['config.get']('cpus') }} {{ salt['config.get']('nginx:port') }}", "4 80"],
    [
      "{{ salt.file.dirname('a/b/c') }} {{ salt.file.basename('a/b') }} {{ salt.file.join('a', 'b') }}",
      "a/b b a/b",
    ],
    ["{{ salt['slsutil.merge']({'a': {'b': 1}}, {'a': {'c': 2}}) }}", "{'a': {'b': 1, 'c': 2}}"],
    ["{% set f = 'grains' %}{{ salt[f ~ '.get']('cpus') }}", "4"],
  ]],
];

for (const [section, cases] of rows) {
  Deno.test(`renderTemplate() ${section}`, () => {
    for (const [source, want] of cases) {
      assert.equal(renderTemplate(source, VALUES), want, source);
    }
  });
}

const FILES: Readonly<Record<string, string>> = {
  "lib/map.jinja":
    "{% set port = 8080 %}{% macro hi(n) %}hi {{ n }}{{ mark }}{% endmacro %}printed",
  "lib/data.yaml": "a: 1\nb: [x, {{ 1 + 1 }}]\n__proto__: p\n",
  "lib/data.json": '{"a": {"b": true}}',
  "lib/note.txt": "just text",
  "lib/part.jinja": "part {{ mark }}{{ facts.cpus }}",
  "lib/near.jinja": "{% include './part.jinja' %}",
  "lib/outer.jinja": "{% include 'lib/near.jinja' %}{% include '../top.jinja' %}",
  "top.jinja": "top",
  "base.jinja": "<{% block a %}base a{% endblock %}|{% block b %}base b{% endblock %}>",
  "middle.jinja": "{% extends 'base.jinja' %}{% block a %}middle {{ super() }}{% endblock %}",
  "loop.jinja": "{% include 'loop.jinja' %}",
  "broken.jinja": "one\ntwo {{ 1 + }}",
  "failing.jinja": "one\n\n{{ 1 / 0 }}",
};
const includes = (path: string): string | null => Object.hasOwn(FILES, path) ? FILES[path]! : null;

const fileRows: [source: string, want: string][] = [
  ["{% include 'top.jinja' %}", "top"],
  ["{% include 'salt://top.jinja' %}{% include 'zester://top.jinja' %}", "toptop"],
  ["{% set mark = 'm' %}{% include 'lib/part.jinja' %}", "part m4"],
  ["{% set mark = 'm' %}{% include 'lib/part.jinja' without context %}", "part 4"],
  ["{% include 'no.jinja' ignore missing %}.", "."],
  ["{% include ['no.jinja', 'top.jinja'] %}", "top"],
  ["{% include 'lib/outer.jinja' %}", "part 4top"],
  ["{% import 'lib/map.jinja' as m %}{{ m.port }} {{ m.hi('x') }}", "8080 hi x"],
  ["{% from 'lib/map.jinja' import port, hi as h %}{{ port }} {{ h(1) }}", "8080 hi 1"],
  ["{% set mark = '!' %}{% from 'lib/map.jinja' import hi with context %}{{ hi(1) }}", "hi 1!"],
  ["{% set mark = '!' %}{% from 'lib/map.jinja' import hi %}{{ hi(1) }}", "hi 1"],
  ["{% import_yaml 'lib/data.yaml' as d %}{{ d.a }}{{ d.b }}{{ d['__proto__'] }}", "1['x', 2]p"],
  ["{% import_json 'lib/data.json' as d %}{{ d.a.b }}", "True"],
  ["{% import_text 'lib/note.txt' as d %}{{ d }}", "just text"],
  ["{% load_yaml as d %}\na: {{ 1 + 1 }}\n{% endload %}{{ d.a }}", "2"],
  [
    "{% load_yaml as d %}\nx: &x {p: 1}\ny: {<<: *x, q: 2}\n{% endload %}{{ d.y }}",
    "{'p': 1, 'q': 2}",
  ],
  [
    "{% extends 'base.jinja' %}lost{% block b %}own {{ super() }}{% endblock %}",
    "<base a|own base b>",
  ],
  [
    "{% extends 'middle.jinja' %}{% block a %}own {{ super() }}{% endblock %}",
    "<own middle base a|base b>",
  ],
  ["{% set p = 'lib' %}{% from p ~ '/map.jinja' import port %}{{ port }}", "8080"],
];

Deno.test("renderTemplate() reaches other files only through `includes`", () => {
  for (const [source, want] of fileRows) {
    assert.equal(renderTemplate(source, VALUES, { includes, name: "init.zy" }), want, source);
  }
});

const refusedFiles: [source: string, why: RegExp][] = [
  ["{% include '../x' %}", /leaves the files/],
  ["{% include 'lib/../../x' %}", /leaves the files/],
  ["{% include '/etc/passwd' %}", /is absolute/],
  ["{% include 'file:///etc/passwd' %}", /there is no file/],
  ["{% include 'a\\\\b' %}", /no path of a file/],
  ["{% include 'a\\0b' %}", /no path of a file/],
  ["{% include '__proto__' %}", /there is no file/],
  ["{% include 'toString' %}", /there is no file/],
  ["{% include 'loop.jinja' %}", /nested deeper than 32/],
  ["{% from 'lib/map.jinja' import prot %}", /`prot` is not defined in that file/],
  ["{% from 'lib/map.jinja' import _x %}", /underscore/],
  ["{% include 5 %}", /needs a text/],
];

Deno.test("renderTemplate() refuses files that are not in the set", () => {
  for (const [source, why] of refusedFiles) {
    assert.throws(() => renderTemplate(source, VALUES, { includes, name: "init.zy" }), why, source);
  }
  assert.throws(() => renderTemplate("{% include 'top.jinja' %}", {}), /has no files beside it/);
});

const errors: [source: string, message: string, options?: RenderOptions][] = [
  [
    "a:\n  - listen: {{ settings.nginx.prot }}",
    "`settings.nginx.prot` is not defined\n" +
    " ┌ web/init.zy:2:16\n" +
    "2│   - listen: {{ settings.nginx.prot }}\n" +
    " │                ^^^^^^^^^^^^^^^^^^^ no such key\n" +
    "settings.nginx has: port, workers, log_format",
    { undefined: "error" },
  ],
  ["{{ x|uper }}", "there is no filter `uper`\n ┌ web/init.zy:1:6\n1│ {{ x|uper }}\n │      ^^^^"],
  [
    "{% fro x in y %}",
    "unknown tag `fro`\n ┌ web/init.zy:1:4\n1│ {% fro x in y %}\n │    ^^^ did you mean `for`?",
  ],
  ["a\n{% if x %}", "`{% endif %}` is missing\n ┌ web/init.zy:2:9\n2│ {% if x %}\n │         ^"],
  ["{{ 'a }}", "a text is never closed\n ┌ web/init.zy:1:4\n1│ {{ 'a }}\n │    ^"],
  ["{{ x[] }}", "needs an index between `[` and `]`\n ┌ web/init.zy:1:4\n1│ {{ x[] }}\n │    ^^^"],
  ["{{ (1 }}", "`}` closes nothing that is open here\n ┌ web/init.zy:1:7\n1│ {{ (1 }}\n │       ^"],
  ["a {# b", "a comment `{#` is never closed\n ┌ web/init.zy:1:3\n1│ a {# b\n │   ^"],
  ["{{ 1 / 0 }}", "division by zero\n ┌ web/init.zy:1:4\n1│ {{ 1 / 0 }}\n │    ^"],
  [
    "{{ 'a'.uper() }}",
    "a text has no method `uper`\n ┌ web/init.zy:1:4\n1│ {{ 'a'.uper() }}\n │    ^^^^^^^^",
  ],
  [
    "{{ 'a'|center('x') }}",
    "the filter `center` needs a number, not a text\n ┌ web/init.zy:1:8\n1│ {{ 'a'|center('x') }}\n │        ^^^^^^",
  ],
  [
    "\t{{ 1 + 'a' }}",
    "a number and a text cannot be added\n ┌ web/init.zy:1:5\n1│  {{ 1 + 'a' }}\n │     ^",
  ],
  [
    "{% include 'broken.jinja' %}",
    "unexpected `}}`\n ┌ broken.jinja:2:12\n2│ two {{ 1 + }}\n │            ^",
    { includes },
  ],
  [
    "{% include 'failing.jinja' %}",
    "division by zero\n ┌ failing.jinja:3:4\n3│ {{ 1 / 0 }}\n │    ^",
    { includes },
  ],
  [
    "{{ salt['pkg.version']('x') }}",
    "salt[\"pkg.version\"]: execution functions cannot be called in this template\n ┌ web/init.zy:1:4\n1│ {{ salt['pkg.version']('x') }}\n │    ^^^^^^^^^^^^^^^^^^^",
  ],
];

Deno.test("renderTemplate() says where it failed, with the line, a caret and what is known", () => {
  for (const [source, message, options] of errors) {
    const thrown = failure(source, { name: "web/init.zy", ...options });
    assert.equal(thrown.message, message);
    assert.ok(isZesterError(thrown, "template_failed"));
  }
});

function failure(source: string, options: RenderOptions = {}): TemplateError {
  try {
    renderTemplate(source, VALUES, options);
  } catch (thrown) {
    assert.ok(thrown instanceof TemplateError, String(thrown));
    return thrown;
  }
  return assert.fail(`no error: ${source}`);
}

Deno.test("renderTemplate() gives the place as data and the fix apart", () => {
  const thrown = failure("\n{{ settings.nginx.prot }}", { name: "a.zy", undefined: "error" });
  assert.deepEqual(thrown.where, { file: "a.zy", line: 2, column: 4 });
  assert.equal(
    thrown.fix,
    "did you mean `settings.nginx.port`?\nor give a default: {{ settings.nginx.prot | default(...) }}",
  );
  assert.match(errorText(thrown), /^error ZE0312: `settings.nginx.prot` is not defined/);
});

const strictRows: [source: string, want: string | RegExp][] = [
  ["{{ nothing }}", /`nothing` is not defined/],
  ["{{ settings.nope.deeper }}", /`settings.nope` is not defined/],
  ["{% if nothing %}{% endif %}", /not defined/],
  ["{% for x in nothing %}{% endfor %}", /not defined/],
  ["{{ nothing ~ 'a' }}", /not defined/],
  ["{{ nothing|upper }}", /not defined/],
  ["{{ nothing|default('d') }}{{ settings.nope|d(1) }}", "d1"],
  ["{{ nothing is defined }}{% if settings.nope is not defined %}!{% endif %}", "False!"],
  ["{{ settings.get('nope') }}", "None"],
];

Deno.test("renderTemplate() refuses what is not defined when it is asked to", () => {
  for (const [source, want] of strictRows) {
    const render = () => renderTemplate(source, VALUES, { undefined: "error" });
    if (typeof want === "string") assert.equal(render(), want, source);
    else assert.throws(render, want, source);
  }
});

Deno.test("renderTemplate() trims blocks and strips lines when it is asked to", () => {
  const source =
    "a\n  {% if 1 %}\n  b\n  {% endif %}\n  {# c #}\n  {%+ if 1 %}d{% endif +%}\ne {{ 1 }}\n";
  const both = renderTemplate(source, {}, { trimBlocks: true, lstripBlocks: true });
  assert.equal(both, "a\n  b\n  d\ne 1\n");
  assert.equal(renderTemplate(source, {}, { trimBlocks: true }), "a\n    b\n      d\ne 1\n");
});

Deno.test("renderTemplate() asks `call` with plain data and copies the answer", () => {
  const asked: unknown[] = [];
  const call: NonNullable<RenderOptions["call"]> = (name, positional, named) => {
    asked.push([name, positional, { ...named }]);
    return { out: ["x"] };
  };
  const source = "{{ salt['cmd.run']('ls', cwd='/', opts={'a': [1]}).out[0] }}" +
    "{{ salt.cmd.run('a').out }}{{ salt_call('b.c').out }}";
  assert.equal(renderTemplate(source, VALUES, { call }), "x['x']['x']");
  assert.deepEqual(JSON.parse(JSON.stringify(asked)), [
    ["cmd.run", ["ls"], { cwd: "/", opts: { a: [1] } }],
    ["cmd.run", ["a"], {}],
    ["b.c", [], {}],
  ]);
  const failing: RenderOptions = {
    call: () => {
      throw new Error("no such function");
    },
  };
  assert.match(failure("{{ salt['a.b']() }}", failing).message, /^salt\["a.b"\]: no such function/);
});

Deno.test("renderTemplate() calls functions that it was given", () => {
  const functions = { basket: (positional: unknown[]) => [{ peel_id: positional[0], value: 1 }] };
  assert.equal(renderTemplate("{{ basket('a')[0].peel_id }}", {}, { functions }), "a");
  assert.throws(() => renderTemplate("{{ toString() }}", {}, { functions }), /not defined/);
});

Deno.test("renderTemplate() lets `onPrint` say what is printed, once for every value", () => {
  const seen: unknown[] = [];
  const onPrint = (value: unknown): string => `<${seen.push(value)}>`;
  const source = "{% macro m(a) %}m{{ a }}{% endmacro %}{% set b %}b{{ 2 }}{% endset %}" +
    "{{ facts.cpus }}{% if facts.cpus > 3 %}{{ m('x') }}{{ b }}{% endif %}{{ m(9)|indent }}{{ {'k': [1]} }}{{ no }}";
  assert.equal(renderTemplate(source, VALUES, { onPrint }), "<2>m<3>b<1>m<4><5><6>");
  assert.deepEqual(JSON.parse(JSON.stringify(seen)), [2, 4, "x", 9, { k: [1] }, null]);
});

const secretRows: [source: string, want: string | RegExp][] = [
  ["{{ secret }}", "[db]"],
  ["{% set x = secret %}{{ x }}", "[db]"],
  ["{{ secret is defined }}", "[true]"],
  ["{{ secret|default('a') }}", "[db]"],
  ["{{ secret|upper }}", /is a secret/],
  ["{{ secret|length }}", /is a secret/],
  ["{{ secret == 'a' }}", /is a secret/],
  ["{{ secret ~ 'a' }}", /is a secret/],
  ["{{ [secret]|join }}", /is a secret/],
  ["{{ [secret]|tojson }}", /is a secret/],
  ["{{ secret[0] }}", /is a secret/],
  ["{{ secret.label }}", /is a secret/],
  ["{% if secret %}{% endif %}", /is a secret/],
  ["{% for x in secret %}{% endfor %}", /is a secret/],
  ["{{ 'a' in secret }}", /is a secret/],
  ["{{ '%s' % secret }}", /is a secret/],
];

Deno.test("renderTemplate() lets a secret be printed by `onPrint`, and nothing else", () => {
  const onPrint = (value: unknown) =>
    `[${value instanceof OpaqueValue ? value.label : String(value)}]`;
  for (const [source, want] of secretRows) {
    const render = () => renderTemplate(source, { secret: new OpaqueValue("db") }, { onPrint });
    if (typeof want === "string") assert.equal(render(), want, source);
    else assert.throws(render, want, source);
  }
  assert.throws(
    () => renderTemplate("{{ s }}", { s: new OpaqueValue("db") }),
    /cannot be printed here/,
  );
});

Deno.test("renderTemplate() never changes what it was given", () => {
  const values = { d: { a: [1] } };
  renderTemplate("{% do d.update({'b': 2}) %}{% do d.a.append(2) %}", values);
  assert.deepEqual(values, { d: { a: [1] } });
});

Deno.test("renderTemplate() prints data as it is, whatever it holds", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    assert.equal(renderTemplate("{{ x }}", { x: text }), text);
    assert.equal(renderTemplate("{{ x.y }}", { x: { y: `{{ ${text} }}` } }), `{{ ${text} }}`);
  }));
});

Deno.test("renderTemplate() of any text prints a text or fails as a template", () => {
  const piece = fc.constantFrom(
    ..."{{ }} {% %} {# #} - ( ) [ ] { } . , : | ~ = == * ** % 1 'a' x upper is not in and or if else"
      .split(" "),
    ..."elif endif for endfor set endset macro endmacro call endcall filter endfilter block endblock"
      .split(" "),
    ..."raw endraw include import from extends as with endwith do import_yaml load_yaml endload"
      .split(" "),
    ..."break continue loop caller super range namespace salt \n".split(" "),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const source = pieces.join(" ");
      try {
        assert.equal(typeof renderTemplate(source, { x: [1] }), "string");
      } catch (thrown) {
        assert.ok(thrown instanceof TemplateError, `${source}: ${String(thrown)}`);
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("renderTemplate() is the same whatever the order of keys", () => {
  const source =
    "{% for k, v in d.items() %}{{ k }}{{ v }}{% endfor %}{% for k in d %}{{ k }}{% endfor %}";
  assert.equal(
    renderTemplate(source, { d: { b: 1, a: 2 } }),
    renderTemplate(source, { d: { a: 2, b: 1 } }),
  );
});
