/** `http.query`: asks a web server from the peel. */
import { HTTP_BODY_BYTES_MAX } from "../../core/limits.ts";
import {
  checked,
  defaulted,
  defineFunction,
  line,
  netOf,
  number,
  oneOf,
  optional,
  primary,
  sensitive,
  text,
  textList,
  textMap,
  textOf,
} from "../../core/module.ts";

const METHODS = ["get", "head", "post", "put", "patch", "delete", "options"] as const;
const MS_PER_SECOND = 1_000;

export default defineFunction({
  name: "http.query",
  summary: "Sends an HTTP request from the peel and answers with status, headers and body.",
  description:
    "Only the host and port of the address are granted: a redirect elsewhere is refused.",
  params: {
    url: primary(checked(line("An http or https address."), wrongUrl)),
    method: defaulted(oneOf(METHODS, "Which method."), "get"),
    headers: optional(sensitive(textMap("Headers to send; never shown."))),
    data: optional(sensitive(text("Body to send; never shown."))),
    timeout: defaulted(number("Seconds to wait."), 30),
    status: optional(textList("Status codes that mean success."), "any"),
  },
  isReadOnly: false,
  permissions: ({ url }) => ({ net: [netOf(url)] }),
  async run(p, host) {
    const { status, headers, body } = await host.fetch(p.url, {
      method: p.method.toUpperCase(),
      timeoutMs: p.timeout * MS_PER_SECOND,
      bytesMax: HTTP_BODY_BYTES_MAX,
      ...(p.headers === undefined ? {} : { headers: p.headers }),
      ...(p.data === undefined ? {} : { body: p.data }),
    });
    if (p.status !== undefined && !p.status.includes(String(status))) {
      throw new Error(`${p.url}: status ${status}, wanted ${p.status.join(" or ")}`);
    }
    return { status, headers, body: textOf(body) ?? `${body.length} bytes that are no text` };
  },
  examples: [{
    title: "Does the site answer",
    code: "zester 'web*' http.query http://localhost/healthz status=200",
  }],
  differences: ["It counts as changing something, since a request may."],
});

function wrongUrl(url: string): string | null {
  try {
    netOf(url);
    return null;
  } catch {
    return "an http or https address is wanted";
  }
}
