/** An operator's way into a fleet: reads the context, connects, and sends what it is asked to under the operator's key. */
import { readParsed, readTextFile } from "../core/adapters/secret_file.ts";
import { cancelJob, dispatchAndFollow, followExisting, query } from "../core/client.ts";
import { type Context, findContext } from "../core/context.ts";
import { fromBase64Url, signerFromSeed } from "../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../core/crypto/nkey.ts";
import { isZesterError, ZesterError } from "../core/errors.ts";
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import { connectNats, enrolledPeels, type NatsConnection } from "../core/nats/mod.ts";
import { voiceOf } from "../core/outgoing.ts";
import type { Signer } from "../core/ports.ts";
import { askTarget } from "../core/target/ask.ts";
import { openTrust, type Trust } from "../core/trust.ts";
import { isTerminal, type Job, newJob } from "../core/wire/job.ts";
import type { Fleet } from "./app.ts";
import type { RunRequest } from "./commands/run.ts";
import type { Io } from "./io.ts";

/** Connects to the fleet of a context. Fails at once when nobody is there. */
export async function openFleet(named: string | undefined, io: Io): Promise<Fleet> {
  const context = await findContext(io.env, io.home, io.files, named);
  const { operator, user, passwordFile, operatorSeedFile: seedFile } = context;
  const login = { role: "operator", user, passwordFile, seedFile } as const;
  const { signer, trust, nats, lost } = await enter(context, login);
  const { bus, store } = nats;
  const { clock } = io;
  const ports = {
    operator,
    bus,
    clock,
    voice: voiceOf({ signer, generation: FIRST_GENERATION }, bus, clock),
    keyring: keyringOf(() => trust),
    lost,
  };
  return {
    run: (request, onEvent, how) =>
      dispatchAndFollow(jobOf(request, clock.now()), onEvent, ports, how)
        .catch((thrown) => Promise.reject(withDirectHint(thrown, context))),
    watch: (jid, onEvent, how) => followExisting(jid, onEvent, ports, how),
    ask: (name, asked) => query(name, asked, ports),
    resolve: (target) =>
      askTarget(target, { ...ports, store, listPeels: () => enrolledPeels(bus) }),
    async cancel(given) {
      const { jid, status } = await cancelJob(given, ports);
      return { jid, status, ended: isTerminal(status) };
    },
    close: () => nats.close(),
  };
}

/** Whoever may go around the masters is reminded of it when none of them answers. */
function withDirectHint(thrown: unknown, { direct }: Context): unknown {
  if (direct === null || !isZesterError(thrown, "no_responders")) return thrown;
  const fix = `${thrown.fix}\nor command the peels without one: zester --direct …`;
  return new ZesterError(thrown.code, thrown.message, { cause: thrown.cause, fix });
}

/** One of the two ways in which an operator is known: to the masters, or to peels for direct mode. */
export interface Login {
  readonly role: "operator" | "direct";
  readonly user: string | null;
  readonly passwordFile: string | null;
  readonly seedFile: string;
}

export interface Entered {
  readonly signer: Signer;
  readonly trust: Trust;
  readonly nats: NatsConnection;
  /** Aborted when the connection is gone. */
  readonly lost: AbortSignal;
}

/** Reads the keys and connects. */
export async function enter(context: Context, login: Login): Promise<Entered> {
  const signer = await readParsed(
    login.seedFile,
    `${login.role} seed`,
    (text) => signerFromSeed(decodeSeedNkey("user", text)),
  );
  const trust = await readTrust(context);
  requireTrusted(context, login, signer.keyId, trust);
  const lost = new AbortController();
  const nats = await connect(context, login, () => lost.abort());
  return { signer, trust, nats, lost: lost.signal };
}

/** Whoever gets what this key signs would drop it without a word, so it is said here. */
function requireTrusted(
  { operator, trustFile }: Context,
  { role, seedFile }: Login,
  keyId: string,
  trust: Trust,
): void {
  const isTrusted = trust.keys.some((key) =>
    key.keyId === keyId && key.purpose === role && key.name === operator
  );
  if (isTrusted) return;
  const seedKey = role === "operator" ? "operator_seed_file" : "direct.seed_file";
  throw new ZesterError(
    "unknown_key",
    `the trust document does not know this key as ${role} ${operator}\nkey     ${seedFile}\ntrust   ${trustFile}`,
    {
      fix:
        `check \`operator\` and \`${seedKey}\` in the context, or fetch the current trust document`,
    },
  );
}

async function readTrust({ path, trustFile, trustRoot }: Context): Promise<Trust> {
  if (trustFile === null || trustRoot === null) {
    const fix = "add `trust_file` and `trust_root`: without them no answer could be believed";
    throw new ZesterError("config_invalid", `context: ${path}: trust_file is missing`, { fix });
  }
  const root = fromBase64Url(trustRoot);
  if (root === null) {
    throw new ZesterError("config_invalid", `context: ${path}: trust_root is not a public key`);
  }
  return await readParsed(trustFile, "trust document", (text) => openTrust(text, root));
}

async function connect(
  { servers, operator }: Context,
  { role, user, passwordFile }: Login,
  onLost: () => void,
): Promise<NatsConnection> {
  return await connectNats({
    servers,
    role,
    identity: operator,
    mode: "cli",
    name: `zester ${operator}`,
    onStatus: ({ kind }) => void (kind === "closed" && onLost()),
    ...(user === null ? {} : { user }),
    ...(passwordFile === null ? {} : { password: await readTextFile(passwordFile, "password") }),
  });
}

/** Targets are left to the masters: who matches is theirs to say. */
function jobOf(request: RunRequest, nowMs: number): Job {
  const { jid, function: name, args, target, timeoutMs, id, pace } = request;
  const asked = { jid, function: name, args, targetExpr: target, timeoutMs, ...pace };
  return newJob({ ...asked, ...(id === null ? {} : { stateId: id }) }, nowMs);
}
