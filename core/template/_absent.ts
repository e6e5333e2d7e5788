/** What to say when something named is not there: what is there instead, and what was probably meant. */
import { TEMPLATE_NAMES_SHOWN_MAX } from "../limits.ts";
import { nearest } from "../nearest.ts";
import { methodNames } from "./_methods.ts";
import type { LookupNode } from "./_nodes.ts";
import { Problem, spelled } from "./_problem.ts";
import { kindOf, Missing } from "./_values.ts";

/** A file that is not in the set. */
export function fileMissing(wanted: unknown): never {
  throw new Problem(`there is no file ${JSON.stringify(wanted)}`);
}

/** A name that the imported file does not define. */
export function notExported(name: string, names: string[]): Problem {
  const meant = nearest(name, names);
  return new Problem(`\`${name}\` is not defined in that file`, {
    ...known("it has", names),
    ...(meant === null ? {} : { fix: `did you mean \`${meant}\`?` }),
  });
}

/** A filter or test that does not exist. */
export function unknownName(kind: string, name: string, names: string[]): Problem {
  const meant = nearest(name, names);
  return new Problem(
    `there is no ${kind} \`${name}\``,
    meant === null ? {} : { fix: `did you mean \`${meant}\`?` },
  );
}

/** A method that the value does not have. */
export function unknownMethod(holder: unknown, name: string): Problem {
  const names = methodNames(holder);
  const meant = nearest(name, names);
  return new Problem(
    `${kindOf(holder)} has no method \`${name}\``,
    meant === null ? {} : {
      fix: `did you mean \`${meant}()\`?`,
    },
  );
}

/** What a key that is not there evaluates to, with what is there instead. */
export function missingMember(node: LookupNode, holder: unknown): Missing {
  const path = holder instanceof Missing ? holder.path : spelled(node);
  const names = holder instanceof Map ? [...holder.keys()].map(String) : [];
  return new Missing(
    path,
    holder instanceof Missing ? holder.siblings : names,
    spelled(node.target),
  );
}

/** Use of what is not there, where that is refused. */
export function notDefined(missing: Missing): Problem {
  const { path, siblings, holder } = missing;
  const last = path.split(".").at(-1) ?? path;
  const meant = nearest(last, siblings);
  const better = meant === null ? null : holder === "" ? meant : `${holder}.${meant}`;
  const fixes = [
    ...(better === null ? [] : [`did you mean \`${better}\`?`]),
    `give a default: {{ ${path} | default(...) }}`,
  ];
  return new Problem(`\`${path}\` is not defined`, {
    beside: holder === "" ? "no such name" : "no such key",
    fix: fixes.join("\nor "),
    ...(holder === "" ? {} : known(`${holder} has`, siblings)),
  });
}

function known(what: string, names: readonly string[]): { known?: string[] } {
  if (names.length === 0) return {};
  const shown = names.slice(0, TEMPLATE_NAMES_SHOWN_MAX).join(", ");
  const more = names.length > TEMPLATE_NAMES_SHOWN_MAX ? ", …" : "";
  return { known: [`${what}: ${shown}${more}`] };
}
