/** The bus port over a NATS connection. */
import { ZesterError } from "../errors.ts";
import type { Bus } from "../ports.ts";
import type { Link } from "./link.ts";
import { LiveMessage } from "./live_message.ts";

/** A bus on this connection. */
export function natsBus(link: Link): Bus {
  return {
    publish(subject, data, options = {}) {
      checkSubject(subject, "exact");
      if (options.reply !== undefined) checkSubject(options.reply, "exact");
      link.publish(subject, data, options);
    },
    subscribe(subject, handler, options = {}) {
      checkSubject(subject, "filter");
      if (options.queue !== undefined) checkSubject(options.queue, "exact");
      const stop = link.subscribe(subject, (each) => handler(new LiveMessage(each)), options.queue);
      return { unsubscribe: stop };
    },
    async request(subject, data, options) {
      checkSubject(subject, "exact");
      return await link.request(subject, data, options);
    },
    flush: (timeoutMs) => link.flush(timeoutMs),
    inbox: () => link.inbox(),
    get connected() {
      return link.connected;
    },
  };
}

/** Refuses what could mean something else on the wire than it says: blanks, empty tokens, stray wildcards. */
export function checkSubject(subject: string, kind: "exact" | "filter"): void {
  const tokens = subject.split(".");
  const isValid = tokens.every((token, at) =>
    // deno-lint-ignore no-control-regex -- control characters are what this refuses
    token !== "" && !/[\s\x00-\x1f\x7f]/.test(token) &&
    isWildcardAllowed(token, kind, at === tokens.length - 1)
  );
  if (isValid) return;
  throw new ZesterError(
    "bad_subject",
    `${JSON.stringify(subject.slice(0, 200))} is not ${
      kind === "exact" ? "an exact" : "a"
    } subject`,
  );
}

function isWildcardAllowed(token: string, kind: "exact" | "filter", isLast: boolean): boolean {
  if (!/[*>]/.test(token)) return true;
  return kind === "filter" && (token === "*" || (token === ">" && isLast));
}
