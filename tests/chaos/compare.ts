/**
 * Compares what was run with what was dispatched, and both with what is said about it. Pure: evidence in, findings out; none means
 * that nothing was lost and nothing doubled.
 */
import { isTerminal, type Job, type JobStatus } from "../../core/wire/job.ts";
import type { Return } from "../../core/wire/return.ts";
import type { Execution } from "./executions.ts";

/** All that is left of a run. */
export interface Evidence {
  /** Jobs of which an operator was told that a master has them. */
  readonly accepted: readonly string[];
  /** How jobs ended, as an operator was told. */
  readonly told: ReadonlyMap<string, JobStatus>;
  /** The jobs as they are stored, with all their targets. */
  readonly records: ReadonlyMap<string, Job>;
  /** Jobs that the index calls under way, and that have a record. */
  readonly active: readonly string[];
  /** Jobs whose dispatch is in the stream. */
  readonly dispatched: ReadonlySet<string>;
  /** Returns that the masters keep, by job and peel. */
  readonly kept: ReadonlyMap<string, Return>;
  /** Returns in the stream, in order, by job and peel: what the peels themselves said. */
  readonly said: ReadonlyMap<string, readonly Return[]>;
  readonly executions: readonly Execution[];
}

/** Key of what concerns one peel and one job. */
export function pairOf(jid: string, peel: string): string {
  return `${jid} ${peel}`;
}

/** How often each peel ran each job. */
export function countRuns(executions: readonly Execution[]): ReadonlyMap<string, number> {
  const runs = new Map<string, number>();
  for (const { jid, peel } of executions) {
    const pair = pairOf(jid, peel);
    runs.set(pair, (runs.get(pair) ?? 0) + 1);
  }
  return runs;
}

/** Everything that is not as it must be. */
export function compare(evidence: Evidence): string[] {
  const runs = countRuns(evidence.executions);
  return [
    ...[...runs].filter(([, times]) => times > 1).map(([pair, times]) => `${pair}: ran ${times}×`),
    ...runsOfNobody(evidence),
    ...lostJobs(evidence),
    ...[...evidence.records.values()].flatMap((job) => [
      ...jobFindings(job, evidence),
      ...job.targets.flatMap((peel) =>
        targetFindings(job, peel, runs.get(pairOf(job.jid, peel)) ?? 0, evidence)
      ),
    ]),
  ];
}

function runsOfNobody({ executions, dispatched, records }: Evidence): string[] {
  return executions.flatMap(({ jid, peel }) => {
    if (!dispatched.has(jid)) return [`${jid} ${peel}: ran, and was never dispatched`];
    const isTarget = records.get(jid)?.targets.includes(peel) ?? false;
    return isTarget ? [] : [`${jid} ${peel}: ran, and is no target`];
  });
}

function lostJobs({ accepted, dispatched, records }: Evidence): string[] {
  return [
    ...accepted.filter((jid) => !records.has(jid)).map((jid) => `${jid}: accepted, then lost`),
    ...[...dispatched].filter((jid) => !records.has(jid)).map((jid) =>
      `${jid}: dispatched, then lost`
    ),
  ];
}

function jobFindings(job: Job, evidence: Evidence): string[] {
  const { active, dispatched, said, kept } = evidence;
  const { jid, status, targets } = job;
  if (!isTerminal(status)) return [`${jid}: still ${status}, owner ${job.owner ?? "nobody"}`];
  const findings: string[] = [];
  const told = evidence.told.get(jid) ?? status;
  if (told !== status) findings.push(`${jid}: ${status}, and the operator was told ${told}`);
  if (active.includes(jid)) findings.push(`${jid}: ${status}, and still in the index`);
  if (status === "complete") {
    if (!dispatched.has(jid)) findings.push(`${jid}: complete, and was never dispatched`);
    const unproven = targets.filter((peel) => !kept.get(pairOf(jid, peel))?.success);
    if (unproven.length > 0) findings.push(`${jid}: complete without ${unproven.join(", ")}`);
  }
  if (status === "not_sent" && targets.some((peel) => said.has(pairOf(jid, peel)))) {
    findings.push(`${jid}: not sent, and answered`);
  }
  return findings;
}

/** A peel that says this did not begin: what it was told ended before. */
const NOT_BEGUN = /^(peel busy|refused): |before (it|this) (began|came)$/;

function targetFindings(job: Job, peel: string, runs: number, evidence: Evidence): string[] {
  const pair = pairOf(job.jid, peel);
  const said = evidence.said.get(pair) ?? [];
  const kept = evidence.kept.get(pair);
  const findings: string[] = [];
  if (runs > 0 && said.length === 0) findings.push(`${pair}: ran, and no return tells of it`);
  if (runs > 0 && job.status === "not_sent") findings.push(`${pair}: ran, and was not sent`);
  for (const given of said) {
    if (given.success && runs !== 1) findings.push(`${pair}: says success, ran ${runs}×`);
    if (NOT_BEGUN.test(given.error ?? "") && runs !== 0) {
      findings.push(`${pair}: says "${given.error}", ran ${runs}×`);
    }
  }
  if (new Set(said.map(({ success, error }) => `${success} ${error}`)).size > 1) {
    findings.push(`${pair}: says first this, then that`);
  }
  if (kept !== undefined && !kept.unreachable && !said.some((each) => isSame(each, kept))) {
    findings.push(`${pair}: the masters keep what it never said: ${kept.error ?? "success"}`);
  }
  return findings;
}

function isSame(one: Return, other: Return): boolean {
  return one.success === other.success && one.error === other.error;
}
