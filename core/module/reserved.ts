/** Keys that belong to every state, not to a module: no module may declare them, and none is told of them. */

/** What each set of keys is for. */
export const RESERVED = {
  attributes: [
    "onlyif",
    "unless",
    "order",
    "retry",
    "failhard",
    "prereq",
    "check_cmd",
    "fire_event",
    "parallel",
    "sandbox",
    "isolation",
  ],
  requisites: [
    "require",
    "watch",
    "onchanges",
    "onfail",
    "listen",
    "use",
    "require_any",
    "watch_any",
    "onchanges_any",
    "onfail_any",
    "onfail_all",
  ],
  compiler: [
    "names",
    "require_in",
    "watch_in",
    "onchanges_in",
    "onfail_in",
    "prereq_in",
    "listen_in",
    "use_in",
  ],
  /** `test` asks for a dry run; `name` is the primary parameter of most modules, and a label of the others. */
  peel: ["test", "name"],
} as const;

export const RESERVED_PARAMETERS: ReadonlySet<string> = new Set(Object.values(RESERVED).flat());
