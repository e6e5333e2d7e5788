/**
 * Many peels in one process, each over a connection of its own: they verify commands, ack and return with signatures, and beat,
 * as real ones do; they keep no journal and run nothing. A command without any header is of the bare job that is the floor:
 * it is answered with as many bytes, unsigned, over the same connection.
 *
 *     emulated_peels.ts URL COUNT AUTH_DIR
 *
 * Says `connected in <seconds>` when all are there; ends with its standard input.
 */
import { connect, type Msg, type NatsConnection } from "@nats-io/transport-node";
import { readTrust } from "../core/adapters/connect.ts";
import { stopSignal } from "../core/adapters/stop_signal.ts";
import { ingest, type Keyring } from "../core/ingress.ts";
import { keyringOf } from "../core/keyring.ts";
import { PEEL_HEARTBEAT_MS, STORE_TIMEOUT_MS } from "../core/limits.ts";
import { headersOf, toMessage } from "../core/nats/messages.ts";
import { type Identity, sealed } from "../core/outgoing.ts";
import { inboxPrefix, type Subject, subjects } from "../core/subjects.ts";
import { encodeAck } from "../core/wire/ack.ts";
import { decodeExecRequest } from "../core/wire/exec.ts";
import { encodePeelHeartbeat } from "../core/wire/heartbeat.ts";
import { encodeReturn } from "../core/wire/return.ts";
import { PROTOCOL_VERSION } from "../core/wire/version.ts";
import { bareAck, bareJidIn, bareReturn } from "./bare_job.ts";
import { emulatedIds, emulatedSigner, emulatedUser, GENERATION } from "./emulated_identity.ts";

/** Connections that are being made at the same time: more only make the server's handshakes wait for each other. */
const CONNECTS_AT_ONCE = 50;

interface PeelOptions {
  readonly servers: string;
  readonly keyring: Keyring;
}

/** One peel. */
class EmulatedPeel {
  readonly #id: string;
  readonly #keyring: Keyring;
  readonly #connection: NatsConnection;
  readonly #identity: Identity;
  readonly #seen = new Set<string>();

  constructor(id: string, connection: NatsConnection, { keyring }: PeelOptions) {
    this.#id = id;
    this.#connection = connection;
    this.#keyring = keyring;
    this.#identity = { signer: emulatedSigner(id), generation: GENERATION };
    connection.subscribe(subjects.command.of({ peel: id }), {
      callback: (error, message) => {
        if (error !== null) throw error;
        if (message.headers === undefined) this.#takeBare(message);
        else this.#take(message);
      },
    });
  }

  #take(message: Msg): void {
    const door = ingest(toMessage(message), {
      rule: subjects.command,
      own: { peel: this.#id },
      audience: GENERATION,
      keyring: this.#keyring,
      nowMs: Date.now(),
    });
    if (!door.ok) throw new Error(`${this.#id}: command refused: ${door.reason}: ${door.detail}`);
    const { jid, module } = decodeExecRequest(door.payload);
    if (this.#seen.has(jid)) return;
    this.#seen.add(jid);
    const about = { jid, peelId: this.#id };
    this.#say(subjects.ack, subjects.ack.of({ jid, peel: this.#id }), {
      payload: encodeAck({ ...about, timestampMs: Date.now() }),
    });
    const result = { name: module, changed: false, diff: "", durationMs: 0, details: {} };
    this.#say(subjects.return, subjects.return.of({ jid, peel: this.#id }), {
      payload: encodeReturn({
        ...about,
        success: true,
        returnData: { ...about, success: true, results: [result] },
        durationMs: 1,
        timestampMs: Date.now(),
      }),
      stored: true,
    });
  }

  #takeBare({ data }: Msg): void {
    const jid = bareJidIn(data);
    this.#connection.publish(subjects.ack.of({ jid, peel: this.#id }), bareAck());
    this.#store(subjects.return.of({ jid, peel: this.#id }), bareReturn());
  }

  #say(rule: Subject, subject: string, { payload, stored = false }: Said): void {
    const context = { domain: rule.domain ?? "", subject };
    const headers = headersOf(sealed(this.#identity, context, payload, Date.now()));
    if (stored) this.#store(subject, payload, headers);
    else this.#connection.publish(subject, payload, { ...(headers ? { headers } : {}) });
  }

  /** Asks the stream to say that it has it; a peel that hears nothing would send again, and the numbers would be void. */
  #store(subject: string, payload: Uint8Array, headers?: ReturnType<typeof headersOf>): void {
    const timeout = STORE_TIMEOUT_MS * 4;
    this.#connection.request(subject, payload, { timeout, ...(headers ? { headers } : {}) }).catch(
      (error) => console.error(`${this.#id}: return not stored: ${error}`),
    );
  }

  /** First after a random part of the interval, as peels do that did not all start at once. */
  beat(): void {
    const subject = subjects.heartbeat.of({ peel: this.#id });
    const beatNow = (): void => {
      const payload = encodePeelHeartbeat({
        timestampMs: Date.now(),
        version: "emulated",
        protocol: PROTOCOL_VERSION,
      });
      this.#say(subjects.heartbeat, subject, { payload });
    };
    beatNow();
    setTimeout(() => {
      beatNow();
      setInterval(beatNow, PEEL_HEARTBEAT_MS);
    }, Math.random() * PEEL_HEARTBEAT_MS);
  }
}

interface Said {
  readonly payload: Uint8Array;
  readonly stored?: boolean;
}

async function join(id: string, options: PeelOptions): Promise<EmulatedPeel> {
  const { user, password } = emulatedUser(id);
  const connection = await connect({
    servers: options.servers,
    user,
    pass: password,
    name: id,
    inboxPrefix: inboxPrefix("peel", id),
    timeout: 20_000,
    pingInterval: 60_000,
    noAsyncTraces: true,
  });
  const peel = new EmulatedPeel(id, connection, options);
  await connection.flush();
  return peel;
}

async function joinAll(ids: readonly string[], options: PeelOptions): Promise<EmulatedPeel[]> {
  const peels: EmulatedPeel[] = [];
  const waiting = [...ids].reverse();
  async function some(): Promise<void> {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      peels.push(await join(id, options));
    }
  }
  await Promise.all(Array.from({ length: CONNECTS_AT_ONCE }, some));
  return peels;
}

if (import.meta.main) {
  const [servers = "", count = "", auth = ""] = Deno.args;
  const trust = await readTrust(auth);
  const before = performance.now();
  const peels = await joinAll(emulatedIds(Number(count)), {
    servers,
    keyring: keyringOf(() => trust),
  });
  const seconds = (performance.now() - before) / 1_000;
  for (const peel of peels) peel.beat();
  console.log(`connected in ${seconds.toFixed(2)}`);
  await stopSignal({ withParent: true });
  Deno.exit(0);
}
