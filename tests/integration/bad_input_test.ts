/** Requests that no fleet should take, on real processes: each gets a clear error, and nothing of it is stored. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { Fleet } from "../../cli/app.ts";
import type { RunRequest } from "../../cli/commands/run.ts";
import { openFleet } from "../../cli/fleet.ts";
import type { RunEvent } from "../../cli/render/run_model.ts";
import { systemClock } from "../../core/adapters/system_clock.ts";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { signerFromSeed } from "../../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../../core/crypto/nkey.ts";
import { newJid } from "../../core/ids.ts";
import { JOB_ARGS_BYTES_MAX, JOB_TIMEOUT_MS_MAX } from "../../core/limits.ts";
import { openTrust, signTrust } from "../../core/trust.ts";
import { parseUpOptions } from "../../tools/up/options.ts";
import type { RunningFleet } from "../../tools/up/run.ts";
import { withFleet } from "../../tools/up.ts";
import { fakeIo } from "../fakes/cli_io.ts";
import { zester } from "../fakes/zester_process.ts";

const rows: [line: string[], code: number, says: RegExp][] = [
  [["", "test.ping"], 2, /^error ZE0404: the target is empty: it says nobody\n {2}fix {6}'\*' is/],
  [
    ["peel-1 peel-2", "test.ping"],
    2,
    /^error ZE0404: .*, at column 8\n {2}│ peel-1 peel-2\n {2}│ {8}\^\n/,
  ],
  [["peel-9", "test.ping"], 5, /^error ZE0405: nobody matches {2}peel-9\n/],
  [
    ["*", "test.ping", "--timeout", "9d"],
    2,
    /^error ZE0002: --timeout 9d: a job may take 6d at most\n/,
  ],
  [
    [
      "*",
      "test.echo",
      `text=${"x".repeat(100_000)}`,
      `a=${"x".repeat(100_000)}`,
      `b=${"x".repeat(100_000)}`,
    ],
    2,
    /^error ZE0203: test\.echo: the arguments are 293 KiB, at most 256 KiB are allowed\n/,
  ],
  [
    ["*", "test.pong"],
    2,
    /^error ZE0201: there is no function test\.pong on any of these peels\n.*`test\.ping`/,
  ],
  [["peel-1", "acme.widget"], 2, /^error ZE0201: there is no function acme\.widget on this peel\n/],
  [
    ["*", "file.managed", "/tmp/x", "sosurce=y"],
    2,
    /^error ZE0203: file\.managed has no parameter `sosurce`\n {2}fix {6}did you mean `source`/,
  ],
  [["*", "pkg.installed"], 2, /^error ZE0203: pkg\.installed requires a name argument\n/],
  [["*", "facts.set", "a", "b", "c"], 2, /^error ZE0203: facts\.set cannot take the word "c"\n/],
  [
    ["*", "test.ping", "--fields", "peel"],
    2,
    /^error ZE0002: --fields: there is no field "peel"\n/,
  ],
];

/** A master that has not heard which functions its peels have refuses none. */
async function untilFactsAreKnown(fleet: RunningFleet): Promise<void> {
  const deadlineMs = Date.now() + 20_000;
  for (;;) {
    const shown = await Promise.all(
      ["peel-1", "peel-2"].map((peel) => zester(fleet, "peel", "show", peel, "-o", "json")),
    );
    if (shown.every(({ stdout }) => "policy" in JSON.parse(stdout))) return;
    assert.ok(Date.now() < deadlineMs, "the facts of the peels are not known");
  }
}

Deno.test("zester refuses bad targets, functions, arguments, times, sizes and fields with a clear error, and nothing is stored", () =>
  withFleet(parseUpOptions(["--broker", "embedded", "--peels", "2"]), async (fleet) => {
    await untilFactsAreKnown(fleet);
    for (const [line, want, says] of rows) {
      const { code, stdout, stderr } = await zester(fleet, ...line);
      assert.equal(code, want, stderr);
      assert.match(stderr, says);
      assert.equal(stdout, "");
    }
    await holdsNoJob(fleet);
  }));

async function holdsNoJob(fleet: RunningFleet): Promise<void> {
  const { code, stdout, stderr } = await zester(fleet, "job", "list", "-o", "ids");
  assert.deepEqual([code, stdout], [0, ""], stderr);
}

const REQUEST: Omit<RunRequest, "jid"> = {
  target: "*",
  function: "test.ping",
  id: null,
  args: {},
  timeoutMs: 5_000,
  pace: {},
};

function freshJid(): string {
  return newJid(systemClock.now(), systemRandom);
}

/** Sends what the command itself would not send. */
async function send(fleet: Fleet, request: RunRequest): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  await fleet.run(request, (event) => void events.push(event));
  return events;
}

const unchecked: [name: string, change: Partial<RunRequest>, code: string, says: RegExp][] = [
  [
    "oversized arguments",
    { args: { text: "x".repeat(JOB_ARGS_BYTES_MAX) } },
    "payload_too_large",
    /at most 262144 are taken/,
  ],
  ["a time too long", { timeoutMs: JOB_TIMEOUT_MS_MAX + 1 }, "usage", /at most/],
  ["a bad target", { target: "(peel-1" }, "bad_target", /never closed/],
  ["a bad amount", { pace: { limit: "-1" } }, "usage", /-1/],
];

Deno.test("a master refuses what a client should not have sent, stores nothing of it, and keeps a jid to its first intent", () =>
  withFleet(parseUpOptions(["--broker", "embedded", "--peels", "2"]), async (running) => {
    const io = { ...fakeIo({ clock: systemClock }), files: systemFiles };
    const fleet = await openFleet(running.contextFile, io);
    try {
      for (const [name, change, code, says] of unchecked) {
        const events = await send(fleet, { ...REQUEST, jid: freshJid(), ...change });
        const [refusal] = events;
        assert.ok(refusal?.kind === "refused" && events.length === 1, `${name}: ${refusal?.kind}`);
        assert.deepEqual([refusal.code, says.test(refusal.message)], [code, true], refusal.message);
      }
      await holdsNoJob(running);

      const jid = freshJid();
      assert.equal((await send(fleet, { ...REQUEST, jid })).at(-1)?.kind, "done");
      assert.equal((await send(fleet, { ...REQUEST, jid })).at(-1)?.kind, "done", "a repeat");
      for (const change of [{ function: "test.echo" }, { target: "peel-1" }, { args: { a: 1 } }]) {
        const [refusal] = await send(fleet, { ...REQUEST, jid, ...change });
        assert.ok(refusal?.kind === "refused" && refusal.code === "jid_conflict");
        assert.match(refusal.message, /exists already and asks for something else/);
      }
      const shown = await zester(running, "job", "list", "-o", "json");
      const jobs = JSON.parse(shown.stdout) as { jid: string; function: string }[];
      assert.deepEqual(jobs.map((job) => [job.jid, job.function]), [[jid, "test.ping"]]);
    } finally {
      await fleet.close();
    }
  }));

Deno.test("an operator whose role may do nothing is refused with exit code 7, and nothing is stored", async () => {
  const parent = await Deno.makeTempDir({ prefix: "zester-role-" });
  try {
    const data = join(parent, "fleet");
    const options = parseUpOptions(["--broker", "embedded", "--peels", "1", "--data", data]);
    await withFleet(options, () => Promise.resolve());
    const restore = await changeRole(join(data, "auth"), "viewer");
    await withFleet(options, async (fleet) => {
      for (const line of [["*", "test.ping"], ["target", "*"], ["job", "list"]]) {
        const { code, stdout, stderr } = await zester(fleet, ...line);
        assert.deepEqual([code, stdout], [7, ""], stderr);
        assert.match(stderr, /^error ZE0710: operator admin has role viewer, which may do nothing/);
      }
    });
    await restore();
    await withFleet(options, holdsNoJob);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
});

/** Signs the fleet's trust anew, with another role for its operator. Gives what undoes it. */
async function changeRole(auth: string, role: string): Promise<() => Promise<void>> {
  const file = join(auth, "trust.json");
  const before = await Deno.readTextFile(file);
  const seed = (await Deno.readTextFile(join(auth, "root.seed"))).trim();
  const root = signerFromSeed(decodeSeedNkey("operator", seed));
  const { fleet, serial, keys } = openTrust(before, root.publicKey);
  const document = JSON.parse(before) as { payload: string };
  const { keys: written } = JSON.parse(
    new TextDecoder().decode(Uint8Array.fromBase64(document.payload, { alphabet: "base64url" })),
  ) as { keys: { public_key: string }[] };
  const changed = keys.map((key, at) => ({
    purpose: key.purpose,
    publicKey: Uint8Array.fromBase64(written[at]!.public_key, { alphabet: "base64url" }),
    notBeforeMs: key.notBeforeMs,
    notAfterMs: key.notAfterMs,
    ...(key.name === undefined ? {} : { name: key.name }),
    ...(key.role === undefined ? {} : { role: key.purpose === "operator" ? role : key.role }),
  }));
  const signed = signTrust(root, { fleet, serial: serial + 1, issuedMs: 0, keys: changed });
  await Deno.writeTextFile(file, signed);
  return () => Deno.writeTextFile(file, before);
}
