import assert from "node:assert/strict";
import { parseProcesses } from "./_processes.ts";

Deno.test("parseProcesses() keeps the spaces of commands and skips what is no row", () => {
  const text =
    "      1       0 root  0.0  1024 /sbin/init splash\n nonsense\n     42 1 www-data 12.5 8 nginx: worker\n";
  assert.deepEqual(parseProcesses(text), [
    {
      pid: 1,
      ppid: 0,
      user: "root",
      cpu_percent: 0,
      memory_bytes: 1_048_576,
      command: "/sbin/init splash",
    },
    {
      pid: 42,
      ppid: 1,
      user: "www-data",
      cpu_percent: 12.5,
      memory_bytes: 8_192,
      command: "nginx: worker",
    },
  ]);
});
