/** `-w`: a list that stays and is brought up to date, until Ctrl-C. */
import { LIST_REFRESH_MS } from "../../core/limits.ts";
import type { Io } from "../io.ts";
import {
  checkWatch,
  isTable,
  type Listed,
  type ListForms,
  listText,
  printList,
} from "../render/list.ts";
import { isCapable } from "../render/style.ts";
import type { ListFlags } from "./flags.ts";

const INTERRUPTED_EXIT = 130;

/** Prints the list once; with `-w`, again whenever it changes. Gives the exit code. */
export async function showList<T>(
  read: () => Promise<Listed<T>>,
  forms: ListForms<T>,
  flags: ListFlags,
  io: Io,
): Promise<number> {
  checkWatch(flags);
  if (!flags.watch) {
    await printList(await read(), forms, flags, io);
    return 0;
  }
  const stop = new AbortController();
  const interrupts = io.onInterrupt(() => stop.abort());
  try {
    for (let shown = ""; !stop.signal.aborted;) {
      const text = await listText(await read(), forms, flags, io) || nothing(forms, flags);
      if (text !== shown) io.stdout(update(shown, text, flags, io));
      shown = text;
      await io.clock.sleep(LIST_REFRESH_MS, stop.signal).catch(() => {});
    }
    return INTERRUPTED_EXIT;
  } finally {
    interrupts.stop();
  }
}

function nothing<T>({ none }: ListForms<T>, flags: ListFlags): string {
  return isTable(flags) ? `${none}\n` : "";
}

/** On a terminal the whole list in place of the old one; else all of it again, or for programs the lines that are new. */
function update(before: string, now: string, { output = "table" }: ListFlags, io: Io): string {
  if (output === "jsonl" || output === "ids") {
    const known = new Set(before.split("\n"));
    return now.split("\n").filter((line) => !known.has(line)).map((line) => `${line}\n`).join("");
  }
  if (io.stdoutIsTerminal && isCapable(io.env)) return `\u001b[H\u001b[2J${now}`;
  return before === "" ? now : `\n${now}`;
}
