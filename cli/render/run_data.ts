/** A run for programs. Field names are part of the interface: they are added, never renamed. */
import { displayPeelId } from "../../core/ids.ts";
import { printableBlock, printableJson } from "../../core/printable.ts";
import { compositeOf } from "./plain_value.ts";
import {
  comparePeels,
  onlineCount,
  type Outcome,
  type Run,
  type RunResult,
  type RunSummary,
} from "./run_model.ts";

const NANOSECONDS_PER_MS = 1_000_000;

/** Durations in data are nanoseconds, as on the wire. */
export function nanoseconds(durationMs: number): number {
  return Math.round(durationMs * NANOSECONDS_PER_MS);
}

const STATUS_WORDS: Readonly<Record<Outcome["status"], string>> = {
  ok: "success",
  changed: "success",
  failed: "failed",
  canceled: "failed",
  silent: "unreachable",
};

/** Members of `outcomeData`, for whoever wants only some of them: known before there is any. */
export const OUTCOME_FIELDS: ReadonlySet<string> = new Set([
  ...["peel_id", "status", "success", "results", "error", "late", "test"],
  ...[
    "name",
    "changed",
    "details",
    "details.result",
    "details.stdout",
    "details.stderr",
    "duration",
  ]
    .concat(["diff", "error", "skipped", "skip_reason"]).map((name) => `results.${name}`),
]);

/** What one peel did, in the form of `-o json` and `-o yaml`. */
export function outcomeData(outcome: Outcome): Record<string, unknown> {
  const { peel, status, results, error, silence, late, test } = outcome;
  return defined({
    peel_id: peel,
    status: STATUS_WORDS[status],
    success: status === "ok" || status === "changed",
    results: results.map(resultData),
    error: error ?? silence,
    late,
    test,
  });
}

/** What one state or function did. */
export function resultData(result: RunResult): Record<string, unknown> {
  const { name, changed, details, durationMs, diff, error, skipped, skipReason } = result;
  return defined({
    name,
    changed,
    details: Object.keys(details).length === 0 ? undefined : detailsData(details),
    duration: nanoseconds(durationMs),
    diff: diff === "" ? undefined : diff,
    error,
    skipped: skipped || undefined,
    skip_reason: skipReason,
  });
}

/** Details are texts; a result that is a list or a map becomes one again. */
function detailsData(details: RunResult["details"]): Record<string, unknown> {
  const { result } = details;
  const composite = result === undefined ? null : compositeOf(result);
  return composite === null ? { ...details } : { ...details, result: composite };
}

/** Rows as one array. */
export function prettyJson(rows: readonly Readonly<Record<string, unknown>>[]): string {
  return printableJson(JSON.stringify(rows, null, 2)) + "\n";
}

/** First line of `-o jsonl`: who is meant, and who of them was there. */
export function targetsLine(run: Run): string {
  const { jid, matched, enrolled } = run;
  const online = onlineCount(run);
  const presence = online === null
    ? {}
    : { online, offline: idsOf(run.offline), unknown: idsOf(run.unheard), enrolled };
  return jsonLine({ kind: "targets", jid, matched, ...presence });
}

function idsOf(peels: Iterable<string>): string[] {
  return [...peels].map(displayPeelId).sort(comparePeels);
}

/** One line of `-o jsonl` per peel: it returned, or it is silent. */
export function outcomeJsonLine(outcome: Outcome): string {
  const { peel, status, results, error, silence, durationMs, test } = outcome;
  if (status === "silent") return jsonLine({ kind: "silence", peel, reason: silence, error });
  return jsonLine({
    kind: "return",
    peel,
    result: status,
    changed: results.filter((result) => result.changed).length,
    failed: results.filter((result) => result.error !== undefined).length,
    ms: Math.round(durationMs),
    results: results.map(resultData),
    error,
    test,
  });
}

/** Last line of `-o jsonl`. */
export function summaryJsonLine(summary: RunSummary, exit: number): string {
  const { ok, changed, failed, canceled, silent, test } = summary;
  const ended = canceled === 0 ? {} : { canceled };
  const dry = test ? { test } : {};
  return jsonLine({ kind: "summary", ok, changed, failed, ...ended, silent, ...dry, exit });
}

/** One object on one line, absent members left out. */
export function jsonLine(value: Record<string, unknown>): string {
  return printableJson(JSON.stringify(value)) + "\n";
}

/** One YAML document per row. */
export async function documents(
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<string> {
  const { dump } = await import("js-yaml");
  return rows.map((row) => `---\n${printableBlock(dump(row))}`).join("");
}

/** Ids of peels, one per line. */
export function outcomeIds(outcomes: readonly Outcome[]): string {
  return outcomes.map(({ peel }) => `${peel}\n`).join("");
}

/** Without the members that have no value. */
export function defined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
