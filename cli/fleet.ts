/** An operator's way into a fleet: reads the context, connects, and sends what it is asked to under the operator's key. */
import { readTextFile } from "../core/adapters/secret_file.ts";
import { dispatchAndFollow } from "../core/client.ts";
import { type Context, findContext } from "../core/context.ts";
import { fromBase64Url, signerFromSeed } from "../core/crypto/ed25519.ts";
import { decodeSeedNkey } from "../core/crypto/nkey.ts";
import { ZesterError } from "../core/errors.ts";
import { newJid } from "../core/ids.ts";
import { FIRST_GENERATION, keyringOf } from "../core/keyring.ts";
import { connectNats, type NatsConnection } from "../core/nats/mod.ts";
import { voiceOf } from "../core/outgoing.ts";
import { openTrust, type Trust } from "../core/trust.ts";
import { type Job, newJob } from "../core/wire/job.ts";
import type { Fleet } from "./app.ts";
import type { RunRequest } from "./commands/run.ts";
import type { Io } from "./io.ts";

/** Connects to the fleet of a context. Fails at once when nobody is there. */
export async function openFleet(named: string | undefined, io: Io): Promise<Fleet> {
  const context = await findContext(io.env, io.home, io.files, named);
  const signer = signerFromSeed(
    decodeSeedNkey("user", await readTextFile(context.operatorSeedFile)),
  );
  const trust = await readTrust(context);
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
    follow: (request, onEvent) => dispatchAndFollow(jobOf(request, io), onEvent, ports),
    close: () => nats.close(),
  };
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
  return openTrust(await readTextFile(trustFile), root);
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
    ...(passwordFile === null ? {} : { password: await readTextFile(passwordFile) }),
  });
}

/** Targets are left to the masters: who matches is theirs to say. */
function jobOf(request: RunRequest, { clock, random }: Pick<Io, "clock" | "random">): Job {
  const nowMs = clock.now();
  return newJob({
    jid: newJid(nowMs, random),
    function: request.function,
    args: request.args,
    targetExpr: request.target,
    timeoutMs: request.timeoutMs,
    ...(request.id === null ? {} : { stateId: request.id }),
  }, nowMs);
}
