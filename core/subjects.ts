/**
 * Every NATS subject, declared once. Builders, strict parsers, the permission lists of `core/grants.ts` and the table in
 * `docs/protocol.md` are all made from this table, so they cannot disagree. No other file spells a subject.
 */
import { ZesterError } from "./errors.ts";
import {
  FACTS_BYTES_MAX,
  QUESTION_BYTES_MAX,
  SMALL_PAYLOAD_BYTES_MAX,
  SUBJECT_LENGTH_MAX,
  SUBJECT_TOKEN_LENGTH_MAX,
} from "./limits.ts";

/**
 * Who is on the bus. Each has credentials of its own kind. `direct`: an operator who may command peels without a master,
 * under a login and a key of its own.
 */
export type Role = "master" | "peel" | "operator" | "direct" | "bootstrap";

/** How a message travels. `stream`: captured by a stream; with a reply subject the stream acknowledges it. */
export type Kind = "core" | "request" | "stream";

/**
 * What may stand in for each placeholder. A name ending in `+` takes one or more tokens.
 * Identities never begin with `_`: that is reserved for the trusted origins `_master` and `_admin`.
 */
const PLACEHOLDERS = {
  peel: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/,
  operator: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/,
  master: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/,
  node: /^[a-zA-Z0-9][a-zA-Z0-9_-]*$/,
  jid: /^(?:[0-9A-Za-z]{27}|rxn-[0-9a-f]{32})$/,
  verb: /^[a-z]+$/,
  topic: /^[a-z]+$/,
  query: /^[a-z]+$/,
  function: /^[a-zA-Z0-9_-]+$/,
  "tag+": /^[a-zA-Z0-9_-]+$/,
  "name+": /^[a-zA-Z0-9_-]+$/,
} as const;

type Placeholder = keyof typeof PLACEHOLDERS;

type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? N | Names<Rest>
  : never;

/** The fields of a pattern: `{peel}` is a string, `{tag+}` a list of tokens. */
export type Fields<P extends string> = {
  [N in Names<P> as N extends `${infer Bare}+` ? Bare : N]: N extends `${string}+`
    ? readonly string[]
    : string;
};

export interface SubjectRule {
  pub: readonly Role[];
  sub: readonly Role[];
  kind: Kind;
  /** Signature domain of messages on it; absent only where nothing has an effect. */
  domain?: string;
  /** Queue group of the receivers: each message goes to one of them. */
  queue?: string;
  payload: string;
  /** Largest payload taken; that of any message when absent. */
  bytesMax?: number;
  note: string;
}

export interface Subject<P extends string = string> extends SubjectRule {
  readonly pattern: P;
  /** The subject for these fields; throws `bad_subject` if one of them cannot be a token. */
  of(fields: Fields<P>): string;
  /** The fields of a subject of exactly this shape, or null. */
  parse(subject: string): Fields<P> | null;
  /** The subject with wildcards for all placeholders but those given. */
  filter(fixed?: Partial<Record<string, string>>): string;
}

function isSubjectToken(value: string): boolean {
  return value.length <= SUBJECT_TOKEN_LENGTH_MAX && /^[^.*>\s\p{Cc}]+$/u.test(value);
}

/** Refuses what could change the meaning of a subject: separators, wildcards, blanks, control characters. */
export function subjectToken(value: string, what: string): string {
  if (isSubjectToken(value)) return value;
  throw new ZesterError(
    "bad_subject",
    `${what}: ${JSON.stringify(value.slice(0, 80))} cannot be a subject token`,
  );
}

type Part = { literal: string } | { name: Placeholder };

function partsOf(pattern: string): Part[] {
  return pattern.split(".").map((token): Part => {
    const name = /^\{(.+)\}$/.exec(token)?.[1];
    if (name === undefined) return { literal: token };
    if (!(name in PLACEHOLDERS)) throw new Error(`unknown placeholder {${name}} in ${pattern}`);
    return { name: name as Placeholder };
  });
}

function isOpen(name: string): boolean {
  return name.endsWith("+");
}

function bare(name: string): string {
  return isOpen(name) ? name.slice(0, -1) : name;
}

function checked(token: string, name: Placeholder, pattern: string): string {
  subjectToken(token, `${pattern} {${bare(name)}}`);
  if (PLACEHOLDERS[name].test(token)) return token;
  throw new ZesterError(
    "bad_subject",
    `${pattern}: ${JSON.stringify(token)} is not a valid ${bare(name)}`,
  );
}

function isValid(token: string, name: Placeholder): boolean {
  return token.length <= SUBJECT_TOKEN_LENGTH_MAX && PLACEHOLDERS[name].test(token);
}

/** The tokens of one placeholder. Only an open one takes several: a list must not shift the tokens after it. */
function tokensOf(
  value: string | readonly string[] | undefined,
  name: Placeholder,
  pattern: string,
): string[] {
  const tokens = typeof value === "string" ? [value] : value ?? [];
  if (tokens.length === 0 || (tokens.length > 1 && !isOpen(name))) {
    throw new ZesterError("bad_subject", `${pattern}: {${name}} has ${tokens.length} tokens`);
  }
  return tokens.map((token) => checked(token, name, pattern));
}

/** Declares one subject. */
export function subject<P extends string>(pattern: P, rule: SubjectRule): Subject<P> {
  const parts = partsOf(pattern);
  return {
    ...rule,
    pattern,
    of(fields) {
      const values = fields as Record<string, string | readonly string[]>;
      const subject = parts.flatMap((part) =>
        "literal" in part ? [part.literal] : tokensOf(values[bare(part.name)], part.name, pattern)
      ).join(".");
      if (subject.length > SUBJECT_LENGTH_MAX) {
        throw new ZesterError(
          "bad_subject",
          `${pattern}: ${subject.length} characters, at most ${SUBJECT_LENGTH_MAX} are allowed`,
        );
      }
      return subject;
    },
    parse(subject) {
      return parse(parts, subject) as Fields<P> | null;
    },
    filter(fixed = {}) {
      return parts.map((part) => {
        if ("literal" in part) return part.literal;
        const value = fixed[bare(part.name)];
        if (value !== undefined) return checked(value, part.name, pattern);
        return isOpen(part.name) ? ">" : "*";
      }).join(".");
    },
  };
}

function parse(parts: readonly Part[], subject: string): Record<string, string | string[]> | null {
  if (subject.length > SUBJECT_LENGTH_MAX) return null;
  const tokens = subject.split(".");
  const fields: Record<string, string | string[]> = Object.create(null);
  let at = 0;
  for (const part of parts) {
    const token = tokens[at];
    if (token === undefined) return null;
    if ("literal" in part) {
      if (token !== part.literal) return null;
      at++;
    } else if (isOpen(part.name)) {
      const rest = tokens.slice(at);
      if (!rest.every((each) => isValid(each, part.name))) return null;
      fields[bare(part.name)] = rest;
      at = tokens.length;
    } else {
      if (!isValid(token, part.name)) return null;
      fields[part.name] = token;
      at++;
    }
  }
  return at === tokens.length ? fields : null;
}

/** Queue groups, said once. */
export const QUEUES = {
  masters: "zester.masters",
  resolvers: "zester-target-resolvers",
  admins: "zester-masters-admin",
  testers: "zester-reactor-testers",
} as const;

/** Every subject below `zester.`. */
export const subjects = {
  dispatch: subject("zester.dispatch.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/dispatch/v1",
    queue: QUEUES.masters,
    payload: "Job",
    note: "One master takes the job and streams what becomes of it to the operator's inbox.",
  }),
  command: subject("zester.cmd.{peel}", {
    pub: ["master", "direct"],
    sub: ["peel"],
    kind: "core",
    domain: "zester/exec/v1",
    payload: "ExecRequest",
    note: "From a master: a job. From an operator with a reply subject in its inbox: direct mode.",
  }),
  ack: subject("zester.job.{jid}.ack.{peel}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/ack/v1",
    payload: "Ack",
    bytesMax: SMALL_PAYLOAD_BYTES_MAX,
    note: "Accepted, about to run.",
  }),
  return: subject("zester.job.{jid}.return.{peel}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/return/v1",
    payload: "Return",
    note: "Published with a reply until the stream has it.",
  }),
  schedule: subject("zester.job.{jid}.schedule.{peel}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/schedule/v1",
    payload: "ScheduledResult",
    note: "Result of a run that the peel's own schedule started.",
  }),
  jobDispatched: subject("zester.job.{jid}.dispatch", {
    pub: ["master"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/job/v1",
    payload: "JobEvent",
    bytesMax: QUESTION_BYTES_MAX,
    note: "Audit: the job as it was dispatched.",
  }),
  jobStatus: subject("zester.job.{jid}.status", {
    pub: ["master"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/job/v1",
    payload: "JobEvent",
    bytesMax: QUESTION_BYTES_MAX,
    note: "Audit: how the job ended.",
  }),
  jobCancel: subject("zester.job.{jid}.cancel", {
    pub: ["master"],
    sub: ["master", "peel"],
    kind: "stream",
    domain: "zester/cancel/v1",
    payload: "JobEvent",
    bytesMax: SMALL_PAYLOAD_BYTES_MAX,
    note: "Sent by a master that was asked to; receivers take the jid from the subject.",
  }),
  eventSend: subject("zester.event.{peel}.send.{tag+}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/event/v1",
    payload: "Event",
    note: "Sent by `event.send` on a peel.",
  }),
  eventBeacon: subject("zester.event.{peel}.beacon.{name+}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/event/v1",
    payload: "Event",
    note: "Sent by a beacon on a peel.",
  }),
  eventMaster: subject("zester.event._master.{tag+}", {
    pub: ["master"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/event/v1",
    payload: "Event",
    note: "Enrollment events and reactor chains.",
  }),
  eventAdmin: subject("zester.event._admin.send.{tag+}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/event/v1",
    payload: "Event",
    note: "Sent by an operator; the signature says which.",
  }),
  fact: subject("zester.fact.{peel}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "request",
    domain: "zester/fact/v1",
    queue: QUEUES.masters,
    payload: "Facts",
    bytesMax: FACTS_BYTES_MAX,
    note: "Carries (boot, sequence); a master stores it if newer and answers.",
  }),
  basket: subject("zester.basket.{peel}.{function}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "request",
    domain: "zester/basket/v1",
    queue: QUEUES.masters,
    payload: "BasketValue",
    note: "A value that the peel shares; a master stores it.",
  }),
  heartbeat: subject("zester.heartbeat.{peel}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "core",
    domain: "zester/heartbeat/v1",
    payload: "PeelHeartbeat",
    bytesMax: SMALL_PAYLOAD_BYTES_MAX,
    note: "Kept in the memory of every master, never stored.",
  }),
  notice: subject("zester.notice.{topic}", {
    pub: ["master"],
    sub: ["peel"],
    kind: "core",
    domain: "zester/notice/v1",
    payload: "Notice",
    bytesMax: SMALL_PAYLOAD_BYTES_MAX,
    note: "A new revision of a file set or of the trust document; peels then look for themselves.",
  }),
  resolve: subject("zester.target.resolve.operator.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/query/v1",
    queue: QUEUES.resolvers,
    payload: "ResolveRequest",
    bytesMax: QUESTION_BYTES_MAX,
    note: "Who matches a target expression.",
  }),
  resolveForPeel: subject("zester.target.resolve.peel.{peel}", {
    pub: ["peel"],
    sub: ["master"],
    kind: "request",
    domain: "zester/query/v1",
    queue: QUEUES.resolvers,
    payload: "ResolveRequest",
    bytesMax: QUESTION_BYTES_MAX,
    note: "The same, asked by a peel.",
  }),
  query: subject("zester.query.{operator}.{query}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/query/v1",
    queue: QUEUES.masters,
    payload: "Query",
    bytesMax: QUESTION_BYTES_MAX,
    note: "Lists and follows: jobs, peels, events. So no operator needs a consumer.",
  }),
  adminEnroll: subject("zester.admin.enroll.{verb}.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/admin/v1",
    queue: QUEUES.admins,
    payload: "AdminRequest",
    bytesMax: QUESTION_BYTES_MAX,
    note: "approve, reject, revoke.",
  }),
  adminJob: subject("zester.admin.job.{verb}.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/admin/v1",
    queue: QUEUES.masters,
    payload: "JobRequest",
    bytesMax: QUESTION_BYTES_MAX,
    note: "cancel.",
  }),
  adminFileserver: subject("zester.admin.fileserver.{verb}.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/admin/v1",
    payload: "UpdateRequest",
    note: "No queue group: only the holder of the publisher lease answers.",
  }),
  reactorTest: subject("zester.reactor.test.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/query/v1",
    queue: QUEUES.testers,
    payload: "TestRequest",
    note: "Explains what the reactor would do.",
  }),
  deadLetter: subject("zester.dead.{tag+}", {
    pub: ["master"],
    sub: ["master"],
    kind: "stream",
    domain: "zester/event/v1",
    payload: "DeadLetter",
    note: "An event that could not be reacted to, with its reasons.",
  }),
  updateCommand: subject("zester.update.cmd.{node}", {
    pub: ["master"],
    sub: ["peel"],
    kind: "request",
    domain: "zester/update/v1",
    payload: "UpdateCommand",
    note: "To the supervisor of one node.",
  }),
  updateRollout: subject("zester.update.rollout.{verb}.{operator}", {
    pub: ["operator"],
    sub: ["master"],
    kind: "request",
    domain: "zester/admin/v1",
    queue: QUEUES.masters,
    payload: "RolloutRequest",
    note: "start, abort.",
  }),
} as const;

export type SubjectName = keyof typeof subjects;

/** All that is stored about one job. */
export function everythingAboutJob(jid: string): string {
  return `zester.job.${checked(jid, "jid", "zester.job.{jid}.>")}.>`;
}

/** Signature domain of the answers that masters send to inboxes, which are not in the table. */
export const REPLY_DOMAIN = "zester/reply/v1";

/** Who may answer to whom: each client listens below a prefix of its own, so nobody reads another's replies. */
export function inboxPrefix(role: Role, identity: string): string {
  return `_INBOX.${role}.${subjectToken(identity, "inbox identity")}`;
}

/** Whether a reply subject belongs to this client: responders answer nowhere else. */
export function isInboxOf(
  reply: string | undefined,
  role: Role,
  identity: string,
): reply is string {
  const prefix = `${inboxPrefix(role, identity)}.`;
  return reply !== undefined && reply.length <= SUBJECT_LENGTH_MAX && reply.startsWith(prefix) &&
    reply.slice(prefix.length).split(".").every(isSubjectToken);
}

/** The placeholders that stand for the client itself, by role. */
const OWN: Record<Role, readonly string[]> = {
  peel: ["peel", "node"],
  operator: ["operator"],
  direct: [],
  master: [],
  bootstrap: [],
};

/** Subjects that `role` may publish or subscribe to, with its own identity filled in. */
export function subjectsFor(role: Role, direction: "pub" | "sub", identity: string): string[] {
  const own = Object.fromEntries(OWN[role].map((name) => [name, identity]));
  const granted = Object.values(subjects).filter((each) =>
    (each[direction] as readonly Role[]).includes(role)
  );
  return [...new Set(granted.map((each) => each.filter(own)))].sort();
}
