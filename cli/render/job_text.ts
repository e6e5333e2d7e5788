/** Jobs, peels and masters for people. */
import { formatDuration } from "../../core/duration.ts";
import { displayPeelId, ID_PREFIX, isId, parseKsuid } from "../../core/ids.ts";
import { WORDS_KEY } from "../../core/module/prepare.ts";
import { printable, printableJson } from "../../core/printable.ts";
import { isTerminal as isTerminalStatus, type Job, type JobStatus } from "../../core/wire/job.ts";
import type { JobRow, JobTarget, MasterRow, PeelRow } from "../../core/wire/query.ts";
import { type JobView, targetOutcome } from "./job_data.ts";
import { comparePeels } from "./run_model.ts";
import { cellsOf, PAINTS, shortMaster } from "./run_text.ts";
import { dot, type Paint, paint, type Style } from "./style.ts";
import { type Cell, table } from "./table.ts";
import { ago, when } from "./time.ts";

/** How to draw, and from where times are seen. */
export interface ListStyle {
  readonly style: Style;
  readonly isTerminal: boolean;
  /** By the clock of the master that answered. */
  readonly nowMs: number;
  /** How wide it may be. */
  readonly columns: number;
  /** All there is, however long. */
  readonly wide: boolean;
}

const STATUS_PAINTS: Readonly<Record<JobStatus, Paint>> = {
  pending: "dim",
  claimed: "dim",
  running: "bold",
  complete: "green",
  partial: "yellow",
  timeout: "red",
  failed: "red",
  canceled: "yellow",
  not_sent: "red",
};

function statusCell(status: JobStatus): Cell {
  return { text: status, paint: STATUS_PAINTS[status] };
}

/** `job list`. */
export function jobTable(rows: readonly JobRow[], list: ListStyle): string {
  const { style, isTerminal, nowMs, wide } = list;
  const cells = rows.map(({ job, targetCount }): Cell[] => [
    job.jid,
    printable(job.function),
    printable(job.targetExpr ?? "-"),
    statusCell(job.status),
    printable(job.user ?? "-"),
    ownerCell(job, list),
    when(job.createdMs, nowMs, isTerminal),
    ...(wide
      ? [
        String(targetCount),
        String(job.returnCount ?? 0),
        String(job.successCount ?? 0),
        isTerminalStatus(job.status) ? formatDuration(job.updatedMs - job.createdMs) : "-",
      ]
      : []),
  ]);
  const header = ["JID", "FUNCTION", "TARGET", "STATE", "USER", "OWNER", "CREATED"];
  const more = wide ? ["TARGETS", "RETURNS", "SUCCESSES", "TOOK"] : [];
  return table([...header, ...more], cells, style, { ...list, flexible: "TARGET" });
}

/** Where there is little room, its end, as in the header of a run. */
function ownerCell({ owner }: Job, { columns, style }: ListStyle): string {
  if (owner === undefined) return "-";
  return columns === Infinity ? owner : shortMaster(owner, style);
}

/** `job active`. */
export function activeTable(rows: readonly JobRow[], list: ListStyle): string {
  const { style, nowMs } = list;
  const cells = rows.map(({ job, targetCount }): Cell[] => [
    job.jid,
    printable(job.function),
    String(targetCount),
    statusCell(job.status),
    printable(job.user ?? "-"),
    ownerCell(job, list),
    leftOf(job, nowMs),
  ]);
  const header = ["JID", "FUNCTION", "TARGETS", "STATUS", "USER", "OWNER", "LEFT"];
  return table(header, cells, style, { ...list, flexible: "FUNCTION" });
}

function leftOf({ deadlineMs }: Job, nowMs: number): string {
  if (deadlineMs === undefined) return "-";
  const leftMs = Math.max(0, deadlineMs - nowMs);
  return leftMs === 0 ? "overdue" : formatDuration(leftMs);
}

/** `job show`: the request, then one row per target. */
export function jobScreen(view: JobView, list: ListStyle): string {
  const { job, targets } = view;
  const head = headRows(view, list).map(([name, text]) => `${name.padEnd(10)}${text}\n`).join("");
  const sorted = [...targets].sort((a, b) =>
    comparePeels(displayPeelId(a.peel), displayPeelId(b.peel))
  );
  const rows = sorted.map((target) => targetCells(target, job.status, list));
  const fit = { ...list, flexible: "NOTE" };
  const body = rows.length === 0
    ? ""
    : `\n${table(["PEEL", "RESULT", "TIME", "NOTE"], rows, list.style, fit)}`;
  return `${head}${body}`;
}

function headRows(
  { job, targets, canceledBy }: JobView,
  { style, nowMs, isTerminal: onTerminal }: ListStyle,
): [string, string][] {
  const by = [job.user ?? "?", when(job.createdMs, nowMs, onTerminal), tookOf(job, nowMs)];
  const reason = job.metadata?.["failed_reason"] ?? job.metadata?.["ended_because"];
  const many = targets.length === 1 ? "peel" : "peels";
  const arrow = style.unicode ? "→" : "->";
  return [
    ["Job", `${job.jid}   ${paint(style, STATUS_PAINTS[job.status], job.status)}`],
    ["Ran", printable([job.function, job.stateId ?? "", argsOf(job)].filter(Boolean).join(" "))],
    ["Target", `${printable(job.targetExpr ?? "-")}  ${arrow}  ${targets.length} ${many}`],
    ["By", printable(by.join(` ${dot(style)} `))],
    ["Master", ownerOf(job)],
    ...(reason === undefined ? [] : [["Ended", printable(reason)] as [string, string]]),
    ...(canceledBy === undefined || isTerminalStatus(job.status)
      ? []
      : [["Cancel", `asked for by ${printable(canceledBy)}`] as [string, string]]),
  ];
}

function tookOf(job: Job, nowMs: number): string {
  if (isTerminalStatus(job.status)) return `took ${formatDuration(job.updatedMs - job.createdMs)}`;
  return `${leftOf(job, nowMs)} left`;
}

function ownerOf({ owner, reclaimCount = 0 }: Job): string {
  const taken = reclaimCount === 0 ? "" : `, taken over ${reclaimCount} times`;
  return `${owner ?? "none: waits to be taken over"}${taken}`;
}

function argsOf({ args }: Job): string {
  const { [WORDS_KEY]: words, ...named } = args;
  const pairs = Object.entries(named).map(([key, value]) =>
    `${key}=${typeof value === "string" ? value : printableJson(JSON.stringify(value, plainly))}`
  );
  return [...(Array.isArray(words) ? words.map(String) : []), ...pairs].join(" ");
}

function plainly(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

/** A target that has not answered is silent only once the job is over. */
function targetCells(target: JobTarget, status: JobStatus, { style }: ListStyle): Cell[] {
  const outcome = targetOutcome(target);
  const [peel = "", result = "", time = "", note = ""] = cellsOf(outcome, style);
  if (target.return === undefined && !isTerminalStatus(status)) {
    return [peel, { text: target.acked ? "running" : "waiting", paint: "dim" }, time, note];
  }
  return [peel, { text: result, paint: PAINTS[outcome.status] }, time, note];
}

const PRESENCE_CELLS: Readonly<Record<PeelRow["presence"], Cell>> = {
  online: { text: "yes", paint: "green" },
  offline: { text: "no", paint: "red" },
  unknown: { text: "?", paint: "dim" },
};

/** `peel list`. */
export function peelTable(
  rows: readonly PeelRow[],
  { style, isTerminal, nowMs }: ListStyle,
): string {
  const cells = rows.map(({ peel, presence, lastSeenMs, version, os, arch }): Cell[] => [
    printable(displayPeelId(peel)),
    printable(os ?? "-"),
    printable(arch ?? "-"),
    PRESENCE_CELLS[presence],
    lastSeenMs === undefined ? "-" : when(lastSeenMs, nowMs, isTerminal),
    printable(version ?? "-"),
  ]);
  return table(["PEEL ID", "OS", "ARCH", "ONLINE", "LAST-SEEN", "VERSION"], cells, style);
}

const PRESENCE_WORDS: Readonly<Record<PeelRow["presence"], string>> = {
  online: "yes",
  offline: "no",
  unknown: "not known: the master has not listened long enough",
};

/** `peel show`. */
export function peelScreen(row: PeelRow, { nowMs }: ListStyle): string {
  const { peel, presence, lastSeenMs, version, os, arch, policy, customFunctions = [] } = row;
  const rows: [string, string][] = [
    ["Peel", displayPeelId(peel)],
    ["Online", PRESENCE_WORDS[presence]],
    ["Last seen", lastSeenMs === undefined ? "-" : ago(lastSeenMs, nowMs)],
    ["Version", version ?? "-"],
    ["System", [os, arch].filter((word) => word !== undefined).join(" ") || "-"],
    ...(customFunctions.length === 0
      ? []
      : [["Functions", `of the state tree: ${customFunctions.join(", ")}`] as [string, string]]),
    ...(policy ?? ["-"]).map((text, at): [string, string] => [at === 0 ? "Policy" : "", text]),
  ];
  return rows.map(([name, text]) => `${name.padEnd(11)}${printable(text)}\n`).join("");
}

/** `master list`. A master's id holds when it started. */
export function masterTable(rows: readonly MasterRow[], list: ListStyle): string {
  const { style, isTerminal, nowMs } = list;
  const cells = rows.map(({ master, activeCount, heartbeatMs }): Cell[] => [
    master,
    String(activeCount),
    when(heartbeatMs, nowMs, isTerminal),
    startedOf(master, list),
  ]);
  return table(["MASTER ID", "ACTIVE JOBS", "LAST-SEEN", "STARTED"], cells, style);
}

function startedOf(master: string, { nowMs, isTerminal }: ListStyle): string {
  if (!isId("master", master)) return "-";
  return when(parseKsuid(master.slice(ID_PREFIX.master.length)).timeMs, nowMs, isTerminal);
}
