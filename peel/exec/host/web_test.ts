import assert from "node:assert/strict";
import { isZesterError } from "../../../core/errors.ts";
import { FETCH_REDIRECTS_MAX } from "../../../core/limits.ts";
import type { FetchOptions, FetchResult } from "../../../core/module/host.ts";
import { fetchUrl } from "./web.ts";

interface Site extends AsyncDisposable {
  readonly origin: string;
  readonly hostPort: string;
  readonly seen: { method: string; url: string; headers: Headers; body: string }[];
}

type Answers = (request: Request) => Response | Promise<Response>;

function serve(answers: Answers, hostname = "127.0.0.1"): Site {
  const seen: Site["seen"] = [];
  const server = Deno.serve({ hostname, port: 0, onListen() {} }, async (request) => {
    const { method, url, headers } = request;
    seen.push({ method, url: new URL(url).pathname, headers, body: await request.text() });
    return await answers(request);
  });
  const hostPort = `${hostname}:${server.addr.port}`;
  return {
    origin: `http://${hostPort}`,
    hostPort,
    seen,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function redirect(location: string, status = 302): Response {
  return new Response("moved", { status, headers: { location } });
}

function ask(
  url: string,
  options: FetchOptions = {},
  { allow = () => true, signal = new AbortController().signal }: {
    allow?: (hostPort: string) => boolean;
    signal?: AbortSignal;
  } = {},
): Promise<FetchResult> {
  return fetchUrl(url, options, { allow, signal });
}

async function refused(pending: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(pending, (thrown) => {
    assert.ok(isZesterError(thrown), String(thrown));
    assert.equal(thrown.code, code, thrown.message);
    assert.match(thrown.message, message);
    return true;
  });
}

Deno.test("fetchUrl() sends what it is given and gives what comes, whatever the status", async () => {
  await using site = serve(() =>
    new Response("no tea", { status: 418, headers: { "X-Kind": "pot" } })
  );
  const headers = { Authorization: "secret" };
  const result = await ask(`${site.origin}/tea`, { method: "POST", headers, body: "brew" });
  assert.deepEqual([result.status, new TextDecoder().decode(result.body)], [418, "no tea"]);
  assert.equal(result.headers["x-kind"], "pot");
  const [request] = site.seen;
  assert.deepEqual(
    [request?.method, request?.url, request?.body, request?.headers.get("authorization")],
    ["POST", "/tea", "brew", "secret"],
  );
});

Deno.test("fetchUrl() speaks to no host that is not granted, on any hop", async () => {
  await using other = serve(() => new Response("secret"));
  await using site = serve(() => redirect(`${other.origin}/x`));
  const allow = (hostPort: string) => hostPort === site.hostPort;
  await refused(ask(`${other.origin}/`, {}, { allow }), "grant_denied", /was not granted/);
  await refused(ask(`${site.origin}/`, {}, { allow }), "grant_denied", /was not granted/);
  assert.deepEqual([site.seen.length, other.seen.length], [1, 0]);
});

Deno.test("fetchUrl() follows redirects, and takes nothing personal to another host", async () => {
  await using other = serve(() => new Response("there"));
  await using site = serve((request) =>
    request.url.endsWith("/near") ? redirect(`${other.origin}/far`) : redirect("near")
  );
  const headers = { authorization: "a", cookie: "b", "x-api-key": "c", accept: "text/x" };
  const { body } = await ask(`${site.origin}/start`, { headers });
  assert.equal(new TextDecoder().decode(body), "there");
  assert.equal(site.seen[1]?.headers.get("x-api-key"), "c");
  const far = other.seen[0]!.headers;
  assert.deepEqual(
    ["authorization", "cookie", "x-api-key", "accept"].map((name) => far.get(name)),
    [
      null,
      null,
      null,
      "text/x",
    ],
  );
});

const methodCases: [status: number, method: string, want: string, body: string][] = [
  [301, "POST", "GET", ""],
  [302, "POST", "GET", ""],
  [303, "PUT", "GET", ""],
  [307, "POST", "POST", "content"],
  [308, "PUT", "PUT", "content"],
];
for (const [status, method, want, body] of methodCases) {
  Deno.test(`fetchUrl() turns ${method} into ${want} on ${status}`, async () => {
    await using site = serve((request) =>
      request.url.endsWith("/end") ? new Response() : redirect("/end", status)
    );
    await ask(`${site.origin}/`, { method, body: "content" });
    assert.deepEqual([site.seen[1]?.method, site.seen[1]?.body], [want, body]);
  });
}

Deno.test("fetchUrl() does not send content on to another host", async () => {
  await using other = serve(() => new Response());
  await using site = serve(() => redirect(other.origin, 307));
  const posting = ask(site.origin, { method: "POST", body: "password" });
  await refused(posting, "io_failed", /would send the content/);
  assert.equal(other.seen.length, 0);
});

Deno.test("fetchUrl() gives up on redirects without end, and on those to other schemes", async () => {
  await using site = serve((request) =>
    redirect(request.url.endsWith("/file") ? "file:///etc/passwd" : "/again")
  );
  await refused(ask(`${site.origin}/`), "io_failed", /redirects/);
  assert.equal(site.seen.length, FETCH_REDIRECTS_MAX + 1);
  await refused(ask(`${site.origin}/file`), "bad_params", /no http or https/);
});

Deno.test("fetchUrl() refuses an answer above its cap, even one without a length", async () => {
  await using site = serve(() =>
    new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(1_000)),
      }),
    )
  );
  await refused(ask(site.origin, { bytesMax: 5_000 }), "io_failed", /larger than 5000/);
});

Deno.test("fetchUrl() stops when its time is up, and when nobody wants it any more", async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  await using site = serve(() => promise);
  await refused(ask(site.origin, { timeoutMs: 50 }), "timeout", /within 50 ms/);
  const ended = new AbortController();
  const asking = ask(site.origin, {}, { signal: ended.signal });
  ended.abort();
  await refused(asking, "closed", /ended from outside/);
  resolve(new Response());
});

Deno.test("fetchUrl() says that nobody is there", async () => {
  const gone = serve(() => new Response());
  await gone[Symbol.asyncDispose]();
  await refused(ask(gone.origin), "unreachable", /GET http:/);
});

const badCases: [name: string, url: string, options: FetchOptions][] = [
  ["a file", "file:///etc/passwd", {}],
  ["data", "data:text/plain,x", {}],
  ["a password in the address", "http://user:secret@127.0.0.1/", {}],
  ["no address", "nonsense", {}],
  ["a method of proxies", "http://127.0.0.1/", { method: "CONNECT" }],
  ["a header with a line break", "http://127.0.0.1/", { headers: { a: "b\r\nc: d" } }],
  ["a cap above ours", "http://127.0.0.1/", { bytesMax: 2 ** 40 }],
];
for (const [name, url, options] of badCases) {
  Deno.test(`fetchUrl() refuses ${name}`, async () => {
    await refused(ask(url, options), "bad_params", /^(?!.*secret)/);
  });
}
