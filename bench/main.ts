/**
 * Runs benchmarks by name.
 *
 *     deno task bench [name] [--json] [--repeats N]
 *
 * With a name, only scenarios whose name begins with it. `--json` prints one JSON document instead of text.
 */
import { parseArgs } from "node:util";
import { measure, type Opened } from "./harness.ts";
import { renderResult, type Result } from "./summary.ts";

/** Bench files by the first part of their scenarios' names. */
const BENCHES: Readonly<Record<string, () => Promise<{ open(): Promise<Opened> }>>> = {
  broker: () => import("./broker.ts"),
  cli_start: () => import("./cli_start.ts"),
  idle: () => import("./idle.ts"),
  jobs_20: async () => ({ open: (await import("./jobs.ts")).openSmall }),
  jobs_1000: async () => ({ open: (await import("./jobs.ts")).openLarge }),
  jobs_5000: async () => ({ open: (await import("./jobs.ts")).openHuge }),
  ping: () => import("./ping.ts"),
  ping_20: async () => ({ open: (await import("./ping.ts")).openTwenty }),
  states: () => import("./states.ts"),
  targets: () => import("./targets.ts"),
  worker: () => import("./worker.ts"),
};

const REPEATS = 7;

interface Report {
  results: Result[];
  skipped: { bench: string; why: string }[];
}

async function runBench(
  name: string,
  options: { prefix: string; repeats: number; onResult(result: Result): void },
): Promise<Report> {
  const opened = await (await BENCHES[name]!()).open();
  if ("skipped" in opened) return { results: [], skipped: [{ bench: name, why: opened.skipped }] };
  const results: Result[] = [];
  try {
    for (const scenario of opened.scenarios) {
      if (!scenario.name.startsWith(options.prefix)) continue;
      const result = await measure(scenario, options);
      options.onResult(result);
      results.push(result);
    }
  } finally {
    await opened.close();
  }
  return { results, skipped: [] };
}

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { json: { type: "boolean" }, repeats: { type: "string" } },
    allowPositionals: true,
  });
  const prefix = positionals[0] ?? "";
  const repeats = Number(values.repeats ?? REPEATS);
  const names = Object.keys(BENCHES).filter((name) =>
    prefix === "" || prefix.split("/")[0] === name
  );
  if (names.length === 0 || !Number.isInteger(repeats) || repeats < 1 || positionals.length > 1) {
    console.error(`usage: bench [${Object.keys(BENCHES).join(" | ")}] [--json] [--repeats N]`);
    return 2;
  }
  const whole: Report = { results: [], skipped: [] };
  const show = (text: string) => values.json === true ? undefined : console.log(text);
  for (const name of names) {
    const onResult = (result: Result) => show(renderResult(result) + "\n");
    const report = await runBench(name, { prefix, repeats, onResult });
    whole.results.push(...report.results);
    whole.skipped.push(...report.skipped);
    for (const { bench, why } of report.skipped) show(`${bench}: skipped: ${why}\n`);
  }
  if (values.json === true) console.log(JSON.stringify(whole, null, 2));
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
