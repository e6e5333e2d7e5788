/** The states in `examples/` hold against the specs of the modules that they use. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { load } from "js-yaml";
import type { Module } from "../core/module.ts";
import { prepareCall } from "../core/module/prepare.ts";
import { modules } from "../modules/mod.ts";
import { ROOT } from "../tools/repository.ts";

const EXAMPLES = join(ROOT, "examples");
const FACTS = { os: "debian", os_family: "debian" };

interface State {
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Every state of a file, its parameters folded into one map. */
async function statesOf(path: string): Promise<State[]> {
  const document = load(await Deno.readTextFile(path)) as Record<string, Record<string, object[]>>;
  return Object.entries(document).flatMap(([id, functions]) =>
    Object.entries(functions).map(([name, params]) => ({
      id,
      name,
      args: Object.assign({}, ...params) as State["args"],
    }))
  );
}

async function moduleOf(name: string): Promise<Module> {
  const load = modules[name] ?? assert.fail(`no module ${name}`);
  return (await load()).default;
}

/** States that are required or watched, as `function:id`. */
function requisitesOf({ args }: State): string[] {
  return ["require", "watch", "onchanges"].flatMap((key) => args[key] as string | string[] ?? []);
}

for (const name of ["web", "users", "backup"]) {
  Deno.test(`examples/${name}/init.zy has parameters that its modules take, and names only what is there`, async () => {
    const states = await statesOf(join(EXAMPLES, name, "init.zy"));
    assert.ok(states.length >= 3);
    const known = new Set(states.map((state) => `${state.name}:${state.id}`));
    for (const state of states) {
      const { grant } = prepareCall(await moduleOf(state.name), state, FACTS);
      assert.notDeepEqual(grant, {}, `${state.name}:${state.id} may touch something`);
      for (const wanted of requisitesOf(state)) assert.ok(known.has(wanted), wanted);
      for (const path of grant.tree ?? []) await Deno.stat(join(EXAMPLES, path));
    }
  });
}

Deno.test("prepareCall() finds a mistake in an example", async () => {
  const state = { id: "/a", args: { sosurce: "x" } };
  const module = await moduleOf("file.managed");
  assert.throws(() => prepareCall(module, state, FACTS), /did you mean "source"/);
});
