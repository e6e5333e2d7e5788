/** Reads what the kernel says of the host. */
import type { Host } from "../../core/module.ts";

/** Text of one file below /proc. */
export async function readProc(host: Pick<Host, "readFile">, path: string): Promise<string> {
  const bytes = await host.readFile(path);
  if (bytes === null) throw new Error(`${path} is missing: only Linux has it`);
  return new TextDecoder().decode(bytes).trim();
}

const BYTES_PER_KB = 1_024;

/** Amounts in bytes, from the text of `/proc/meminfo`. */
export function readMemory(text: string): Record<string, number> {
  const bytes = new Map(
    text.split("\n").map((line) => {
      const [name = "", value = "0"] = line.split(/:\s+/);
      return [name, parseInt(value) * BYTES_PER_KB];
    }),
  );
  const of = (name: string) => bytes.get(name) ?? 0;
  return {
    total: of("MemTotal"),
    available: of("MemAvailable"),
    used: of("MemTotal") - of("MemAvailable"),
    free: of("MemFree"),
    swap_total: of("SwapTotal"),
    swap_used: of("SwapTotal") - of("SwapFree"),
    swap_free: of("SwapFree"),
  };
}
