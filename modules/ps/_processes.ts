/** Reads the list of processes that `ps` prints. */
import { LIST_OUTPUT_BYTES_MAX } from "../../core/limits.ts";
import type { Host, Program } from "../../core/module.ts";

/** No headings, and the command last, since it may hold spaces. */
export const PS: Program = ["ps", "-e", "-o", "pid=,ppid=,user:32=,pcpu=,rss=,args="];

const BYTES_PER_KB = 1_024;

/** One process. A type, not an interface, so that it counts as plain data. */
export type Process = {
  readonly pid: number;
  readonly ppid: number;
  readonly user: string;
  readonly cpu_percent: number;
  readonly memory_bytes: number;
  readonly command: string;
};

/** All processes. */
export async function readProcesses(host: Pick<Host, "run">): Promise<Process[]> {
  const { code, stdout, stderr } = await host.run(PS, { outputBytesMax: LIST_OUTPUT_BYTES_MAX });
  if (code !== 0) throw new Error(`ps: ${stderr.trim()}`);
  return parseProcesses(stdout);
}

/** The rows of `ps`; what is no row is left out. */
export function parseProcesses(text: string): Process[] {
  return text.split("\n").flatMap((line) => {
    const row = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+([\d.]+)\s+(\d+)\s+(.*)$/.exec(line);
    if (row === null) return [];
    const [, pid, ppid, user, cpu, rss, command] = row;
    return [{
      pid: Number(pid),
      ppid: Number(ppid),
      user: user!,
      cpu_percent: Number(cpu),
      memory_bytes: Number(rss) * BYTES_PER_KB,
      command: command!,
    }];
  });
}
