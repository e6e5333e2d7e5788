/** All shipped modules. Literal imports: a worker with no read grant cannot import a path worked out at run time. */
import type { ModuleSpec } from "../core/module.ts";

export const modules: Readonly<Record<string, () => Promise<{ default: ModuleSpec }>>> = {
  "test.echo": () => import("./test/echo.ts"),
  "test.ping": () => import("./test/ping.ts"),
};
