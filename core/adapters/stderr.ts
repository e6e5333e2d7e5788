/** Where daemons write their logs. */

const encoder = new TextEncoder();

/** Writes one line to stderr before it returns, so that a crash right after does not lose it. */
export function stderrSink(line: string): void {
  const bytes = encoder.encode(`${line}\n`);
  for (let done = 0; done < bytes.length;) done += Deno.stderr.writeSync(bytes.subarray(done));
}
