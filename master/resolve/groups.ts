/** Named targets from the configuration: `name=expression`, checked at start, so that a mistake is found before it is used. */
import { ZesterError } from "../../core/errors.ts";
import { parseTarget, type TargetGroups } from "../../core/target/parse.ts";

/** Reads `target_groups`. Throws `config_invalid` or `bad_target`. */
export function readGroups(items: readonly string[]): TargetGroups {
  const groups = new Map<string, string>();
  for (const line of rejoined(items)) {
    const [, name, expression] = /^\s*([A-Za-z0-9_.-]+)\s*=\s*(.+)$/s.exec(line) ?? [];
    if (name === undefined || expression === undefined) {
      throw new ZesterError(
        "config_invalid",
        `config: target_groups: ${JSON.stringify(line.slice(0, 80))} is not name=expression`,
        { fix: 'for example "webservers=G@role:web and not L@web-09"' },
      );
    }
    if (groups.has(name)) {
      throw new ZesterError("config_invalid", `config: target_groups: ${name} is there twice`);
    }
    groups.set(name, expression);
  }
  for (const name of groups.keys()) parseTarget(`N@${name}`, { groups });
  return groups;
}

/** Flags and variables are split at commas, those of `L@a,b` too: what does not begin with a name goes on before it. */
function rejoined(items: readonly string[]): string[] {
  const lines: string[] = [];
  for (const item of items) {
    if (lines.length === 0 || /^\s*[A-Za-z0-9_.-]+\s*=/.test(item)) lines.push(item);
    else lines.push(`${lines.pop()},${item}`);
  }
  return lines;
}
