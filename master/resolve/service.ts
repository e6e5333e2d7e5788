/** Answers operators and peels who ask who matches a target. Together with all other masters. */
import { type ErrorCode, isZesterError, toZesterError } from "../../core/errors.ts";
import { ingest, type Keyring } from "../../core/ingress.ts";
import { RESOLVE_PAGE_BYTES_MAX, RESOLVE_PAGE_PEELS_MAX } from "../../core/limits.ts";
import type { Log } from "../../core/log.ts";
import type { Metrics } from "../../core/metrics.ts";
import { encode } from "../../core/msgpack.ts";
import type { Voice } from "../../core/outgoing.ts";
import type { Bus, Clock, Message } from "../../core/ports.ts";
import type { Authorizer } from "../../core/roles.ts";
import { isInboxOf, type Subject, subjects } from "../../core/subjects.ts";
import { whyMatches } from "../../core/target/explain.ts";
import type { TargetExpr } from "../../core/target/expr.ts";
import type { PeelIndex } from "../../core/target/peel_index.ts";
import {
  decodeResolveRequest,
  encodeResolveResponse,
  type ResolveRequest,
  type ResolveResponse,
} from "../../core/wire/resolve.ts";
import { resolve, type ResolvePorts } from "./resolve.ts";

export interface ResolveServicePorts extends ResolvePorts {
  readonly bus: Bus;
  readonly clock: Clock;
  readonly voice: Voice;
  readonly keyring: Keyring;
  readonly authorizer: Authorizer;
  readonly metrics: Metrics;
  readonly log: Log;
}

type Asker = {
  readonly role: "operator" | "peel";
  readonly name: string;
  readonly granted?: string;
};

/** Starts to answer. */
export function takeResolves(ports: ResolveServicePorts): { stop(): void } {
  const subscriptions = ([
    ["operator", subjects.resolve],
    ["peel", subjects.resolveForPeel],
  ] as const).map(([role, rule]) =>
    ports.bus.subscribe(rule.filter(), (message) => handle(message, role, rule, ports), {
      queue: rule.queue!,
    })
  );
  return { stop: () => subscriptions.forEach((each) => each.unsubscribe()) };
}

function handle(
  message: Message,
  role: Asker["role"],
  rule: Subject,
  ports: ResolveServicePorts,
): void {
  const { keyring, clock, metrics, log } = ports;
  const door = ingest(message, { rule, keyring, nowMs: clock.now() });
  const reason = !door.ok
    ? door.reason
    : isInboxOf(message.reply, role, door.sender.identity)
    ? null
    : "misaddressed";
  if (!door.ok || reason !== null) {
    metrics.ingressRefused.inc({ reason: reason! });
    if (door.ok) log.warn("question refused", { reason, asker: door.sender.identity });
    else if (door.isNews) log.warn("question refused", { reason, detail: door.detail });
    return;
  }
  const { identity: name, grantedRole: granted } = door.sender;
  const asker: Asker = granted === undefined ? { role, name } : { role, name, granted };
  const response = answered(door.payload, asker, ports);
  metrics.targetResolves.inc({ result: response.code === undefined ? "answered" : "refused" });
  tell(message.reply!, response, ports);
}

function answered(
  payload: Uint8Array,
  asker: Asker,
  ports: ResolveServicePorts,
): ResolveResponse {
  try {
    return answerResolve(decodeResolveRequest(payload), asker, ports);
  } catch (thrown) {
    const { code, message, fix } = toZesterError(thrown, "resolve");
    if (!isZesterError(thrown)) ports.log.error("resolve failed", { error: thrown });
    return refusal(code, message, fix);
  }
}

/** The answer to one question. */
export function answerResolve(
  request: ResolveRequest,
  asker: Asker,
  ports: ResolvePorts & { readonly authorizer: Authorizer },
): ResolveResponse {
  if (asker.role === "operator") {
    const operator = { name: asker.name, role: asker.granted };
    const decision = ports.authorizer.decide(operator, { do: "query", query: "resolve" });
    if (!decision.allowed) return refusal("permission_denied", decision.why, decision.fix);
  }
  const resolved = resolve(request.expr, ports);
  if ("refusal" in resolved) return refused(resolved.refusal, asker);
  // What other peels say of themselves is not for peels.
  const wants = asker.role === "operator" ? request : { expr: request.expr, after: request.after };
  return page(wants, resolved);
}

/** For a peel "nobody" is an answer like any other, and the explanation would tell it the facts of others. */
function refused(
  { code, message, fix }: { code: ErrorCode; message: string; fix?: string },
  asker: Asker,
): ResolveResponse {
  if (code === "nobody_matches" && asker.role === "peel") return { peels: [], total: 0, why: [] };
  return refusal(code, message, fix);
}

function refusal(code: ErrorCode, err: string, fix?: string): ResolveResponse {
  return { peels: [], total: 0, why: [], code, err, ...(fix === undefined ? {} : { fix }) };
}

/** As many as one message holds, beginning after the last one of the page before. */
function page(
  request: ResolveRequest,
  { targets, target, index }: { targets: readonly string[]; target: TargetExpr; index: PeelIndex },
): ResolveResponse {
  const { after, wantFacts = false, wantWhy = false } = request;
  const start = after === undefined ? 0 : targets.findLastIndex((id) => id <= after) + 1;
  const peels: string[] = [];
  const facts: Record<string, unknown> = {};
  const why: ResolveResponse["why"][number][] = [];
  let bytes = 0;
  for (const id of targets.slice(start, start + RESOLVE_PAGE_PEELS_MAX)) {
    const reasons = wantWhy ? whyMatches(target, id, index) : [];
    const known = wantFacts ? index.facts(id) ?? {} : {};
    bytes += encode([id, reasons.map((each) => ({ ...each })), known]).length;
    if (peels.length > 0 && bytes > RESOLVE_PAGE_BYTES_MAX) break;
    peels.push(id);
    if (wantFacts) facts[id] = known;
    if (wantWhy) why.push({ peelId: id, reasons });
  }
  const more = start + peels.length < targets.length;
  return {
    peels,
    total: targets.length,
    why,
    ...(more ? { more } : {}),
    ...(wantFacts ? { facts } : {}),
  };
}

function tell(inbox: string, response: ResolveResponse, { voice, log }: ResolveServicePorts): void {
  try {
    voice.answer(inbox, encodeResolveResponse(response));
  } catch (thrown) {
    if (!isZesterError(thrown)) throw thrown;
    log.warn("question not answered", { error: thrown });
  }
}
