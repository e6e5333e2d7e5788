/** Subjects of all state modules. */
import type { ModuleFixture } from "../module_fixture.ts";
import { FIXTURES as cmd } from "./cmd.ts";
import { FIXTURES as cron } from "./cron.ts";
import { FIXTURES as file } from "./file.ts";
import { FIXTURES as group } from "./group.ts";
import { FIXTURES as host } from "./host.ts";
import { FIXTURES as pkg } from "./pkg.ts";
import { FIXTURES as service } from "./service.ts";
import { FIXTURES as sources } from "./sources.ts";
import { FIXTURES as system } from "./system.ts";
import { FIXTURES as test } from "./test.ts";
import { FIXTURES as user } from "./user.ts";

export const FIXTURES: readonly ModuleFixture[] = [
  ...cmd,
  ...cron,
  ...file,
  ...group,
  ...host,
  ...pkg,
  ...service,
  ...sources,
  ...system,
  ...test,
  ...user,
];
