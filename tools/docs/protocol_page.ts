/** `docs/protocol.md`: subjects, streams, buckets and permissions, from the tables that the programs use. */
import { buckets, type BucketSpec, streams, type StreamSpec } from "../../core/buckets.ts";
import { formatDuration } from "../../core/duration.ts";
import { grantsFor, type SubjectLists } from "../../core/grants.ts";
import { PAYLOAD_BYTES_MAX } from "../../core/limits.ts";
import {
  inboxPrefix,
  QUEUES,
  REPLY_DOMAIN,
  type Role,
  type Subject,
  subjects,
} from "../../core/subjects.ts";
import { code, codes, generatedFrom, page, size, table } from "./markdown.ts";

const SUBJECTS: readonly Subject[] = Object.values(subjects);
const STREAMS: readonly StreamSpec[] = Object.values(streams);
const BUCKETS: readonly BucketSpec[] = Object.values(buckets);

/** One identity of each kind, to show permissions with. */
const EXAMPLES: readonly (readonly [Role, string])[] = [
  ["peel", "web-01"],
  ["operator", "alice"],
  ["direct", "alice"],
  ["master", "m1"],
  ["bootstrap", "setup"],
];

/** The whole page. */
export async function protocolPage(): Promise<string> {
  return await page(
    generatedFrom("core/subjects.ts", "core/buckets.ts", "core/grants.ts"),
    "# Protocol",
    "What travels over NATS, who may say and hear it, and what is stored. Payloads are MessagePack maps to which fields are " +
      "added, never renamed.",
    "## Subjects",
    SUBJECTS_INTRODUCTION,
    subjectTable(),
    "## Queue groups",
    "Of the members of a queue group, one gets each message.",
    queueTable(),
    "## Streams",
    streamTable(),
    "Consumers that all masters share. They are made when the fleet is set up: whoever may create one could take over " +
      "another's name.",
    durableTable(),
    "## Buckets",
    "Masters read and write every bucket. Peels and operators read the keys named here, one exact key at a time; `{peel}` is " +
      "the reader's own id.",
    bucketTable(),
    "## Permissions",
    "Made from the tables above, one list per identity; the server enforces them. They are the second wall: the first is the " +
      "signature that every message with an effect carries.",
    ...EXAMPLES.map(([role, identity]) => grantSection(role, identity)),
  );
}

const SUBJECTS_INTRODUCTION = [
  "`{x}` is one token, `{x+}` one or more. Identity comes from the subject, never from the payload. Messages on a subject with a " +
  "signature domain are refused unless they are signed for that domain, that subject and that sender.",
  "`core`: delivered to whoever listens now. `request`: answered. `stream`: captured by a stream, which acknowledges it when the " +
  "message has a reply subject.",
  `Answers go to inboxes, signed with domain ${
    code(REPLY_DOMAIN)
  }. Each client listens below a prefix of its own: ${
    codes(EXAMPLES.map(([role, identity]) => `${inboxPrefix(role, identity)}.>`))
  }.`,
].join("\n\n");

function subjectTable(): string {
  const head = ["Subject", "From → to", "Kind", "Signature domain", "Payload", "Up to", "Note"];
  return table(
    head,
    SUBJECTS.map((subject) => [
      code(subject.pattern),
      `${subject.pub.join(", ")} → ${subject.sub.join(", ")}`,
      subject.queue === undefined ? subject.kind : `${subject.kind}, one of the group`,
      subject.domain === undefined ? "–" : code(subject.domain),
      code(subject.payload),
      size(subject.bytesMax ?? PAYLOAD_BYTES_MAX),
      subject.note,
    ]),
  );
}

function queueTable(): string {
  const rows = Object.values(QUEUES).map((queue) => [
    code(queue),
    codes(SUBJECTS.filter((subject) => subject.queue === queue).map(({ pattern }) => pattern)),
  ]);
  return table(["Group", "Subjects"], rows);
}

function streamTable(): string {
  const head = [
    "Stream",
    "Subjects",
    "Kept for",
    "Up to",
    "Duplicates seen for",
    "Storage",
    "Holds",
  ];
  return table(
    head,
    STREAMS.map((stream) => [
      code(stream.name),
      codes(stream.subjects),
      formatDuration(stream.maxAgeMs),
      capsOf(stream),
      formatDuration(stream.duplicateWindowMs),
      stream.storage,
      stream.note,
    ]),
  );
}

function capsOf(stream: StreamSpec): string {
  const { messagesMax, subjectMessagesMax, messageBytesMax } = stream;
  return [
    size(stream.bytesMax),
    ...(messagesMax === undefined ? [] : [`${messagesMax} messages`]),
    ...(subjectMessagesMax === undefined ? [] : [`${subjectMessagesMax} on a subject`]),
    ...(messageBytesMax === undefined ? [] : [`${size(messageBytesMax)} each`]),
  ].join(", ");
}

function durableTable(): string {
  const head = ["Stream", "Consumer", "Filter", "From", "Ack wait", "Unacknowledged at once"];
  return table(
    head,
    STREAMS.flatMap((stream) =>
      stream.durables.map((durable) => [
        code(stream.name),
        code(durable.name),
        code(durable.filter),
        durable.deliver === "all" ? "the first message" : "now on",
        formatDuration(durable.ackWaitMs),
        String(durable.maxAckPending),
      ])
    ),
  );
}

function bucketTable(): string {
  const head = ["Bucket", "Keys", "Kept for", "Revisions", "Value up to", "Bucket up to"];
  return table(
    [...head, "Storage", "Peels read", "Operators read"],
    BUCKETS.map((bucket) => [
      code(bucket.name),
      bucket.note,
      bucket.ttlMs === undefined ? "ever" : formatDuration(bucket.ttlMs),
      String(bucket.history),
      size(bucket.valueBytesMax),
      size(bucket.bytesMax),
      bucket.storage,
      codes(bucket.peelReads),
      codes(bucket.operatorReads),
    ]),
  );
}

function grantSection(role: Role, identity: string): string {
  const { publish, subscribe } = grantsFor(role, identity);
  return [
    `### ${role} ${code(identity)}`,
    `May publish:`,
    listing(publish),
    `May subscribe:`,
    listing(subscribe),
  ].join("\n\n");
}

function listing({ allow, deny }: SubjectLists): string {
  return ["```", ...allow, ...deny.map((pattern) => `deny ${pattern}`), "```"].join("\n");
}
