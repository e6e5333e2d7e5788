/** An operator's question who matches a target: asked of the masters, or without any of them looked up as far as possible. */
import { type ClientPorts, refusalError } from "../client.ts";
import { isZesterError, ZesterError } from "../errors.ts";
import { ingest, replyRule } from "../ingress.ts";
import { REQUEST_TIMEOUT_MS } from "../limits.ts";
import { subjects } from "../subjects.ts";
import {
  decodeResolveResponse,
  encodeResolveRequest,
  type ResolveRequest,
  type ResolveResponse,
} from "../wire/resolve.ts";
import type { LookUpPorts } from "./look_up.ts";

/** One peel that matches, and the terms that made it match. */
export interface Matched {
  readonly peelId: string;
  readonly reasons: readonly { readonly term: string; readonly found?: string | undefined }[];
}

export interface Resolution {
  /** Sorted. */
  readonly peels: readonly Matched[];
  /** What the operator should know about the answer. */
  readonly warning?: string;
}

/** Who matches, and why. Throws what the masters refuse with; when none of them answers, the store is asked instead. */
export async function askTarget(
  text: string,
  ports: ClientPorts & LookUpPorts,
): Promise<Resolution> {
  try {
    return { peels: await askMasters(text, ports) };
  } catch (thrown) {
    if (!isZesterError(thrown, "no_responders") && !isZesterError(thrown, "timeout")) throw thrown;
    const { lookUpTarget } = await import("./look_up.ts");
    return await lookUpTarget(text, ports);
  }
}

async function askMasters(text: string, ports: ClientPorts): Promise<Matched[]> {
  const peels: Matched[] = [];
  let after: string | undefined;
  while (true) {
    const page = await askPage({ expr: text, wantWhy: true, after }, ports);
    const why = new Map(page.why.map(({ peelId, reasons }) => [peelId, reasons]));
    peels.push(...page.peels.map((peelId) => ({ peelId, reasons: why.get(peelId) ?? [] })));
    const last = page.peels.at(-1);
    if (page.more !== true) return peels;
    if (last === undefined || (after !== undefined && last <= after)) {
      throw new ZesterError(
        "internal",
        `target: the masters' answer does not go on after ${after}`,
      );
    }
    after = last;
  }
}

async function askPage(request: ResolveRequest, ports: ClientPorts): Promise<ResolveResponse> {
  const { bus, clock, voice, keyring, operator } = ports;
  const subject = subjects.resolve.of({ operator });
  const payload = encodeResolveRequest(request);
  const reply = await bus.request(subject, payload, {
    headers: voice.headers(subjects.resolve, subject, payload),
    timeoutMs: REQUEST_TIMEOUT_MS,
  });
  const door = ingest(reply, { rule: replyRule(reply.subject), keyring, nowMs: clock.now() });
  if (!door.ok) throw new ZesterError(door.reason, `answer refused: ${door.detail}`);
  const response = decodeResolveResponse(door.payload);
  if (response.code === undefined) return response;
  throw refusalError({ code: response.code, message: response.err ?? "", fix: response.fix });
}
