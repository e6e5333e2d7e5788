import assert from "node:assert/strict";
import { exitCodeOf } from "./exit_code.ts";
import type { RunSummary } from "./run_model.ts";

const ALL_OK: RunSummary = {
  matched: 3,
  ok: 3,
  changed: 0,
  failed: 0,
  canceled: 0,
  silent: 0,
  cancelled: false,
  test: false,
};
const rows: [name: string, change: Partial<RunSummary>, want: number][] = [
  ["0 when all are ok", {}, 0],
  ["0 when some changed", { ok: 1, changed: 2 }, 0],
  ["3 when one failed", { failed: 1 }, 3],
  ["3 when one failed and one is silent", { failed: 1, silent: 1 }, 3],
  ["3 when one failed before the cancel", { failed: 1, cancelled: true }, 3],
  ["9 when cancelled, even if some are silent", { silent: 2, cancelled: true }, 9],
  ["9 when a peel ended it because it was canceled", { canceled: 1, silent: 1 }, 9],
  ["4 when one is silent", { silent: 1 }, 4],
  ["5 when nobody matched", { matched: 0, ok: 0 }, 5],
];
Deno.test("exitCodeOf() is 6 when changes count and there are some, unless something was wrong", () => {
  assert.equal(exitCodeOf({ ...ALL_OK, changed: 1 }, true), 6);
  assert.equal(exitCodeOf(ALL_OK, true), 0);
  assert.equal(exitCodeOf({ ...ALL_OK, changed: 1, silent: 1 }, true), 4);
});

for (const [name, change, want] of rows) {
  Deno.test(`exitCodeOf() is ${name}`, () =>
    assert.equal(exitCodeOf({ ...ALL_OK, ...change }), want));
}
