/**
 * HTTP for modules. Redirects are followed by hand: every hop must be granted, and what the module sent for one host, be it a
 * header or a body, is not handed to another.
 */
import { ZesterError } from "../../../core/errors.ts";
import {
  FETCH_BYTES_MAX,
  FETCH_REDIRECTS_MAX,
  FETCH_TIMEOUT_MS,
  JOB_TIMEOUT_MS_MAX,
} from "../../../core/limits.ts";
import { type FetchOptions, type FetchResult, netOf } from "../../../core/module/host.ts";
import { requireText, requireWhole } from "./arguments.ts";
import { CappedBytes } from "./capped_bytes.ts";

export interface WebContext {
  /** Whether `host:port` may be spoken to. */
  allow(hostPort: string): boolean;
  readonly signal: AbortSignal;
}

/** One request on its way. */
interface Hop {
  readonly url: URL;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Asks for a URL and answers with what came at the end of its redirects, whatever the status. */
export async function fetchUrl(
  url: string,
  options: FetchOptions,
  { allow, signal }: WebContext,
): Promise<FetchResult> {
  const first = hopOf(url, options);
  const timeout = new AbortController();
  const timeoutMs = options.timeoutMs ?? FETCH_TIMEOUT_MS;
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    const response = await ask(first, allow, AbortSignal.any([signal, timeout.signal]));
    return await received(response, options.bytesMax ?? FETCH_BYTES_MAX);
  } catch (thrown) {
    const doing = `${first.method} ${first.url.origin}${first.url.pathname}`;
    if (signal.aborted) throw new ZesterError("closed", `${doing}: ended from outside`);
    if (timeout.signal.aborted) {
      throw new ZesterError("timeout", `${doing}: no whole answer within ${timeoutMs} ms`);
    }
    if (thrown instanceof ZesterError) throw thrown;
    const found = thrown instanceof Error ? thrown.message : String(thrown);
    throw new ZesterError("unreachable", `${doing}: ${found}`, { cause: thrown });
  } finally {
    clearTimeout(timer);
  }
}

function hopOf(url: string, { method = "GET", headers = {}, body, ...numbers }: FetchOptions): Hop {
  requireText("an address", url);
  requireWhole("timeoutMs", numbers.timeoutMs, JOB_TIMEOUT_MS_MAX);
  requireWhole("bytesMax", numbers.bytesMax, FETCH_BYTES_MAX);
  if (!METHODS.includes(method)) {
    throw new ZesterError("bad_params", `the method must be one of ${METHODS.join(", ")}`);
  }
  if (body !== undefined && typeof body !== "string") {
    throw new ZesterError("bad_params", "the body must be text");
  }
  return { url: httpUrl(url), method, headers: headersOf(headers), body };
}

function headersOf(headers: Readonly<Record<string, string>>): Headers {
  try {
    return new Headers(headers);
  } catch (cause) {
    throw new ZesterError("bad_params", "the headers are not what headers can be", { cause });
  }
}

/** A password in an address would end up in logs; it belongs in a header. */
function httpUrl(url: string): URL {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    throw new ZesterError("bad_params", "that is no http or https address");
  }
  if (parsed.username === "" && parsed.password === "") return parsed;
  throw new ZesterError("bad_params", "an address must not hold a user or password", {
    fix: "give an authorization header",
  });
}

// ---- redirects -----------------------------------------------------------------------------------------------

async function ask(
  first: Hop,
  allow: WebContext["allow"],
  signal: AbortSignal,
): Promise<Response> {
  let hop = first;
  for (let redirects = 0; redirects <= FETCH_REDIRECTS_MAX; redirects += 1) {
    requireGranted(hop, allow);
    const { url, method, headers, body } = hop;
    const response = await fetch(url, {
      method,
      headers,
      redirect: "manual",
      signal,
      ...(body === undefined ? {} : { body }),
    });
    const location = response.headers.get("location");
    if (!isRedirect(response.status) || location === null) return response;
    await response.body?.cancel();
    hop = nextHop(hop, response.status, location);
  }
  throw new ZesterError(
    "io_failed",
    `${first.url.host}: more than ${FETCH_REDIRECTS_MAX} redirects`,
  );
}

function requireGranted({ url }: Hop, allow: WebContext["allow"]): void {
  const hostPort = netOf(url.href);
  if (allow(hostPort)) return;
  throw new ZesterError("grant_denied", `speaking to ${hostPort} was not granted`);
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status);
}

/** Headers that are about the answer wanted, and tell nothing of who asks for it. */
const HARMLESS_HEADERS = /^(accept(-\w+)*|if-(none-match|modified-since)|range|user-agent)$/;

/** The request that a redirect asks for. */
function nextHop({ url: from, method, headers, body }: Hop, status: number, location: string): Hop {
  const target = URL.parse(location, from)?.href;
  if (target === undefined) throw new ZesterError("io_failed", `${from.host}: redirect to nowhere`);
  const url = httpUrl(target);
  const isSame = url.origin === from.origin;
  const kept = new Headers([...headers].filter(([name]) => isSame || HARMLESS_HEADERS.test(name)));
  const turnsToGet = status === 303 || (status <= 302 && method === "POST");
  if (turnsToGet) {
    for (const name of [...kept.keys()]) if (name.startsWith("content-")) kept.delete(name);
    return { url, method: method === "HEAD" ? "HEAD" : "GET", headers: kept, body: undefined };
  }
  if (body === undefined || isSame) return { url, method, headers: kept, body };
  throw new ZesterError(
    "io_failed",
    `${from.host}: a redirect would send the content of the request to ${url.host}`,
  );
}

// ---- the answer ----------------------------------------------------------------------------------------------

/** Counts what comes: an answer may be longer than it says, and a packed one grows when it is unpacked. */
async function received(response: Response, bytesMax: number): Promise<FetchResult> {
  const body = new CappedBytes(bytesMax);
  for await (const piece of response.body ?? []) {
    body.add(piece);
    if (body.dropped > 0) {
      throw new ZesterError("io_failed", `the answer is larger than ${bytesMax} bytes`);
    }
  }
  const { status, headers } = response;
  return { status, headers: Object.fromEntries(headers), body: body.bytes() };
}
