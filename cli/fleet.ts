/** An operator's way into a fleet: reads the context, connects, and sends what it is asked to under the operator's key. */
import { readParsed, readTextFile } from "../core/adapters/secret_file.ts";
import { cancelJob, dispatchAndFollow, followExisting, query } from "../core/client.ts";
import { type Context, findContext } from "../core/context.ts";
import { fromBase64Url, signerFromSeed } from "../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../core/crypto/nkey.ts";
import { ZesterError } from "../core/errors.ts";
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import { connectNats, type NatsConnection } from "../core/nats/mod.ts";
import { voiceOf } from "../core/outgoing.ts";
import { askTarget } from "../core/target/ask.ts";
import { openTrust, type Trust } from "../core/trust.ts";
import { isTerminal, type Job, newJob } from "../core/wire/job.ts";
import type { Fleet } from "./app.ts";
import type { RunRequest } from "./commands/run.ts";
import type { Io } from "./io.ts";

/** Connects to the fleet of a context. Fails at once when nobody is there. */
export async function openFleet(named: string | undefined, io: Io): Promise<Fleet> {
  const context = await findContext(io.env, io.home, io.files, named);
  const signer = await readParsed(
    context.operatorSeedFile,
    "operator seed",
    (text) => signerFromSeed(decodeSeedNkey("user", text)),
  );
  const trust = await readTrust(context);
  requireTrusted(context, signer.keyId, trust);
  const nats = await connect(context);
  const { bus } = nats;
  const { clock } = io;
  const ports = {
    operator: context.operator,
    bus,
    clock,
    voice: voiceOf({ signer, generation: FIRST_GENERATION }, bus, clock),
    keyring: keyringOf(() => trust),
  };
  return {
    run: (request, onEvent, how) =>
      dispatchAndFollow(jobOf(request, clock.now()), onEvent, ports, how),
    watch: (jid, onEvent, how) => followExisting(jid, onEvent, ports, how),
    ask: (name, asked) => query(name, asked, ports),
    resolve: (target) => askTarget(target, { ...ports, store: nats.store }),
    async cancel(given) {
      const { jid, status } = await cancelJob(given, ports);
      return { jid, status, ended: isTerminal(status) };
    },
    close: () => nats.close(),
  };
}

/** Masters would drop what this key signs without a word, so it is said here. */
function requireTrusted(
  { operator, operatorSeedFile, trustFile }: Context,
  keyId: string,
  trust: Trust,
): void {
  if (
    trust.keys.some((key) =>
      key.keyId === keyId && key.purpose === "operator" && key.name === operator
    )
  ) return;
  throw new ZesterError(
    "unknown_key",
    `the trust document does not know this key as operator ${operator}\nkey   ${operatorSeedFile}\ntrust ${trustFile}`,
    {
      fix:
        "check `operator` and `operator_seed_file` in the context, or fetch the current trust document",
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

async function connect(context: Context): Promise<NatsConnection> {
  const { servers, user, passwordFile, operator } = context;
  return await connectNats({
    servers,
    role: "operator",
    identity: operator,
    mode: "cli",
    name: `zester ${operator}`,
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
