/** A run for programs. Field names are part of the interface: they are added, never renamed. */
import { printableBlock, printableJson } from "../../core/printable.ts";
import {
  type Outcome,
  type Run,
  type RunResult,
  type RunSummary,
  sortedOutcomes,
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

/** What one peel did, in the form of `-o json` and `-o yaml`. */
export function outcomeData(outcome: Outcome): Record<string, unknown> {
  const { peel, status, results, error, silence, late } = outcome;
  return defined({
    peel_id: peel,
    status: STATUS_WORDS[status],
    success: status === "ok" || status === "changed",
    results: results.map(resultData),
    error: error ?? silence,
    late,
  });
}

/** What one state or function did. */
export function resultData(result: RunResult): Record<string, unknown> {
  const { name, changed, details, durationMs, diff, error, skipped, skipReason } = result;
  return defined({
    name,
    changed,
    details: Object.keys(details).length === 0 ? undefined : details,
    duration: nanoseconds(durationMs),
    diff: diff === "" ? undefined : diff,
    error,
    skipped: skipped || undefined,
    skip_reason: skipReason,
  });
}

/** All peels as one array, sorted by id. */
export function runJson(run: Run): string {
  return printableJson(JSON.stringify(sortedOutcomes(run).map(outcomeData), null, 2)) + "\n";
}

/** First line of `-o jsonl`: who is meant. */
export function targetsLine(run: Run): string {
  return jsonLine({ kind: "targets", jid: run.jid, matched: run.targets.length });
}

/** One line of `-o jsonl` per peel: it returned, or it is silent. */
export function outcomeJsonLine(outcome: Outcome): string {
  const { peel, status, results, error, silence, durationMs } = outcome;
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
  });
}

/** Last line of `-o jsonl`. */
export function summaryJsonLine(summary: RunSummary, exit: number): string {
  const { ok, changed, failed, canceled, silent } = summary;
  const ended = canceled === 0 ? {} : { canceled };
  return jsonLine({ kind: "summary", ok, changed, failed, ...ended, silent, exit });
}

/** One object on one line, absent members left out. */
export function jsonLine(value: Record<string, unknown>): string {
  return printableJson(JSON.stringify(value)) + "\n";
}

/** One document per peel. */
export async function runYaml(run: Run): Promise<string> {
  const { dump } = await import("js-yaml");
  return sortedOutcomes(run).map((outcome) => `---\n${printableBlock(dump(outcomeData(outcome)))}`)
    .join("");
}

/** Ids of the peels that did not fail, one per line. */
export function runIds(run: Run): string {
  return sortedOutcomes(run).filter(({ status }) => status === "ok" || status === "changed")
    .map(({ peel }) => `${peel}\n`).join("");
}

/** Without the members that have no value. */
export function defined(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}
