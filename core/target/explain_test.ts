import assert from "node:assert/strict";
import { explainTarget, whyMatches } from "./explain.ts";
import type { FactMap } from "./fact_value.ts";
import { parseTarget } from "./parse.ts";
import { FactIndex, type PeelIndex, peelIndexOf } from "./peel_index.ts";

/** The fleet of the sample: 43 web servers among 214 peels. */
function sampleFleet(): PeelIndex {
  const facts = new FactIndex();
  const ids: string[] = [];
  const add = (id: string, each: FactMap) => {
    ids.push(id);
    facts.put(id, each);
  };
  for (let at = 1; at <= 120; at++) add(at <= 43 ? `web-${at}` : `app-${at}`, { os: "ubuntu" });
  for (let at = 1; at <= 81; at++) add(`db-${at}`, { os: "debian", roles: ["db"] });
  for (let at = 1; at <= 13; at++) add(`old-${at}`, { os: "rocky" });
  return peelIndexOf({ ids: () => ids, has: (id) => ids.includes(id) }, facts);
}

const GROUPS = new Map([["web", "web-*"]]);

const samples: [target: string, lines: string[], fix: string | undefined][] = [
  ["G@os:ubunut and web-*", [
    "nobody matches  G@os:ubunut and web-*",
    "web-*        43 peels",
    "G@os:ubunut   0 peels   values of `os`: ubuntu 120, debian 81, rocky 13",
  ], "G@os:ubuntu and web-*"],
  [
    "(G@os:Ubunut or G@oss:debian) and not old-*",
    [
      "nobody matches  (G@os:Ubunut or G@oss:debian) and not old-*",
      "old-*        13 peels",
      "G@os:Ubunut   0 peels   values of `os`: ubuntu 120, debian 81, rocky 13",
      "G@oss:debian   0 peels   no peel has the fact `oss`",
    ].map((line) => line),
    "(G@os:ubuntu or G@os:debian) and not old-*",
  ],
  ["web-* and G@os:debian", [
    "nobody matches  web-* and G@os:debian",
    "web-*        43 peels",
    "G@os:debian  81 peels",
    "each term matches somebody, but no peel matches them together",
  ], undefined],
  ["dbb-7", [
    "nobody matches  dbb-7",
    "dbb-7  0 peels   peels are called, for example, web-1, web-2, web-3",
  ], "db-7"],
  ["G@os:Ubuntu*", [
    "nobody matches  G@os:Ubuntu*",
    "G@os:Ubuntu*  0 peels   values of `os`: ubuntu 120, debian 81, rocky 13",
  ], "G@os:ubuntu"],
  ["G@os:Ub*", [
    "nobody matches  G@os:Ub*",
    "G@os:Ub*  0 peels   values of `os`: ubuntu 120, debian 81, rocky 13",
  ], "values are compared whole; a pattern is written P@os:<regular expression>"],
  ["N@web and S@10.0.0.0/8", [
    "nobody matches  N@web and S@10.0.0.0/8",
    "N@web          43 peels",
    "S@10.0.0.0/8   0 peels",
  ], undefined],
];
for (const [target, lines, fix] of samples) {
  Deno.test(`explainTarget() says what ${target} found`, () => {
    const expr = parseTarget(target, { groups: GROUPS });
    const explained = explainTarget(expr, sampleFleet(), { groups: GROUPS });
    const squeezed = (text: string) => text.replace(/ {2,}/g, "  ");
    assert.equal(squeezed(explained.message), squeezed(lines.join("\n")));
    assert.equal(explained.fix, fix);
  });
}

Deno.test("explainTarget() lines up the numbers as the sample does", () => {
  const { message } = explainTarget(parseTarget("G@os:ubunut and web-*"), sampleFleet());
  assert.equal(
    message,
    "nobody matches  G@os:ubunut and web-*\n" +
      "web-*        43 peels\n" +
      "G@os:ubunut   0 peels   values of `os`: ubuntu 120, debian 81, rocky 13",
  );
});

Deno.test("explainTarget() says that no peel is enrolled, and who sent no facts", () => {
  const empty = peelIndexOf({ ids: () => [], has: () => false }, new FactIndex());
  assert.match(explainTarget(parseTarget("*"), empty).message, /no peel is enrolled/);
  const mute = peelIndexOf({ ids: () => ["a", "b"], has: () => true }, new FactIndex());
  assert.match(
    explainTarget(parseTarget("G@os:x"), mute).message,
    /2 of 2 peels have sent no facts/,
  );
});

Deno.test("explainTarget() lets no peel forge a line", () => {
  const facts = new FactIndex();
  facts.put("a", { os: "x\nerror ZE9999: \u001b[31m" });
  const index = peelIndexOf({ ids: () => ["a"], has: () => true }, facts);
  assert.equal(explainTarget(parseTarget("G@os:y"), index).message.split("\n").length, 2);
});

const whys: [target: string, id: string, want: [term: string, found?: string][]][] = [
  ["G@os:UBUNTU and web-*", "web-1", [["G@os:UBUNTU", "os is ubuntu"], ["web-*"]]],
  ["db-* or G@os:ubuntu or old-*", "db-1", [["db-*"]]],
  ["not (web-* or old-*) and *", "db-1", [["not (web-* or old-*)"], ["*"]]],
  ["N@web", "web-1", [["N@web", "web-*"]]],
  ["G@roles:db", "db-1", [["G@roles:db", "roles is db"]]],
  ["web-*", "db-1", []],
];
for (const [target, id, want] of whys) {
  Deno.test(`whyMatches() says why ${target} is ${id}`, () => {
    const reasons = whyMatches(parseTarget(target, { groups: GROUPS }), id, sampleFleet());
    assert.deepEqual(
      reasons.map(({ term, found }) => (found === undefined ? [term] : [term, found])),
      want,
    );
  });
}
