/** Answers what functions ask the peel about its own functions: which there are, how they are used, what they may touch. */
import { ZesterError } from "../../core/errors.ts";
import type { Facts, PlainValue } from "../../core/module.ts";
import { docText, documentModule } from "../../core/module/doc.ts";
import { grantRows } from "../../core/module/grant.ts";
import type { CatalogQuestion } from "../../core/module/host.ts";
import { WORDS_KEY } from "../../core/module/prepare.ts";
import type { Clock } from "../../core/ports.ts";
import type { Catalog } from "./catalog.ts";
import type { Isolation } from "./isolation/choose.ts";
import { type Policy, policyRefusal } from "./policy.ts";
import { describe } from "./prepare.ts";

export interface AnswerPorts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly policy: Policy;
  facts(): Facts | Promise<Facts>;
  /** Where modules of the state tree run. */
  readonly isolation?: Isolation;
}

/** The answer to one question. */
export async function answerQuestion(
  { about, name, params = {} }: CatalogQuestion,
  ports: AnswerPorts,
): Promise<PlainValue> {
  const { catalog } = ports;
  switch (about) {
    case "functions":
      return await catalog.names();
    case "doc":
      return name === undefined
        ? await summaries(catalog, await catalog.names())
        : await documentation(catalog, name);
    case "grants":
      return await grantsOf(name ?? "", params, ports);
  }
}

async function documentation(catalog: Catalog, name: string): Promise<string> {
  const inNamespace = (await catalog.names()).filter((each) => each.startsWith(`${name}.`));
  if (inNamespace.length > 0) return await summaries(catalog, inNamespace);
  const found = await catalog.find(name);
  if (found.from === "tree") return `${name}: from the state tree, ${found.path}`;
  return docText(documentModule(found.module));
}

async function summaries(catalog: Catalog, names: readonly string[]): Promise<string> {
  const lines = await Promise.all(names.map(async (name) => {
    const found = await catalog.find(name).catch((thrown: Error) => thrown.message);
    if (typeof found === "string") return `${name}: ${found}`;
    return found.from === "tree"
      ? `${name}: from ${found.path}`
      : `${name}: ${found.module.summary}`;
  }));
  return lines.join("\n");
}

async function grantsOf(
  name: string,
  params: Readonly<Record<string, unknown>>,
  { catalog, clock, policy, facts, isolation }: AnswerPorts,
): Promise<PlainValue> {
  if (name === "") throw new ZesterError("bad_params", "sys.grants: name the function");
  const { [WORDS_KEY]: words = [], ...args } = params;
  const [id = "", ...rest] = words as readonly string[];
  const given = { id, args: { ...args, [WORDS_KEY]: rest } };
  const { signal } = new AbortController();
  const { grant } = await describe(await catalog.find(name), given, {
    clock,
    facts: await facts(),
    signal,
    ...(isolation === undefined ? {} : { isolation }),
  });
  const refused = policyRefusal(policy, name, grant);
  return {
    function: name,
    grant: grantRows(grant).map(({ kind, what }) => `${kind} ${what}`),
    policy: refused === null ? "allowed" : `refused: ${refused}`,
  };
}
