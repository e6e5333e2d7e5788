/**
 * What every state module must do, each shown in a real worker under the module's own grant: a dry run changes nothing, apply
 * then check finds no drift, apply twice changes once, revert restores, an unknown parameter fails, and the grant names no
 * more than was asked for.
 */
import assert from "node:assert/strict";
import { type Grant, grantRows, lookingPart, type Need, refusal } from "../../core/module/grant.ts";
import { modules } from "../../modules/mod.ts";
import { type ModuleLab, openModuleLab } from "../fakes/module_lab.ts";
import { snapshot } from "../fakes/snapshot.ts";
import type { ModuleFixture, Prepared } from "./module_fixture.ts";
import { FIXTURES } from "./modules/mod.ts";

for (const fixture of FIXTURES) {
  Deno.test(`the module contract holds for ${fixture.module}: ${fixture.title}`, async () => {
    const reason = await fixture.skip?.() ?? null;
    if (reason !== null) return console.log(`      skipped: ${reason}`);
    const folder = await Deno.makeTempDir({ prefix: "zester-module-" });
    const lab = openModuleLab();
    const prepared = await fixture.prepare(folder);
    try {
      await holds(fixture, prepared, { lab, folder });
    } finally {
      lab.close();
      await prepared.cleanUp?.();
      await Deno.remove(folder, { recursive: true });
    }
  });
}

interface Place {
  readonly lab: ModuleLab;
  readonly folder: string;
}

async function holds(fixture: ModuleFixture, prepared: Prepared, place: Place): Promise<void> {
  const { module, neverConverges = false, cannotRevert = false } = fixture;
  const { given } = prepared;
  const { lab } = place;
  const look = async () => [await snapshot(place.folder), await prepared.look?.()];
  const before = await look();

  assert.notEqual(await lab.check(module, given), null, "the subject needs a change");
  assert.deepEqual(await look(), before, "a dry run changes nothing");
  const looked = lab.takeNeeds();
  assertWithin(lookingPart(await lab.grant(module, given)), looked);

  const change = await lab.apply(module, given);
  assert.notEqual(change, null, "apply reports its change");
  await prepared.verify?.();
  if (!neverConverges) {
    assert.equal(await lab.check(module, given), null, "apply then check finds no drift");
    const after = await look();
    assert.equal(await lab.apply(module, given), null, "apply twice changes once");
    assert.deepEqual(await look(), after);
  }
  if (!cannotRevert) {
    await lab.revert(module, given, change!.memo);
    assert.deepEqual(await look(), before, "revert restores");
  }
  assertNoMoreThanUsed(await lab.grant(module, given), [...looked, ...lab.takeNeeds()], fixture);
  await assert.rejects(
    lab.check(module, { ...given, args: { ...given.args, zz_unknown: "1" } }),
    /unknown parameter "zz_unknown"/,
  );
}

function assertWithin(grant: Grant, needs: readonly Need[]): void {
  for (const need of needs) {
    assert.equal(refusal(grant, need), null, "a look stays within its grant");
  }
}

/** Each row of the grant on its own must be the reason why something was allowed. */
function assertNoMoreThanUsed(
  grant: Grant,
  needs: readonly Need[],
  { unused = [] }: ModuleFixture,
): void {
  for (const { kind, what, alone } of rowsAlone(grant)) {
    const row = `${kind} ${what}`;
    if (unused.some((each) => typeof each === "string" ? each === row : each.test(row))) continue;
    const isUsed = needs.some((need) => refusal(alone, need) === null);
    assert.ok(isUsed, `the grant names what nobody asked for: ${row}`);
  }
}

function rowsAlone(grant: Grant) {
  return (Object.keys(grant) as (keyof Grant)[]).flatMap((kind) =>
    (grant[kind] ?? []).map((thing) => {
      const alone = { [kind]: [thing] } as Grant;
      return { kind, what: grantRows(alone)[0]!.what, alone };
    })
  );
}

/** States that the contract does not fit, with the reason. */
const EXEMPT: Readonly<Record<string, string>> = {
  "module.run": "it is another module",
  "test.nop": "it never finds anything to do",
  "test.fail_without_changes": "it always fails",
};

Deno.test("the module contract is tried on every state module", async () => {
  const tried = new Set(FIXTURES.map(({ module }) => module));
  const states: string[] = [];
  for (const [name, load] of Object.entries(modules)) {
    if ((await load()).default.kind === "state") states.push(name);
  }
  assert.deepEqual(states.filter((name) => !tried.has(name) && !Object.hasOwn(EXEMPT, name)), []);
});
