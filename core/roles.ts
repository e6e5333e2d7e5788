/**
 * What operators may do. One role is built in; roles from the fleet's configuration go behind the same interface.
 * The check is made by a master, on the targets that it resolved itself.
 */
import { ZesterError } from "./errors.ts";

/** What an operator wants: to run a function on peels, to end a job that does, or to know something. */
export type Deed =
  | { readonly do?: "run"; readonly function: string; readonly targets: readonly string[] }
  | { readonly do: "cancel"; readonly function: string; readonly targets: readonly string[] }
  | { readonly do: "query"; readonly query: string };

export type Decision = { readonly allowed: true } | {
  readonly allowed: false;
  readonly why: string;
  /** What the operator can do about it. */
  readonly fix?: string;
};

/** A decision against, as an error. */
export function denial({ why, fix }: Extract<Decision, { allowed: false }>): ZesterError {
  return new ZesterError("permission_denied", why, fix === undefined ? {} : { fix });
}

export interface Authorizer {
  decide(operator: { name: string; role: string | undefined }, deed: Deed): Decision;
}

export const ADMIN_ROLE = "admin";

/** Who may command peels without a master. `admin` alone may not: it is a right that one asks for by name. */
export const DIRECT_ROLE = "direct";

/** What peels ask about direct mode: only `direct` may. */
export const directRoles: Authorizer = {
  decide({ name, role }) {
    if (role === DIRECT_ROLE) return { allowed: true };
    const why = `operator ${name} has role ${role ?? "none"}; direct mode needs ${DIRECT_ROLE}`;
    return { allowed: false, why };
  },
};

/** Knows one role, `admin`, which may do everything; whoever has another may do nothing. */
export const builtInRoles: Authorizer = {
  decide({ name, role }) {
    if (role === ADMIN_ROLE) return { allowed: true };
    return {
      allowed: false,
      why: `operator ${name} has role ${role ?? "none"}, which may do nothing here`,
      fix: `ask whoever signs the fleet's trust document for the role ${ADMIN_ROLE}`,
    };
  },
};
