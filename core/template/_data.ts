/** Reads data that templates load: `import_yaml` and its relatives. */
import * as yaml from "js-yaml";
import type { Budget } from "./_budget.ts";
import type { DataFormat } from "./_nodes.ts";
import { Problem } from "./_problem.ts";
import { valueFrom } from "./_values.ts";

/** Parses YAML into plain data or maps; state files have a dialect of their own. */
export type YamlParser = (text: string) => unknown;

/** The value that a text holds. */
export function dataIn(
  text: string,
  format: DataFormat,
  how: { budget: Budget; parseYaml?: YamlParser },
): unknown {
  if (format === "text") return text;
  const read = format === "json" ? JSON.parse : how.parseYaml ?? parseYaml;
  return valueFrom(parsed(text, format, read), how.budget);
}

function parsed(text: string, format: DataFormat, read: (text: string) => unknown): unknown {
  try {
    return read(text);
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.split("\n")[0]! : String(thrown);
    throw new Problem(`the text is not valid ${format.toUpperCase()}: ${why}`, { cause: thrown });
  }
}

/** Maps keep `__proto__` and the like as plain keys; merge keys work, since Salt's files use them. */
function parseYaml(text: string): unknown {
  if (text.trim() === "") return null;
  const schema = yaml.CORE_SCHEMA.withTags(yaml.realMapTag, yaml.mergeTag);
  return yaml.load(text, { schema });
}
