/**
 * Direct mode: the peels are asked one by one, without a master, under a login and a key of its own. No job is stored; each peel
 * journals what it did and leaves an audit event.
 */
import { type Context, findContext } from "../core/context.ts";
import { type DirectOutcome, type DirectPorts, runDirectOn } from "../core/direct.ts";
import { isZesterError, ZesterError } from "../core/errors.ts";
import { FIRST_GENERATION } from "../core/keyring.ts";
import { enrolledPeels } from "../core/nats/mod.ts";
import { voiceOf } from "../core/outgoing.ts";
import { lookUpPeels, type LookUpPorts } from "../core/target/look_up.ts";
import type { DirectFleet } from "./app.ts";
import type { FollowControl } from "./commands/follow_run.ts";
import type { RunRequest } from "./commands/run.ts";
import { enter, type Login } from "./fleet.ts";
import type { Io } from "./io.ts";
import type { RunEvent, RunReturn } from "./render/run_model.ts";

/** Connects as whoever may command peels. Fails at once when the context has no such right, or nobody is there. */
export async function openDirect(named: string | undefined, io: Io): Promise<DirectFleet> {
  const context = await findContext(io.env, io.home, io.files, named);
  const login = loginOf(context);
  const { signer, trust, nats } = await enter(context, login);
  const { bus, store } = nats;
  const { clock } = io;
  const voice = voiceOf({ signer, generation: FIRST_GENERATION }, bus, clock);
  const ports = { bus, clock, voice, trust, store, listPeels: () => enrolledPeels(bus) };
  return {
    run: (request, onEvent, control) =>
      runAsDirect(request, onEvent, { ...ports, operator: context.operator }, control)
        .catch((thrown) => Promise.reject(explained(thrown, login))),
    close: () => nats.close(),
  };
}

function loginOf({ direct, path }: Context): Login {
  if (direct !== null) return { role: "direct", ...direct };
  throw new ZesterError("permission_denied", `this context has no direct mode\ncontext ${path}`, {
    fix: "leave --direct out to go through a master\n" +
      "or have the role given to you: a login and a key, named by `direct` in the context",
  });
}

/** What a broker refuses is a subject, which tells an operator little. */
function explained(thrown: unknown, { user }: Login): unknown {
  if (!isZesterError(thrown, "permission_denied")) return thrown;
  const message = `the broker does not let user ${user ?? "(none)"} command peels`;
  return new ZesterError(thrown.code, message, {
    cause: thrown,
    fix: "check `direct.user` and `direct.password_file` in the context",
  });
}

export interface DirectRunPorts extends DirectPorts, LookUpPorts {
  readonly operator: string;
}

/** Finds the peels in the store, commands them, and reports as a master would. */
export async function runAsDirect(
  { jid, target, function: module, id, args, timeoutMs }: RunRequest,
  onEvent: (event: RunEvent) => void,
  ports: DirectRunPorts,
  control: Partial<Pick<FollowControl, "signal">> = {},
): Promise<void> {
  const { peels, records } = await lookUpPeels(target, ports);
  const targets = peels.map(({ peelId }) => peelId);
  onEvent({ kind: "accepted", jid, targets, master: null, user: ports.operator });
  const request = { jid, module, id: id ?? "", args, epoch: 0n, timeoutMs };
  await runDirectOn(targets.map((peelId) => records.get(peelId)!), request, ports, {
    timeoutMs,
    signal: control.signal,
    onOutcome: (outcome) => onEvent({ kind: "returns", returns: [returnOf(outcome)] }),
  });
  onEvent({ kind: "done", status: "complete", missing: [] });
}

function returnOf(outcome: DirectOutcome): RunReturn {
  const { peelId, durationMs } = outcome;
  if ("silent" in outcome) {
    return { peelId, durationMs, success: false, unreachable: true, error: outcome.silent };
  }
  const { success, error, results, test } = outcome.response;
  return { peelId, durationMs, success, error, returnData: { results, test } };
}
