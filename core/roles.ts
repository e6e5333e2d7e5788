/**
 * What operators may do. One role is built in; roles from the fleet's configuration go behind the same interface.
 * The check is made by a master, on the targets that it resolved itself.
 */

export interface Deed {
  readonly function: string;
  readonly targets: readonly string[];
}

export type Decision = { readonly allowed: true } | {
  readonly allowed: false;
  readonly why: string;
};

export interface Authorizer {
  decide(operator: { name: string; role: string | undefined }, deed: Deed): Decision;
}

export const ADMIN_ROLE = "admin";

/** Knows one role, `admin`, which may do everything; whoever has another may do nothing. */
export const builtInRoles: Authorizer = {
  decide({ name, role }) {
    if (role === ADMIN_ROLE) return { allowed: true };
    return {
      allowed: false,
      why: `operator ${name} has role ${role ?? "none"}, which may do nothing here`,
    };
  },
};
