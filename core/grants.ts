/**
 * What each identity may publish and subscribe to on the NATS server, made from the subject and bucket tables. Allow lists
 * carry the policy; the denies are a second net. Signatures are the first wall: see `core/ingress.ts`.
 *
 * Two rules decide the shape: nobody holds publish and read-back on the same stored subject, and peels neither make
 * consumers nor write buckets. So a peel that was taken over can read what it may read anyway, and speak as itself.
 */
import { buckets, type BucketSpec, streams, type StreamSpec } from "./buckets.ts";
import { bucketStreamName, bucketSubject } from "./stream_config.ts";
import { inboxPrefix, type Role, subjects, subjectsFor } from "./subjects.ts";

export interface SubjectLists {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

export interface Grants {
  readonly publish: SubjectLists;
  readonly subscribe: SubjectLists;
}

const ALL_BUCKETS: readonly BucketSpec[] = Object.values(buckets);
const ALL_STREAMS: readonly StreamSpec[] = Object.values(streams);

/** Permissions of one identity. */
export function grantsFor(role: Role, identity: string): Grants {
  const inbox = `${inboxPrefix(role, identity)}.>`;
  const said = subjectsFor(role, "pub", identity);
  const heard = subjectsFor(role, "sub", identity);
  switch (role) {
    case "peel":
      return client(
        [...said, ...DIRECT_ANSWERS, ...directGets("peelReads", identity)],
        [...heard, inbox],
        ["$JS.API.STREAM.>"],
      );
    case "operator":
    case "direct":
      return client(
        [...said, ...directGets("operatorReads", identity), ...LISTS],
        [...heard, inbox],
        ALL_BUT_LISTS,
      );
    case "master":
      return {
        publish: { allow: [...said, "_INBOX.>", ...masterStore()], deny: MASTER_DENIES },
        subscribe: { allow: [...heard, inbox], deny: ["$SYS.>"] },
      };
    case "bootstrap":
      return {
        publish: { allow: ["$JS.API.>", ...BOOTSTRAP_WRITES], deny: ["$SYS.>"] },
        subscribe: { allow: [inbox], deny: ["$SYS.>"] },
      };
  }
}

/** Until the enrollment protocol writes them, the identity that makes the fleet also writes its records and its trust. */
const BOOTSTRAP_WRITES = [
  bucketSubject(buckets.enrollments.name, ">"),
  bucketSubject(buckets.secrets.name, "_trust"),
];

/** Peels answer operators in direct mode; what they say there is signed, too. */
const DIRECT_ANSWERS = ["_INBOX.direct.>"];

/**
 * Which keys a bucket has, from the state of its stream: how operators find peels when no master answers. The answer is one
 * message that tells names which they may read anyway; a consumer would be theirs to point elsewhere.
 */
export interface KeyList {
  /** What the stream answers. */
  readonly asked: string;
  /** What it is called in the account of clients: there the server itself answers to `asked`, that it has no streams. */
  readonly crossed: string;
}

/** How to ask which keys a bucket has. */
export function keyListOf(bucket: string): KeyList {
  return { asked: streamInfo(bucketStreamName(bucket)), crossed: `zester.keys.${bucket}` };
}

const KEY_LISTS = ALL_BUCKETS.filter(({ operatorLists }) => operatorLists === true)
  .map(({ name }) => keyListOf(name));
const LISTS = KEY_LISTS.flatMap(({ asked, crossed }) => [asked, crossed]);

const STREAM_VERBS = [
  ...["CREATE", "DELETE", "LEADER", "LIST", "MSG", "NAMES", "PEER", "PURGE", "RESTORE"],
  ...["SNAPSHOT", "UPDATE"],
];

const ALL_BUT_LISTS = [
  ...STREAM_VERBS.flatMap((verb) => [`$JS.API.STREAM.${verb}`, `$JS.API.STREAM.${verb}.>`]),
  ...[...ALL_BUCKETS.map(({ name }) => bucketStreamName(name)), ...ALL_STREAMS.map(nameOf)]
    .map(streamInfo).filter((subject) => !LISTS.includes(subject)),
];

function streamInfo(stream: string): string {
  return `$JS.API.STREAM.INFO.${stream}`;
}

function nameOf({ name }: { readonly name: string }): string {
  return name;
}

const CLIENT_DENIES = [
  "$JS.API.CONSUMER.>",
  "$JS.API.DIRECT.GET.*",
  "$JS.API.INFO",
  "$JS.ACK.>",
  "$JS.FC.>",
  "$KV.>",
  "$O.>",
  "$SYS.>",
];

function client(
  publish: readonly string[],
  subscribe: readonly string[],
  streamDenies: readonly string[],
): Grants {
  return {
    publish: { allow: publish, deny: [...streamDenies, ...CLIENT_DENIES] },
    subscribe: { allow: subscribe, deny: ["$JS.>", "$KV.>", "$SYS.>", "zester.event.>"] },
  };
}

/** Direct gets of exact keys. Never without a key: the body could then name any. */
function directGets(readers: "peelReads" | "operatorReads", identity: string): string[] {
  return ALL_BUCKETS.flatMap(({ name, [readers]: keys }) =>
    keys.map((key) =>
      `$JS.API.DIRECT.GET.${bucketStreamName(name)}.${
        bucketSubject(name, key.replace("{peel}", identity))
      }`
    )
  );
}

const MASTER_DENIES = [
  ...["CREATE", "UPDATE", "DELETE", "PURGE", "RESTORE", "SNAPSHOT"].map((verb) =>
    `$JS.API.STREAM.${verb}.>`
  ),
  "$JS.API.STREAM.MSG.DELETE.>",
  "$JS.API.CONSUMER.DURABLE.>",
  "$SYS.>",
];

/** Read and write every bucket, pull from the shared durables, replay the streams that allow it. */
function masterStore(): string[] {
  return [
    "$JS.API.INFO",
    ...ALL_BUCKETS.flatMap(({ name }) => [
      bucketSubject(name, ">"),
      ...reads(bucketStreamName(name)),
      ...ownConsumers(bucketStreamName(name)),
    ]),
    ...ALL_STREAMS.flatMap((stream) => [
      ...reads(stream.name),
      ...stream.durables.flatMap(({ name }) => [
        `$JS.API.CONSUMER.INFO.${stream.name}.${name}`,
        `$JS.API.CONSUMER.MSG.NEXT.${stream.name}.${name}`,
        `$JS.ACK.${stream.name}.${name}.>`,
      ]),
      ...(stream.replayable ? ownConsumers(stream.name) : []),
    ]),
  ];
}

function reads(stream: string): string[] {
  return [
    streamInfo(stream),
    `$JS.API.STREAM.MSG.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}`,
    `$JS.API.DIRECT.GET.${stream}.>`,
  ];
}

function ownConsumers(stream: string): string[] {
  return [
    `$JS.API.CONSUMER.CREATE.${stream}`,
    `$JS.API.CONSUMER.CREATE.${stream}.>`,
    `$JS.API.CONSUMER.INFO.${stream}.*`,
    `$JS.API.CONSUMER.DELETE.${stream}.*`,
    `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
    `$JS.ACK.${stream}.>`,
    `$JS.FC.${stream}.>`,
  ];
}

/** Whether a role's programs get the account of clients, where the server has accounts. */
export function isClient(role: Role): boolean {
  return role === "peel" || role === "operator" || role === "direct";
}

/** Subjects that pass between the masters' account, which has the streams, and that of peels and operators. */
export interface Crossings {
  /** From clients, and answered by a stream: the answer goes back to where the question came from and nowhere else. */
  readonly asked: readonly string[];
  /** The same, under another name. */
  readonly lists: readonly KeyList[];
  /** From clients to masters, who choose themselves where they answer. */
  readonly said: readonly string[];
  /** From masters to clients. */
  readonly heard: readonly string[];
}

/**
 * What clients may reach. Why they have an account of their own: whoever asks a stream names the reply subject, and the server
 * sends the answer there as itself. In one account, asking for a key that does not exist with the reply subject
 * `$JS.API.STREAM.DELETE.KV_jobs` deletes that bucket; between accounts there is no such subject to name.
 */
export function crossings(): Crossings {
  const rules = Object.values(subjects);
  // What clients say among themselves (direct mode) crosses nothing.
  const fromClients = rules.filter((rule) => rule.pub.some(isClient) && !rule.sub.every(isClient));
  const readable = ALL_BUCKETS.filter((each) =>
    each.peelReads.length + each.operatorReads.length > 0
  );
  return {
    asked: widest([
      ...fromClients.filter((rule) => rule.kind === "stream").map((rule) => rule.filter()),
      ...readable.map(({ name }) => `$JS.API.DIRECT.GET.${bucketStreamName(name)}.>`),
    ]),
    lists: KEY_LISTS,
    said: widest(fromClients.filter((rule) => rule.kind !== "stream").map((rule) => rule.filter())),
    heard: widest([
      ...rules.filter((rule) => rule.sub.some(isClient) && !rule.pub.every(isClient))
        .map((rule) => rule.filter()),
      ...(["peel", "operator"] as const).map((role) => `_INBOX.${role}.>`),
    ]),
  };
}

/** Without what another pattern covers: it would cross twice. */
function widest(patterns: readonly string[]): string[] {
  const distinct = [...new Set(patterns)];
  return distinct.filter((each) =>
    !distinct.some((other) => other !== each && coversPattern(other, each))
  ).sort();
}

function coversPattern(wide: string, narrow: string): boolean {
  const given = narrow.split(".");
  const wanted = wide.split(".");
  for (const [at, token] of wanted.entries()) {
    if (token === ">") return given.length > at;
    if (given[at] === undefined || (token !== "*" && token !== given[at])) return false;
  }
  return wanted.length === given.length;
}
