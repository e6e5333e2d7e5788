/** `zester context show`: which fleet this is, and why. */
import { type Context, CONTEXT_OPTIONS, findContext } from "../../core/context.ts";
import { printable } from "../../core/printable.ts";
import type { Io } from "../io.ts";
import type { CommonFlags } from "./flags.ts";

export interface ContextShowFlags extends CommonFlags {
  readonly origin?: boolean;
}

type ContextKey = keyof typeof CONTEXT_OPTIONS;
interface Row {
  key: string;
  value: unknown;
  origin: string;
}

/** Prints the context in force. Secrets are never read: only the files that hold them are named. */
export async function contextShow(flags: ContextShowFlags, io: Io): Promise<number> {
  const context = await findContext(io.env, io.home, io.files, flags.context);
  const rows = rowsOf(context);
  switch (flags.output ?? "text") {
    case "json":
      io.stdout(`${JSON.stringify(dataOf(rows, flags.origin), null, 2)}\n`);
      break;
    case "jsonl":
      io.stdout(`${JSON.stringify(dataOf(rows, flags.origin))}\n`);
      break;
    case "yaml": {
      const { dump } = await import("js-yaml");
      io.stdout(dump(dataOf(rows, flags.origin)));
      break;
    }
    case "ids":
      io.stdout(`${context.name}\n`);
      break;
    default:
      io.stdout(textOf(rows, flags.origin));
  }
  return 0;
}

function rowsOf(context: Context): Row[] {
  const { direct, tls, origins } = context;
  const values: Record<ContextKey, unknown> = {
    servers: context.servers,
    user: context.user,
    password_file: context.passwordFile,
    operator: context.operator,
    operator_seed_file: context.operatorSeedFile,
    trust_file: context.trustFile,
    trust_root: context.trustRoot,
    "direct.user": direct?.user ?? null,
    "direct.password_file": direct?.passwordFile ?? null,
    "direct.seed_file": direct?.seedFile ?? null,
    "tls.ca_file": tls?.caFile ?? null,
    "tls.cert_file": tls?.certFile ?? null,
    "tls.key_file": tls?.keyFile ?? null,
  };
  const rows = Object.entries(values).filter(([, value]) => value !== null)
    .map(([key, value]) => ({ key, value, origin: origins[key as ContextKey] }));
  return [
    { key: "context", value: context.name, origin: context.chosenBy },
    { key: "file", value: context.path, origin: context.chosenBy },
    ...rows,
  ];
}

function dataOf(rows: readonly Row[], withOrigin = false): Record<string, unknown> {
  return Object.fromEntries(
    rows.map(({ key, value, origin }) => [key, withOrigin ? { value, origin } : value]),
  );
}

function textOf(rows: readonly Row[], withOrigin = false): string {
  const shown = rows.map(({ key, value, origin }) => ({
    key,
    value: printable(Array.isArray(value) ? value.join(", ") : String(value)),
    origin,
  }));
  const keyWidth = Math.max(...shown.map(({ key }) => key.length));
  const valueWidth = Math.max(...shown.map(({ value }) => value.length));
  return shown.map(({ key, value, origin }) => {
    const tail = withOrigin ? `${value.padEnd(valueWidth)}  ${origin}` : value;
    return `${key.padEnd(keyWidth)}  ${tail}\n`;
  }).join("");
}
