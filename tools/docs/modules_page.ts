/** `docs/modules/*.md`: one page per namespace and an index, from the specs of the modules alone. */
import { documentModule, type ModuleDoc, type ParamDoc, schemaOf } from "../../core/module/doc.ts";
import { modules } from "../../modules/mod.ts";
import { code, codes, generatedFrom, jsonFile, page, table } from "./markdown.ts";

/** Documentation of every module, by name. */
export async function moduleDocs(): Promise<ModuleDoc[]> {
  const loaded = await Promise.all(Object.values(modules).map((load) => load()));
  return loaded.map(({ default: module }) => documentModule(module))
    .sort((one, other) => one.name < other.name ? -1 : 1);
}

/** All pages by path. */
export async function modulePages(): Promise<Record<string, () => Promise<string>>> {
  const docs = await moduleDocs();
  const namespaces = Map.groupBy(docs, ({ name }) => name.split(".")[0]!);
  return {
    "docs/modules/README.md": () => indexPage(namespaces),
    // What `zester doc`, help and masters read: they do not load modules.
    "core/module/catalog.json": () => jsonFile(docs),
    "docs/modules/schemas.json": schemasFile,
    ...Object.fromEntries(
      [...namespaces].map(([namespace, members]) => [
        `docs/modules/${namespace}.md`,
        () => namespacePage(namespace, members),
      ]),
    ),
  };
}

const SOURCE = "the specs in `modules/`";

async function indexPage(namespaces: ReadonlyMap<string, readonly ModuleDoc[]>): Promise<string> {
  const rows = [...namespaces].flatMap(([namespace, members]) =>
    members.map(({ name, kind, isReadOnly, summary }) => [
      `[${code(name)}](${namespace}.md#${name.replace(/[._]/g, "")})`,
      kind === "state" ? "state" : isReadOnly ? "looks" : "acts",
      summary,
    ])
  );
  return await page(
    generatedFrom(SOURCE),
    "# Modules",
    "A *state* looks for drift and mends it; a function that *looks* changes nothing and may run beside other work; one that " +
      "*acts* is done each time. `zester doc <name>` shows the same on the terminal, `zester '<target>' sys.grants <name> …` " +
      "what a call may touch.",
    table(["Function", "Kind", "What it does"], rows),
  );
}

async function namespacePage(namespace: string, docs: readonly ModuleDoc[]): Promise<string> {
  return await page(
    generatedFrom(`${code(`modules/${namespace}/`)}`),
    `# ${namespace}`,
    ...docs.flatMap(moduleParts),
  );
}

function moduleParts(doc: ModuleDoc): string[] {
  const parts = [`## ${doc.name}`, doc.summary];
  if (doc.description !== "") parts.push(doc.description);
  if (doc.params.length > 0) {
    const head = ["Parameter", "Type", "When absent", "Meaning"];
    parts.push(table(head, doc.params.map(paramRow)));
  }
  if (doc.isOpen) parts.push("Takes any further parameter.");
  if (doc.revert !== "") parts.push(`Undo: ${doc.revert}.`);
  for (const { title, code } of doc.examples) {
    const language = code.startsWith("zester ") ? "sh" : "yaml";
    parts.push(`${title}:`, `\`\`\`${language}\n${code}\n\`\`\``);
  }
  if (doc.differences.length > 0) {
    parts.push("Unlike Salt:", doc.differences.map((each) => `- ${each}`).join("\n"));
  }
  return parts;
}

function paramRow({ name, type, usage, absent, aliases, isSensitive }: ParamDoc): string[] {
  const names = codes([name, ...aliases]);
  return [names, type, absent === "" ? "–" : absent, isSensitive ? `${usage} Never shown.` : usage];
}

/** JSON Schemas of the parameters, for editors and other programs. */
async function schemasFile(): Promise<string> {
  const loaded = await Promise.all(Object.values(modules).map((load) => load()));
  const schemas = loaded.map(({ default: module }) => [module.name, schemaOf(module)] as const);
  schemas.sort(([one], [other]) => one < other ? -1 : 1);
  return await jsonFile(Object.fromEntries(schemas));
}
