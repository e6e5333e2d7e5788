/** `docs/metrics.md`: every metric, from the table that the programs use. */
import { METRICS } from "../../core/metrics.ts";
import { code, codes, generatedFrom, page, table } from "./markdown.ts";

/** The whole page. */
export async function metricsPage(): Promise<string> {
  const rows = Object.values(METRICS).map(({ name, type, labels, components, help }) => [
    code(name),
    type,
    codes(labels),
    components.join(", "),
    help,
  ]);
  return await page(
    generatedFrom("core/metrics.ts"),
    "# Metrics",
    "Served in the text format of Prometheus on `/metrics` of each daemon. Labels take values from closed sets only.",
    table(["Metric", "Type", "Labels", "On", "Meaning"], rows),
  );
}
