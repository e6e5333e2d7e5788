import assert from "node:assert/strict";
import { planService, type Seen, type Wanted } from "./_state.ts";

const rows: [name: string, want: Wanted, seen: Seen, verbs: string[]][] = [
  ["starts what is stopped", { running: true }, { running: false }, ["start"]],
  ["leaves what runs", { running: true }, { running: true }, []],
  ["stops what runs", { running: false }, { running: true }, ["stop"]],
  ["enables before it starts", { running: true, atBoot: true }, { running: false, atBoot: "no" }, [
    "enable",
    "start",
  ]],
  ["disables", { running: false, atBoot: false }, { running: false, atBoot: "yes" }, ["disable"]],
  ["asks nothing of a static unit", { atBoot: true }, { atBoot: "fixed" }, []],
  ["asks nothing of a static unit either way", { atBoot: false }, { atBoot: "fixed" }, []],
  ["takes masked for disabled", { atBoot: false }, { atBoot: "masked" }, []],
  ["tries to enable what is masked", { atBoot: true }, { atBoot: "masked" }, ["enable"]],
  ["masks", { masked: true }, { atBoot: "yes" }, ["mask"]],
  ["leaves a mask", { masked: true }, { atBoot: "masked" }, []],
  ["unmasks", { masked: false }, { atBoot: "masked" }, ["unmask"]],
  ["looks at nothing that is not declared", {}, {}, []],
];
for (const [name, want, seen, verbs] of rows) {
  Deno.test(`planService() ${name}`, () =>
    assert.deepEqual(planService("x", want, seen).map(({ verb }) => verb), verbs));
}

Deno.test("planService() says what is wrong", () => {
  const want: Wanted = { running: true, atBoot: false };
  const whys = planService("x", want, { running: false, atBoot: "yes" }).map(({ why }) => why);
  assert.deepEqual(whys, ["x is enabled at boot and should not be", "x is not running"]);
});
