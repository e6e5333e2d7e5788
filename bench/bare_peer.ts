/**
 * The least that a ping can cost: a process that answers, and one that asks and prints, with the client alone.
 *
 *     bare_peer.ts answer URL           answers until it is stopped
 *     bare_peer.ts ask URL COUNT        asks once, waits for COUNT answers, prints how many came
 */
import { connect } from "@nats-io/transport-node";
import { LOGIN } from "./broker_process.ts";

const SUBJECT = "bench.ping";
const ANSWERS = "bench.answers";

async function answer(servers: string): Promise<void> {
  const connection = await connect({ servers, user: LOGIN.user, pass: LOGIN.password });
  connection.subscribe(SUBJECT, { callback: (_error, message) => void message.respond() });
  await connection.flush();
  console.log("answering");
  await connection.closed();
}

async function ask(servers: string, count: number): Promise<void> {
  const connection = await connect({ servers, user: LOGIN.user, pass: LOGIN.password });
  const { promise: all, resolve } = Promise.withResolvers<void>();
  let left = count;
  connection.subscribe(ANSWERS, { callback: () => --left === 0 ? resolve() : undefined });
  connection.publish(SUBJECT, undefined, { reply: ANSWERS });
  await all;
  console.log(`${count} answers`);
  await connection.close();
}

if (import.meta.main) {
  const [mode, url = "", count = "1"] = Deno.args;
  await (mode === "answer" ? answer(url) : ask(url, Number(count)));
}
