/** `zester doc [name]`: which functions are shipped, and how each is used. Needs no fleet. */
import { ZesterError } from "../../core/errors.ts";
import { CATALOG, catalogEntry } from "../../core/module/catalog.ts";
import { docText, type ModuleDoc } from "../../core/module/doc.ts";
import { nearest } from "../../core/nearest.ts";
import { printable } from "../../core/printable.ts";
import type { Io } from "../io.ts";
import { docData, docTable, namespacesText } from "../render/doc_text.ts";
import { isTable, printList, printOne } from "../render/list.ts";
import { paint } from "../render/style.ts";
import type { CommonFlags } from "./flags.ts";

/** Prints one function, those of a namespace, or all. */
export async function doc(name: string | undefined, flags: CommonFlags, io: Io): Promise<number> {
  if (name === undefined) return await printAll(flags, io);
  const found = catalogEntry(name);
  if (found !== undefined) return await printFunction(found, flags, io);
  const members = CATALOG.filter((each) => namespaceOf(each) === name);
  if (members.length === 0) throw unknownName(name);
  return await printMembers(members, flags, io);
}

function namespaceOf({ name }: ModuleDoc): string {
  return name.slice(0, name.indexOf("."));
}

async function printFunction(found: ModuleDoc, flags: CommonFlags, io: Io): Promise<number> {
  const [name = "", ...rest] = docText(found).split(":");
  const forms = {
    screen: ({ style }: { style: Parameters<typeof paint>[0] }) =>
      `${[paint(style, "bold", name), ...rest].join(":")}\n`,
    data: () => docData(found),
    ids: () => [found.name],
  };
  await printOne(forms, io.clock.now(), flags, io);
  return 0;
}

async function printMembers(
  rows: readonly ModuleDoc[],
  flags: CommonFlags,
  io: Io,
): Promise<number> {
  const forms = {
    table: docTable,
    data: docData,
    id: ({ name }: ModuleDoc) => name,
    none: "No functions.",
  };
  await printList({ rows, nowMs: io.clock.now() }, forms, flags, io);
  return 0;
}

async function printAll(flags: CommonFlags, io: Io): Promise<number> {
  if (!isTable(flags) || flags.output === "wide" || flags.fields !== undefined) {
    return await printMembers(CATALOG, flags, io);
  }
  io.stdout(namespacesText(CATALOG, io.stdoutIsTerminal ? io.columns() : Infinity));
  if (!flags.quiet) {
    io.stderr(
      `\n${CATALOG.length} functions. zester doc file lists a namespace with what each does, ` +
        "zester doc file.managed shows one.\n",
    );
  }
  return 0;
}

function unknownName(name: string): ZesterError {
  const namespaces = new Set(CATALOG.map(namespaceOf));
  const near = nearest(name, [...CATALOG.map((each) => each.name), ...namespaces]);
  const what = name.includes(".") ? "function" : "namespace";
  return new ZesterError("usage", `no ${what} "${printable(name)}" is shipped`, {
    fix: near === null
      ? `zester doc lists them; of a fleet's own: zester '*' sys.doc ${printable(name)}`
      : `did you mean \`zester doc ${near}\`?`,
  });
}
