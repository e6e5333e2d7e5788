/**
 * What editors of text files share: the file is read as it is, a pure plan says what its text becomes, and it is replaced
 * at once with its mode and owner kept. A missing file counts as a text that is not there; the plan says whether to make it.
 */
import {
  absolutePath,
  type Change,
  defaulted,
  type Details,
  type Drift,
  flag,
  type Grant,
  type Host,
  primary,
  textDiff,
  textOf,
} from "../../core/module.ts";
import { hasWindowsNewlines, toPlainNewlines, toWindowsNewlines } from "./_lines.ts";
import { type Content, ensureParents, parentDrift, parentGrant, readRegular } from "./_state.ts";
import { type Memo, memoOf, putBack } from "./_undo.ts";

/** Parameters of every editor. */
export const editing = {
  name: primary(absolutePath("File to edit."), "path"),
  follow: defaulted(flag("Edit the file to which a link at the path leads."), false),
  show_changes: defaulted(flag("Show what changed in the content."), true),
};

interface Editing {
  readonly name: string;
  readonly follow: boolean;
  readonly show_changes: boolean;
  /** Absent: the editor makes no file. */
  readonly makedirs?: boolean;
}

/** What a text becomes, and in words what that takes. */
export interface Edit {
  readonly text: string;
  /** Absent: that the content differs. */
  readonly would?: string;
  readonly did?: string;
  readonly details?: Details;
}

/** Pure: what becomes of the text; null when nothing does. The text is null when there is no file. */
export type EditPlan = (text: string | null) => Edit | null | Promise<Edit | null>;

/** What an editor may touch. */
export function editGrant({ name, makedirs }: Editing): Grant {
  if (makedirs === undefined) return { write: [name] };
  const parents = parentGrant({ path: name, makedirs });
  return { read: parents.read, write: [name, ...parents.write] };
}

/** What the edit would change; null when nothing. */
export async function checkEdit(host: Host, p: Editing, plan: EditPlan): Promise<Drift | null> {
  const step = await nextStep(host, p, plan);
  if (step === null) return null;
  const missing = step.before === null ? await parentDrift(host, parentsOf(p)) : null;
  if (missing !== null) return { diff: missing };
  return { diff: `${step.would}\n${step.changes}` };
}

/** Does the edit; null when there was nothing to do. */
export async function applyEdit(
  host: Host,
  p: Editing,
  plan: EditPlan,
): Promise<(Change & { memo: Memo }) | null> {
  const step = await nextStep(host, p, plan);
  if (step === null) return null;
  if (step.before === null) await ensureParents(host, parentsOf(p));
  await host.replaceFile(p.name, step.text, { follow: p.follow });
  return {
    diff: `${step.did}\n${step.changes}`,
    details: { path: p.name, ...step.details },
    memo: memoOf(step.before),
  };
}

/** Undoes an edit. */
export function revertEdit(host: Host, p: Editing, memo: Memo): Promise<Change | null> {
  return putBack(host, p.name, memo, p);
}

function parentsOf({ name, makedirs = false }: Editing) {
  return { path: name, makedirs };
}

interface Step {
  readonly before: Content | null;
  readonly text: string;
  readonly would: string;
  readonly did: string;
  readonly changes: string;
  readonly details: Details;
}

async function nextStep(host: Host, p: Editing, plan: EditPlan): Promise<Step | null> {
  const before = await readRegular(host, p.name, p);
  const old = before === null ? null : textOf(before.bytes);
  if (before !== null && old === null) throw new Error(`${p.name} is no text`);
  const edit = await planWith(plan, old);
  if (edit === null || edit.text === old) return null;
  const { name } = p;
  return {
    before,
    text: edit.text,
    would: edit.would ??
      (old === null ? `file ${name} does not exist` : `content differs for ${name}`),
    did: edit.did ?? `edited ${name}`,
    changes: p.show_changes ? await textDiff(name, old, edit.text) : "(not shown)",
    details: edit.details ?? {},
  };
}

/** Gives the plan plain newlines, and the file its own ones back. */
export async function planWith(plan: EditPlan, text: string | null): Promise<Edit | null> {
  if (text === null || !hasWindowsNewlines(text)) return await plan(text);
  const edit = await plan(toPlainNewlines(text));
  return edit === null ? null : { ...edit, text: toWindowsNewlines(edit.text) };
}
