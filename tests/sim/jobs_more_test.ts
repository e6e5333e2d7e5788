import { assertJobsWell } from "./jobs_seeds.ts";

Deno.test("simulate() finds no job that is lost, doubled or misreported in seeds 251 to 500", async () => {
  await assertJobsWell({ from: 251, seeds: 250 });
});
