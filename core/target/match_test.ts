import assert from "node:assert/strict";
import fc from "fast-check";
import { FACT_COLUMNS_MAX } from "../limits.ts";
import { whyMatches } from "./explain.ts";
import type { FactMap } from "./fact_value.ts";
import { matchTarget } from "./match.ts";
import { namedIds } from "./named_ids.ts";
import { parseTarget } from "./parse.ts";
import { FactIndex, type PeelIndex, peelIndexOf } from "./peel_index.ts";

type Fleet = Readonly<Record<string, FactMap | undefined>>;

function indexOf(fleet: Fleet): PeelIndex {
  const facts = new FactIndex();
  for (const [id, each] of Object.entries(fleet)) if (each !== undefined) facts.put(id, each);
  return peelIndexOf({
    ids: () => Object.keys(fleet),
    has: (id) => Object.hasOwn(fleet, id),
  }, facts);
}

const FLEET: Fleet = {
  "web-01": {
    os: "Ubuntu",
    memory_mb: 4096,
    cpu: { count: 8, model: "Xeon (R) E5" },
    roles: ["web", "Edge"],
    ipv4: ["10.1.2.3", "127.0.0.1"],
    virtual: true,
  },
  "web-02_example_com": {
    os: "ubuntu",
    memory_mb: 512.5,
    cpu: { count: 2 },
    roles: [],
    ip_interfaces: { eth0: ["192.168.7.9"], lo: ["127.0.0.1", "::1"] },
    "dotted.key": "x",
  },
  "db-01": {
    os: "debian",
    memory_mb: 16_384n,
    version: "v2",
    ipv6: ["2001:db8::17"],
    disks: [{ name: "sda" }, { name: "sdb" }],
    empty: "",
    nothing: null,
  },
  "Mute": undefined,
};

const GROUPS = new Map([["web", "web* and not L@Mute"], ["all", "N@web or db-*"]]);

const [WEB1, WEB2, DB] = ["web-01", "web-02_example_com", "db-01"];
const cases: [target: string, want: string[]][] = [
  ["*", ["Mute", DB, WEB1, WEB2]],
  ["web*", [WEB1, WEB2]],
  ["web-0?", [WEB1]],
  ["[dw]*", [DB, WEB1, WEB2]],
  ["[!d-w]*", ["Mute"]],
  ["[^a-z]*", ["Mute"]],
  ["mute", []],
  ["web-02.example.com", [WEB2]],
  ["*.example.*", [WEB2]],
  ["web-02\\.example\\.com", []],
  ["web-02[.]example*", []],
  ["E@^(web|db)-01", [DB, WEB1]],
  ["E@01", [DB, WEB1]],
  ["E@example.com", [WEB2]],
  ["E@(?i)^MUTE$", ["Mute"]],
  ["L@web-01,nobody,,web-02.example.com", [WEB1, WEB2]],
  ["G@os:ubuntu", [WEB1, WEB2]],
  ["G@os:UBUNTU and web-01", [WEB1]],
  ["G@os:!=ubuntu", [DB]],
  ["not G@os:ubuntu", ["Mute", DB]],
  ["I@os:debian", [DB]],
  ["G@cpu.count:8", [WEB1]],
  ["G@cpu.count:>=2", [WEB1, WEB2]],
  ["G@memory_mb:>1000", [DB, WEB1]],
  ["G@memory_mb:<1e3", [WEB2]],
  ["G@memory_mb:<=512.5", [WEB2]],
  ["G@memory_mb:16384", [DB]],
  ["G@version:>v1", [DB]],
  ["G@virtual:True", [WEB1]],
  ["G@roles:edge", [WEB1]],
  ["G@roles:!=edge", [WEB2]],
  ["G@roles:>=web", [WEB1]],
  ["G@disks.name:sdb", [DB]],
  ["G@dotted.key:X", [WEB2]],
  ["G@cpu:8", []],
  ["G@cpu:!=8", [WEB1, WEB2]],
  ["G@nothing:null", []],
  ["G@nothing:!=x", []],
  ["G@missing:!=x", []],
  ["G@missing:<9", []],
  ['G@empty:""', [DB]],
  ['G@cpu.model:"xeon (r) e5"', [WEB1]],
  ["G@constructor.name:Object", []],
  ["G@__proto__:x", []],
  ["G@os.length:6", []],
  ["P@os:^(?i)ubu", [WEB1, WEB2]],
  ["P@os:^ubu", [WEB2]],
  ["P@roles:^E", [WEB1]],
  ["P@missing:.*", []],
  ["S@10.0.0.0/8", [WEB1]],
  ["S@127.0.0.1", [WEB1, WEB2]],
  ["S@192.168.0.0/16 or S@2001:db8::/32", [DB, WEB2]],
  ["S@::1", [WEB2]],
  ["S@0.0.0.0/0", [WEB1, WEB2]],
  ["S@::/0", [DB, WEB2]],
  ["N@web", [WEB1, WEB2]],
  ["not N@all", ["Mute"]],
  ["G@os:ubuntu and (web-01 or db-01) and not G@cpu.count:<8", [WEB1]],
  ["db-01 or G@os:ubuntu and not web-01", [DB, WEB2]],
];
for (const [target, want] of cases) {
  Deno.test(`matchTarget() finds ${want.length} of 4 peels for ${target}`, () => {
    const index = indexOf(FLEET);
    const expr = parseTarget(target, { groups: GROUPS });
    assert.deepEqual(matchTarget(expr, index), [...want].sort());
    const explained = Object.keys(FLEET).filter((id) => whyMatches(expr, id, index).length > 0);
    assert.deepEqual(explained.sort(), [...want].sort(), "each one alone");
    const named = namedIds(expr);
    if (named !== undefined) assert.ok(want.every((id) => named.includes(id)), "named");
  });
}

const named: [target: string, want: string[] | undefined][] = [
  ["web-01", ["web-01"]],
  ["web*", undefined],
  ["L@b,a and G@os:x", ["a", "b"]],
  ["L@b,a or G@os:x", undefined],
  ["L@b,a or c.d", ["a", "b", "c_d"]],
  ["not L@a", undefined],
];
for (const [target, want] of named) {
  Deno.test(`namedIds() of ${target} is ${want?.join(", ") ?? "not known"}`, () => {
    assert.deepEqual(namedIds(parseTarget(target)), want);
  });
}

// ---- against an evaluator that knows nothing of indexes ------------------------------------------------------

type Judge = (id: string, facts: Record<string, unknown> | undefined) => boolean;
type Sample = { text: string; judge: Judge };

function items(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).map((each) => String(each).toLowerCase());
}

const term: fc.Arbitrary<Sample> = fc.oneof(
  fc.constantFrom<Sample>(
    { text: "*", judge: () => true },
    { text: "p1*", judge: (id) => id.startsWith("p1") },
    { text: "*2", judge: (id) => id.endsWith("2") },
    { text: "E@[13]$", judge: (id) => /[13]$/.test(id) },
    { text: "L@p1,p12,p77", judge: (id) => ["p1", "p12", "p77"].includes(id) },
    { text: "p3", judge: (id) => id === "p3" },
    {
      text: "S@10.0.0.0/30",
      judge: (_id, facts) => items(facts?.["ipv4"]).some((ip) => /^10\.0\.0\.[0-3]$/.test(ip)),
    },
    { text: "P@os:^(A|b)", judge: (_id, facts) => /^(A|b)/.test(String(facts?.["os"] ?? "")) },
  ),
  fc.record({
    key: fc.constantFrom("os", "n", "ipv4"),
    operator: fc.constantFrom("", "!=", ">", "<="),
    value: fc.constantFrom("a", "A", "b", "1", "2", "10.0.0.1"),
  }).map(({ key, operator, value }): Sample => ({
    text: `G@${key}:${operator}${value}`,
    judge(_id, facts) {
      if (facts?.[key] === undefined) return false;
      const raw = (Array.isArray(facts[key]) ? facts[key] : [facts[key]]).map(String);
      const same = items(facts[key]).includes(value.toLowerCase());
      if (operator === "") return same;
      if (operator === "!=") return !same;
      return raw.some((each) => {
        const numbers = !Number.isNaN(Number(each)) && !Number.isNaN(Number(value));
        const order = numbers
          ? Number(each) - Number(value)
          : each < value
          ? -1
          : each > value
          ? 1
          : 0;
        return operator === ">" ? order > 0 : order <= 0;
      });
    },
  })),
);

const target = fc.letrec<{ target: Sample }>((tie) => ({
  target: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    term,
    fc.tuple(tie("target"), tie("target")).map(([a, b]) => ({
      text: `(${a.text} and ${b.text})`,
      judge: (id: string, facts: Record<string, unknown> | undefined) =>
        a.judge(id, facts) && b.judge(id, facts),
    })),
    fc.tuple(tie("target"), tie("target")).map(([a, b]) => ({
      text: `(${a.text} or ${b.text})`,
      judge: (id: string, facts: Record<string, unknown> | undefined) =>
        a.judge(id, facts) || b.judge(id, facts),
    })),
    tie("target").map((a) => ({
      text: `not ${a.text}`,
      judge: (id: string, facts: Record<string, unknown> | undefined) => !a.judge(id, facts),
    })),
  ),
})).target;

const factMap = fc.record({
  os: fc.constantFrom("a", "A", "b", "c"),
  n: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("1", "x")),
  ipv4: fc.array(fc.constantFrom("10.0.0.1", "10.0.0.9", "10.1.0.1"), { maxLength: 3 }),
}, { requiredKeys: [] });

const change = fc.record({
  id: fc.integer({ min: 1, max: 15 }).map((number) => `p${number}`),
  to: fc.oneof(factMap, fc.constantFrom("no facts" as const, "gone" as const)),
});

Deno.test("matchTarget() agrees with looking at each peel, whatever changes between two questions", () => {
  const history = fc.array(fc.record({ changes: fc.array(change, { maxLength: 12 }), target }), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(
    fc.property(history, (steps) => {
      const known = new Map<string, Record<string, unknown> | undefined>();
      const facts = new FactIndex();
      const index = () =>
        peelIndexOf({ ids: () => [...known.keys()], has: (id) => known.has(id) }, facts);
      for (const { changes, target: { text, judge } } of steps) {
        for (const { id, to } of changes) {
          // Facts of a peel that has gone stay behind: they must not bring it back.
          if (to === "gone") known.delete(id);
          else if (to === "no facts") {
            known.set(id, undefined);
            facts.remove(id);
          } else {
            known.set(id, to);
            facts.put(id, to);
          }
        }
        const want = [...known].filter(([id, each]) => judge(id, each)).map(([id]) => id).sort();
        assert.deepEqual(matchTarget(parseTarget(text), index()), want, text);
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("FactIndex keeps its columns right over changes, and forgets the least used ones", () => {
  const facts = new FactIndex();
  facts.put("a", { os: "Ubuntu", roles: ["x", "x", "y"] });
  assert.deepEqual(facts.column("os").same("UBUNTU"), ["Ubuntu"]);
  assert.deepEqual([...facts.column("roles").values.keys()], ["x", "y"]);
  facts.put("b", { os: "ubuntu" });
  assert.deepEqual(facts.column("os").same("Ubuntu"), ["ubuntu", "Ubuntu"]);
  facts.put("a", { os: "debian" });
  assert.deepEqual(facts.column("os").same("ubuntu"), ["ubuntu"]);
  assert.deepEqual([...facts.column("roles").values], []);
  facts.remove("b");
  facts.remove("b");
  assert.deepEqual([...facts.column("os").present], ["a"]);
  const before = facts.column("os");
  for (let at = 0; at < FACT_COLUMNS_MAX - 1; at++) facts.column(`k${at}`);
  assert.equal(facts.column("os"), before, "used lately");
  for (let at = 0; at < FACT_COLUMNS_MAX; at++) facts.column(`l${at}`);
  assert.notEqual(facts.column("os"), before);
  assert.deepEqual([...facts.column("os").values.keys()], ["debian"]);
});
