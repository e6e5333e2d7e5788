import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import { LIST_REFRESH_MS } from "../../core/limits.ts";
import { fakeIo, type FakeIoOptions } from "../../tests/fakes/cli_io.ts";
import { ManualClock, settle } from "../../tests/fakes/manual_clock.ts";
import type { ListForms } from "../render/list.ts";
import { table } from "../render/table.ts";
import type { ListFlags } from "./flags.ts";
import { showList } from "./watch_list.ts";

type Row = readonly [id: string, state: string];

const FORMS: ListForms<Row> = {
  table: (rows, { style }) => table(["ID", "STATE"], rows, style),
  data: ([id, state]) => ({ id, state }),
  id: ([id]) => id,
  none: "None.",
};

/** Shows these lists, one after the other, and ends by Ctrl-C. */
async function watched(
  lists: readonly (readonly Row[])[],
  flags: ListFlags,
  options: FakeIoOptions = {},
): Promise<{ code: number; out: string[]; timers: number }> {
  const clock = new ManualClock();
  const io = fakeIo({ clock, ...options });
  let at = 0;
  const read = () => Promise.resolve({ rows: lists[Math.min(at++, lists.length - 1)]!, nowMs: 0 });
  const shown = showList(read, FORMS, { watch: true, ...flags }, io);
  for (const _ of lists) await clock.advanceSettling(LIST_REFRESH_MS);
  io.interrupt();
  await settle();
  return { code: await shown, out: io.out, timers: clock.timers };
}

const LISTS = [[["a", "new"]], [["a", "new"]], [["a", "old"], ["b", "new"]], []] as const;
const OLD = "ID  STATE\na   old\nb   new\n";

Deno.test("showList() prints a list anew when it has changed, until Ctrl-C", async () => {
  const { code, out, timers } = await watched(LISTS, {});
  assert.deepEqual(out, ["ID  STATE\na   new\n", `\n${OLD}`, "\nNone.\n"]);
  assert.deepEqual([code, timers], [130, 0]);
});

Deno.test("showList() draws over the old list on a terminal", async () => {
  const { out } = await watched(LISTS, {}, { terminal: true, env: { NO_COLOR: "1" } });
  assert.equal(out[1], `\u001b[H\u001b[2J${OLD}`);
});

Deno.test("showList() -o jsonl prints one line per change, and -o ids each id once", async () => {
  const { out } = await watched(LISTS, { output: "jsonl" });
  assert.deepEqual(
    out.join(""),
    [
      '{"id":"a","state":"new"}\n',
      '{"id":"a","state":"old"}\n',
      '{"id":"b","state":"new"}\n',
    ].join(""),
  );
  assert.equal((await watched(LISTS, { output: "ids" })).out.join(""), "a\nb\n");
});

Deno.test("showList() refuses to watch what would be a document without an end", async () => {
  const read = () => Promise.reject(new Error("nobody reads here"));
  await assert.rejects(
    showList(read, FORMS, { watch: true, output: "json" }, fakeIo()),
    (error) => isZesterError(error, "usage") && /would never end/.test(error.message),
  );
});

Deno.test("showList() prints once without -w, and says when there is nothing", async () => {
  const io = fakeIo();
  const read = () => Promise.resolve({ rows: [], nowMs: 0 });
  assert.equal(await showList(read, FORMS, {}, io), 0);
  assert.deepEqual(io.text(), { stdout: "", stderr: "None.\n" });
});
