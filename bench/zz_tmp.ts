import { startWatch, step, hearAck, hearReturn } from "../master/watch/plan.ts";
import { newJob } from "../core/wire/job.ts";
for (const n of [1000, 5000, 20000]) {
  const targets = Array.from({ length: n }, (_, i) => `p${i}`);
  const job = { ...newJob({ jid: "0ujsswThIGTUYm2K8FjOOfXtY1K", function: "test.ping", args: {}, targetExpr: "*", timeoutMs: 60_000 }, 0), batchSize: "100", deadlineMs: 1e12 };
  const s = startWatch(job as never, targets);
  const t = performance.now(); let now = 1; let flight: string[] = []; let steps = 0;
  const go = () => { steps++; for (const a of step(s, job.jid, now).actions) { if (a.do === "send") flight.push(...a.peels); if (a.do === "finish") return true; } return false; };
  go();
  while (flight.length) { const p = flight.shift()!; now++; hearAck(s, p, now); hearReturn(s, p, { jid: job.jid, peelId: p, success: true, returnData: null, durationMs: 1, timestampMs: 1 } as never, now); if (go()) break; }
  console.log(n, steps, (performance.now() - t).toFixed(0), "ms");
}
