/** What each prefix of a term means, said once: parser, errors and help are made from it. */
export const MATCHERS = {
  "E@": { what: "regular expression on the id", example: "E@^web-\\d+$" },
  "G@": { what: "fact: equal, or >= <= != > <", example: "G@memory_mb:>=4096" },
  "I@": { what: "the same as G@", example: "I@os:ubuntu" },
  "L@": { what: "list of ids", example: "L@web-01,web-02" },
  "S@": { what: "address or subnet", example: "S@10.0.0.0/8" },
  "P@": { what: "regular expression on a fact", example: "P@os:^(debian|ubuntu)$" },
  "N@": { what: "group from the masters' configuration", example: "N@webservers" },
} as const satisfies Record<string, { what: string; example: string }>;

export type Prefix = keyof typeof MATCHERS;
