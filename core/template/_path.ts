/** Turns what a template names into a path of the file set. A path can never leave it. */
import { Problem } from "./_problem.ts";

const SCHEME = /^(?:salt|zester):\/\//;

/** Path of a file from the root of the set; `./` and `../` begin at the folder of the template that names it. */
export function pathInSet(wanted: string, from: string): string {
  const named = wanted.replace(SCHEME, "");
  if (named === "" || /[\\\0]/.test(named)) throw refused(wanted, "is no path of a file");
  if (named.startsWith("/")) {
    throw refused(wanted, "is absolute: paths begin at the root of the files");
  }
  const isRelative = named.startsWith("./") || named.startsWith("../");
  const steps = isRelative ? from.split("/").slice(0, -1) : [];
  for (const step of named.split("/")) {
    if (step === "..") {
      if (steps.pop() === undefined) throw refused(wanted, "leaves the files");
    } else if (step !== "." && step !== "") steps.push(step);
  }
  return steps.join("/");
}

function refused(wanted: string, why: string): Problem {
  return new Problem(`the file ${JSON.stringify(wanted)} ${why}`);
}
