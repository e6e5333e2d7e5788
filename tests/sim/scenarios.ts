/** Every scenario that `deno task sim` knows, by name. */
import { leaseScenario } from "./lease_scenario.ts";
import { jobsScenario } from "./jobs_scenario.ts";
import type { Scenario } from "./world.ts";

export const scenarios: Readonly<Record<string, Scenario>> = {
  jobs: jobsScenario(),
  lease: leaseScenario(),
};
