/** Keeps the text of one file as a pure function of what it was: look, plan, replace, undo. For modules that edit files. */
import type { Change, Drift, Host } from "../module.ts";
import { textDiff, textOf } from "./text_diff.ts";

/** What the file was, for an undo; null: there was none. */
export interface TextMemo {
  readonly before: string | null;
  readonly mode: number | null;
}

/** How a text file is to be: `plan` makes the wanted text of the present one (null: no file). */
export interface TextEdit {
  readonly path: string;
  readonly plan: (text: string | null) => string | null;
  /** Mode of a file that is made anew. */
  readonly mode?: number;
}

async function read(host: Host, path: string): Promise<string | null> {
  const info = await host.stat(path);
  if (info === null) return null;
  if (info.kind !== "file") throw new Error(`${path} is no regular file`);
  const bytes = await host.readFile(path);
  if (bytes === null) return null;
  const text = textOf(bytes);
  if (text === null) throw new Error(`${path} is no text`);
  return text;
}

/** The drift, told by `why` and a diff; null when the text is as it should be. */
export async function checkText(host: Host, edit: TextEdit, why: string): Promise<Drift | null> {
  const before = await read(host, edit.path);
  const after = edit.plan(before);
  if (after === before) return null;
  return { diff: `${why}\n${await textDiff(edit.path, before, after)}`.trim() };
}

/** Makes the text as it should be, keeping mode and owner of a file that is there. */
export async function applyText(
  host: Host,
  edit: TextEdit,
  why: string,
): Promise<Change & { memo: TextMemo } | null> {
  const info = await host.stat(edit.path);
  const before = await read(host, edit.path);
  const after = edit.plan(before);
  if (after === before) return null;
  await write(host, edit.path, after, info === null ? edit.mode : undefined);
  const diff = `${why}\n${await textDiff(edit.path, before, after)}`.trim();
  return { diff, memo: { before, mode: info?.mode ?? null } };
}

/** Puts the text back. */
export async function revertText(host: Host, path: string, memo: TextMemo): Promise<Change> {
  await write(host, path, memo.before, memo.mode ?? undefined);
  return { diff: memo.before === null ? `removed ${path} (revert create)` : `reverted ${path}` };
}

async function write(
  host: Host,
  path: string,
  text: string | null,
  mode: number | undefined,
): Promise<void> {
  if (text === null) return await host.remove(path);
  await host.replaceFile(path, text, mode === undefined ? {} : { mode });
}
