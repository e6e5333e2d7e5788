/** Finds what `module.run` stands for: `name: <module>` with the other keys, or a dotted key with its arguments. Pure. */
import { ZesterError } from "../../core/errors.ts";

export interface Asked {
  readonly module: string;
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
}

export const FORWARDER = "module.run";

/** The request for the module that is meant; the request itself when it is not forwarded. */
export function forwarded(asked: Asked): Asked {
  if (asked.module !== FORWARDER) return asked;
  const { test, name, ...rest } = asked.args;
  const kept = test === undefined ? {} : { test };
  if (typeof name === "string" && name.includes(".")) {
    return { module: refuseItself(name), id: asked.id, args: { ...rest, ...kept } };
  }
  const dotted = Object.keys(rest).find((key) => key.includes("."));
  if (dotted !== undefined) {
    const args = rest[dotted];
    const given = typeof args === "object" && args !== null && !Array.isArray(args) ? args : {};
    return { module: refuseItself(dotted), id: asked.id, args: { ...given, ...kept } };
  }
  // On the command line the bare word names the module: zester '*' module.run test.nop
  if (asked.id.includes(".")) return { module: refuseItself(asked.id), id: "", args: asked.args };
  throw new ZesterError("bad_params", "module.run: no target module", {
    fix: "say name: <module.function>, or use the module itself",
  });
}

function refuseItself(name: string): string {
  if (name !== FORWARDER) return name;
  throw new ZesterError("bad_params", "module.run: it cannot run itself");
}
