import assert from "node:assert/strict";
import { join } from "node:path";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";

const MAIN = new URL("./main.ts", import.meta.url).pathname;
const LOGIN = { user: "admin", pass: "right" };

interface Program {
  child: Deno.ChildProcess;
  url: string;
}

async function inFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function writeConfig(folder: string, change: Record<string, unknown> = {}): Promise<string> {
  const path = join(folder, "broker.json");
  const users = [{ user: "admin", password: "right" }];
  const config = { listen: "127.0.0.1:0", store: join(folder, "store"), users, ...change };
  await Deno.writeTextFile(path, JSON.stringify(config));
  return path;
}

function command(args: readonly string[]): Deno.Command {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-net", "--allow-read", "--allow-write", MAIN, ...args],
    stdout: "piped",
    stderr: "piped",
  });
}

/** Starts the program and waits for its first line. */
async function start(config: string): Promise<Program> {
  const child = command(["--config", config]).spawn();
  let line = "";
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  while (!line.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the program ended: ${await new Response(child.stderr).text()}`);
    line += value;
  }
  await reader.cancel();
  return { child, url: JSON.parse(line).listening };
}

async function stop({ child }: Program, signal: Deno.Signal): Promise<number> {
  child.kill(signal);
  await child.stderr.cancel();
  return (await child.status).code;
}

async function withClient<T>(url: string, run: (client: NatsConnection) => Promise<T>): Promise<T> {
  const client = await connect({ servers: url, reconnect: false, ...LOGIN });
  try {
    return await run(client);
  } finally {
    await client.close();
  }
}

Deno.test("main() serves until SIGTERM, then exits with 0, and keeps what it was given", async () => {
  await inFolder(async (folder) => {
    const config = await writeConfig(folder);
    const first = await start(config);
    assert.match(first.url, /^nats:\/\/127\.0\.0\.1:\d+$/);
    await withClient(first.url, async (client) => {
      await (await jetstreamManager(client)).streams.add({ name: "s", subjects: ["s"] });
      await jetstream(client).publish("s", "kept");
    });
    assert.equal(await stop(first, "SIGTERM"), 0);
    const second = await start(config);
    const kept = await withClient(second.url, async (client) => {
      const jsm = await jetstreamManager(client);
      return (await jsm.streams.getMessage("s", { seq: 1 }))?.string();
    });
    assert.equal(kept, "kept");
    assert.equal(await stop(second, "SIGINT"), 0);
  });
});

Deno.test("main() loses no acknowledged message to kill -9 in the middle of writing", async () => {
  await inFolder(async (folder) => {
    const config = await writeConfig(folder);
    const first = await start(config);
    let acknowledged = 0;
    await withClient(first.url, async (client) => {
      await (await jetstreamManager(client)).streams.add({ name: "s", subjects: ["s"] });
      const js = jetstream(client);
      const publishing = Array.from({ length: 2_000 }, async () => {
        await js.publish("s", new Uint8Array(200), { timeout: 5_000 });
        if (++acknowledged === 500) first.child.kill("SIGKILL");
      });
      await Promise.allSettled(publishing);
    });
    await stop(first, "SIGKILL").catch(() => {});
    const second = await start(config);
    const stored = await withClient(second.url, async (client) => {
      return (await (await jetstreamManager(client)).streams.info("s")).state.messages;
    });
    assert.ok(acknowledged >= 500);
    assert.ok(stored >= acknowledged, `${stored} stored, ${acknowledged} acknowledged`);
    await stop(second, "SIGTERM");
  });
});

async function failure(args: readonly string[]): Promise<{ code: number; stderr: string }> {
  const { code, stderr } = await command(args).output();
  return { code, stderr: new TextDecoder().decode(stderr) };
}

Deno.test("main() says in one line why it cannot start, and exits with 2", async () => {
  await inFolder(async (folder) => {
    const taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    try {
      const rows: [args: string[], says: RegExp][] = [
        [[], /usage: main\.ts --config FILE/],
        [["--config", join(folder, "missing.json")], /no such file/],
        [["--config", await writeConfig(folder, { users: 5 })], /users/],
      ];
      for (const [args, says] of rows) {
        const { code, stderr } = await failure(args);
        assert.equal(code, 2);
        assert.match(stderr, says);
        assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
      }
      const listen = `127.0.0.1:${taken.addr.port}`;
      const { code, stderr } = await failure(["--config", await writeConfig(folder, { listen })]);
      assert.equal(code, 2);
      assert.match(stderr, /listening on 127\.0\.0\.1:\d+: .*in use/);
      assert.equal(stderr.trimEnd().split("\n").length, 1, stderr);
    } finally {
      taken.close();
    }
  });
});
