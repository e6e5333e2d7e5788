/**
 * Decides whether a command that an operator sent past the masters is taken, and where its answer may go. Nobody but the peel
 * checks it: so the operator needs a role of its own, and hears the answer in its own inbox or not at all.
 */
import type { Sender } from "../../core/ingress.ts";
import type { Authorizer } from "../../core/roles.ts";
import { isInboxOf } from "../../core/subjects.ts";

/** A request as far as this decision looks at it. */
export interface Addressed {
  readonly sender: Pick<Sender, "role" | "identity" | "grantedRole">;
  readonly reply: string | undefined;
  readonly function: string;
  readonly peelId: string;
}

export type DirectDecision =
  | { kind: "job" }
  | { kind: "direct"; operator: string; inbox: string }
  | {
    kind: "refused";
    reason: "misaddressed" | "permission_denied";
    why: string;
    /** Where the operator is told so, if it may be told. */
    inbox?: string;
  };

/** What kind of command this is. */
export function planDirect(request: Addressed, authorizer: Authorizer): DirectDecision {
  const { sender, reply } = request;
  if (sender.role !== "direct") {
    // The reply subject is not signed: on a master's request somebody else put it there.
    return reply === undefined
      ? { kind: "job" }
      : { kind: "refused", reason: "misaddressed", why: "a job with a reply subject" };
  }
  const { identity: name, grantedRole: role } = sender;
  if (!isInboxOf(reply, "direct", name)) {
    const why = `a direct command of ${name} without a reply subject in its inbox`;
    return { kind: "refused", reason: "misaddressed", why };
  }
  const deed = { function: request.function, targets: [request.peelId] };
  const decision = authorizer.decide({ name, role }, deed);
  if (decision.allowed) return { kind: "direct", operator: name, inbox: reply };
  return { kind: "refused", reason: "permission_denied", why: decision.why, inbox: reply };
}
