/** `docs/configuration.md`: what can be set, from the option tables that parse it. */
import { expected, type OptionSpec, type OptionTable } from "../../core/config.ts";
import { CONTEXT_OPTIONS } from "../../core/context.ts";
import { formatDuration } from "../../core/duration.ts";
import { MASTER_CONFIG_PATH, MASTER_OPTIONS } from "../../master/config.ts";
import { PEEL_CONFIG_PATH, PEEL_OPTIONS } from "../../peel/config.ts";
import { code, generatedFrom, page, table } from "./markdown.ts";

/** The whole page. */
export async function configurationPage(): Promise<string> {
  return await page(
    generatedFrom("master/config.ts", "peel/config.ts", "core/context.ts"),
    "# Configuration",
    "A flag wins over the environment, that over the file, that over the default. Files are " +
      "YAML; a dotted key is a nested one. An unknown key is an error.",
    "## Master",
    `File: ${code(MASTER_CONFIG_PATH)}, or what ${code("--config")} or ${
      code("ZESTER_CONFIG")
    } names.`,
    optionTable(MASTER_OPTIONS),
    "## Peel",
    `File: ${code(PEEL_CONFIG_PATH)}, or what ${code("--config")} or ${
      code("ZESTER_CONFIG")
    } names.`,
    optionTable(PEEL_OPTIONS),
    "## Context of the CLI",
    `A context says how ${code("zester")} finds a fleet and who the operator is.`,
    optionTable(CONTEXT_OPTIONS),
  );
}

function optionTable(options: OptionTable): string {
  const rows = Object.entries(options).map(([key, spec]) => [
    code(key),
    spec.flag === undefined ? "–" : code(spec.flag),
    spec.env === undefined ? "–" : code(spec.env),
    expected(spec),
    defaultOf(spec),
    spec.help,
  ]);
  return table(["Key", "Flag", "Environment", "Takes", "Default", "Meaning"], rows);
}

function defaultOf(spec: OptionSpec): string {
  if (spec.default === null) return "–";
  if (spec.type === "duration") return code(formatDuration(spec.default));
  const text = spec.type === "list" ? spec.default.join(", ") : String(spec.default);
  return text === "" ? "empty" : code(text);
}
