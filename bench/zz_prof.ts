import { startEmulatedFleet } from "./zz_fleet.ts";
async function cdp(port: number) {
  const [t] = await (await fetch(`http://127.0.0.1:${port}/json`)).json();
  const ws = new WebSocket(t.webSocketDebuggerUrl);
  await new Promise((r) => ws.onopen = r);
  let id = 0;
  const wait = new Map<number, (v: any) => void>();
  ws.onmessage = (e) => {
    const m = JSON.parse(e.data);
    if (m.id) wait.get(m.id)?.(m.result);
  };
  return {
    send: (method: string, params = {}) =>
      new Promise<any>((r) => {
        wait.set(++id, r);
        ws.send(JSON.stringify({ id, method, params }));
      }),
    close: () => ws.close(),
  };
}
function show(name: string, p: any) {
  const self = new Map<string, number>();
  const by = new Map(p.nodes.map((n: any) => [n.id, n]));
  const parent = new Map<number, number>();
  for (const n of p.nodes) for (const c of n.children ?? []) parent.set(c, n.id);
  const total = new Map<string, number>();
  let sum = 0;
  const label = (n: any) =>
    `${n.callFrame.functionName || "(anon)"} ${n.callFrame.url.split("/").slice(-2).join("/")}:${
      n.callFrame.lineNumber + 1
    }`;
  p.samples.forEach((s: number, i: number) => {
    const d = p.timeDeltas[i] / 1000;
    const n: any = by.get(s);
    if (label(n).startsWith("(idle)")) return;
    sum += d;
    self.set(label(n), (self.get(label(n)) ?? 0) + d);
    const seen = new Set<string>();
    for (let at: number | undefined = s; at !== undefined; at = parent.get(at)) {
      const l = label(by.get(at));
      if (!seen.has(l)) {
        seen.add(l);
        total.set(l, (total.get(l) ?? 0) + d);
      }
    }
  });
  console.log(`== ${name}: ${sum.toFixed(0)} ms`);
  const files = new Map<string, number>();
  for (const [l, d] of self) {
    const k = l.includes("/") ? l.split(" ").pop()!.split(":")[0]! : l;
    files.set(k, (files.get(k) ?? 0) + d);
  }
  for (const [l, d] of [...files].sort((a, b) => b[1] - a[1]).slice(0, 30)) {
    console.log(d.toFixed(1).padStart(8), l);
  }
  for (const [what, map, k] of [["self", self, 40], ["total", total, 60]] as const) {
    console.log(`-- ${what}`);
    for (const [l, d] of [...map].sort((a, b) => b[1] - a[1]).slice(0, k)) {
      console.log(d.toFixed(1).padStart(8), l);
    }
  }
}
const f = await startEmulatedFleet({ peels: Number(Deno.args[0] ?? 1000) });
try {
  for (let i = 0; i < 4; i++) await f.ping();
  const c = { [Deno.args[1] ?? "master"]: await cdp(Deno.args[1] === "emulator" ? 9332 : 9331) };
  for (const x of Object.values(c)) {
    await x.send("Profiler.enable");
    await x.send("Profiler.setSamplingInterval", { interval: 500 });
    await x.send("Profiler.start");
  }
  for (let i = 0; i < 5; i++) await f.ping();
  for (const [n, x] of Object.entries(c)) {
    const { profile } = await x.send("Profiler.stop");
    show(n + " (5 pings)", profile);
    x.close();
  }
} finally {
  await f.stop();
}
