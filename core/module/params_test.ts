import assert from "node:assert/strict";
import fc from "fast-check";
import {
  absolutePath,
  checked,
  decodeParams,
  defaulted,
  fileMode,
  flag,
  groupRef,
  integer,
  line,
  map,
  number,
  oneOf,
  optional,
  type Param,
  primary,
  sensitive,
  templateFlag,
  text,
  textList,
  textMap,
  triState,
} from "./params.ts";

const FAILS = Symbol("fails");

/** What one value becomes, or that it fails. */
function decoded(param: Param<unknown>, value: unknown): unknown {
  const result = decodeParams({ params: { it: param } }, { id: "", args: { it: value } });
  return result.ok ? result.params["it"] : FAILS;
}

const plain = (value: unknown) => JSON.parse(JSON.stringify(value));

const rows: [param: Param<unknown>, value: unknown, want: unknown][] = [
  [text("x"), "a", "a"],
  [text("x"), true, "true"],
  [text("x"), 7, "7"],
  [text("x"), 1.5, "1.5"],
  [text("x"), ["a"], FAILS],
  [text("x"), { a: 1 }, FAILS],
  [flag("x"), true, true],
  [flag("x"), " YES ", true],
  [flag("x"), "on", true],
  [flag("x"), "1", true],
  [flag("x"), 1, true],
  [flag("x"), "off", false],
  [flag("x"), 0, false],
  [flag("x"), "No", false],
  [flag("x"), "maybe", FAILS],
  [flag("x"), 2, FAILS],
  [flag("x"), 0.5, FAILS],
  [integer("x"), "12", 12],
  [integer("x"), " -3 ", -3],
  [integer("x"), 4.0, 4],
  [integer("x"), 4.5, FAILS],
  [integer("x"), true, FAILS],
  [integer("x"), "0x10", FAILS],
  [integer("x"), 2 ** 60, FAILS],
  [number("x"), "1.5", 1.5],
  [number("x"), Infinity, FAILS],
  [number("x"), "NaN", FAILS],
  [number("x"), false, FAILS],
  [map("x"), { a: [1] }, { a: [1] }],
  [map("x"), "a", FAILS],
  [map("x"), ["a"], FAILS],
  [map("x"), JSON.parse('{"__proto__": {"polluted": true}}'), FAILS],
  [map("x"), JSON.parse('{"constructor": 1}'), FAILS],
  [fileMode("x"), "0644", 0o644],
  [fileMode("x"), "644", 0o644],
  [fileMode("x"), 420, 0o644],
  [fileMode("x"), "04755", 0o4755],
  [fileMode("x"), "0888", FAILS],
  [fileMode("x"), -1, FAILS],
  [fileMode("x"), 0o10000, FAILS],
  [fileMode("x"), "rw-r--r--", FAILS],
  [triState("x"), "false", false],
  [groupRef("x"), "1000", { gid: 1000 }],
  [groupRef("x"), 12, { gid: 12 }],
  [groupRef("x"), "adm", { group: "adm" }],
  [groupRef("x"), -1, FAILS],
  [templateFlag("x"), "jinja", true],
  [templateFlag("x"), "Jinja", true],
  [templateFlag("x"), false, false],
  [templateFlag("x"), "mako", FAILS],
  [textList("x"), "a", ["a"]],
  [textList("x"), ["a", 1, true], ["a", "1", "true"]],
  [textList("x"), [["a"]], FAILS],
  [textMap("x"), { a: 1, b: true }, { a: "1", b: "true" }],
  [textMap("x"), { a: { b: 1 } }, FAILS],
  [line("x"), "a\nb", FAILS],
  [absolutePath("x"), "/a//b/", "/a/b"],
  [absolutePath("x"), "/", "/"],
  [absolutePath("x"), "/a/./b", "/a/b"],
  [absolutePath("x"), "/a/../b", FAILS],
  [absolutePath("x"), "a/b", FAILS],
  [absolutePath("x"), "/a\0b", FAILS],
  [oneOf(["tar", "zip"], "x"), "ZIP", "zip"],
  [oneOf(["tar", "zip"], "x"), "rar", FAILS],
  [checked(text("x"), (value) => value === "b" ? "not b" : null), "b", FAILS],
];

for (const [param, value, want] of rows) {
  const shown = JSON.stringify(value);
  Deno.test(`decodeParams() makes of ${shown} as ${param.type}: ${want === FAILS ? "an error" : JSON.stringify(want)}`, () => {
    const got = decoded(param, value);
    if (want === FAILS) assert.equal(got, FAILS);
    else assert.deepEqual(plain(got), plain(want));
  });
}

const rules = {
  params: {
    name: primary(text("What."), "pkg"),
    version: optional(text("Which.")),
    refresh: defaulted(flag("Whether."), false),
    password: optional(sensitive(line("Secret."))),
  },
};

function params(id: string, args: Record<string, unknown>) {
  const result = decodeParams(rules, { id, args });
  return result.ok ? plain(result.params) : result.errors.join("\n");
}

Deno.test("decodeParams() takes the id for the primary parameter", () => {
  assert.deepEqual(params("nginx", {}), { name: "nginx", refresh: false });
});

Deno.test("decodeParams() prefers the name, then the aliases, then the id; empty counts as absent", () => {
  assert.equal(params("id", { name: "a", pkg: "b" }).name, "a");
  assert.equal(params("id", { name: "", pkg: "b" }).name, "b");
  assert.equal(params("id", { name: null, pkg: "" }).name, "id");
});

Deno.test("decodeParams() tells all that is wrong at once", () => {
  const errors = params("", { refresh: "perhaps", verion: "1" });
  assert.match(errors, /"name" is missing/);
  assert.match(errors, /"refresh" cannot be "perhaps"/);
  assert.match(errors, /unknown parameter "verion" \(did you mean "version"\?\)/);
});

Deno.test("decodeParams() shows no sensitive value", () => {
  assert.doesNotMatch(params("a", { password: "hunter2\n" }), /hunter2/);
});

Deno.test("decodeParams() leaves the keys of states alone", () => {
  assert.deepEqual(params("a", { require: [], test: true, onlyif: "true" }).name, "a");
});

Deno.test("decodeParams() fills positional parameters with further words, and no more", () => {
  const two = { params: { key: primary(text("k")), value: text("v") }, positional: ["value"] };
  const taken = decodeParams(two, { id: "a", words: ["b"], args: {} });
  assert.ok(taken.ok && taken.params["value"] === "b");
  const many = decodeParams(two, { id: "a", words: ["b", "c"], args: {} });
  assert.ok(!many.ok && /too many bare words: c/.test(many.errors[0]!));
});

Deno.test("decodeParams() never throws and never pollutes, whatever is given", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.anything()), fc.string(), (args, id) => {
    decodeParams(rules, { id, args });
    assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  }));
});
