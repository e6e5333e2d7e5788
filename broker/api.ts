/**
 * The JSON interface of JetStream: what clients send to `$JS.API.…`, turned into calls of the engine and answered in the
 * shapes of nats-server. It is a client of the engine like any other; who may ask for what is decided by the publish
 * permissions of the asker. As with nats-server the asker chooses the reply subject, and the answer goes there unchecked.
 */
import { Buffer } from "node:buffer";
import { z } from "zod";
import {
  BROKER_LIST_PAGE_MAX,
  BROKER_NAMES_PAGE_MAX,
  BROKER_SUBJECTS_PAGE_MAX,
} from "../core/limits.ts";
import type { HeaderField } from "../core/ports.ts";
import type { BrokerMessage, Engine, Session } from "./engine.ts";
import type { JetStream } from "./jetstream/api.ts";
import { timestamp } from "./jetstream/context.ts";
import {
  type ConsumerConfigInput,
  JetStreamApiError,
  type StoredRecord,
  type StreamConfigInput,
} from "./jetstream/types.ts";
import { encodeHeaders } from "./protocol.ts";

const PREFIX = "$JS.API.";
const TYPE_PREFIX = "io.nats.jetstream.api.v1.";
const NOTHING = new Uint8Array(0);

/** One request, taken apart. `tokens` are those of the subject after the fixed part of the endpoint. */
interface Call {
  jetstream: JetStream;
  tokens: readonly string[];
  data: Uint8Array;
}

/** Answers with JSON. `changes`: only once what it changed is on disk. */
interface JsonEndpoint {
  type: string;
  changes: boolean;
  answer(call: Call): object;
}

/** A message or a status line for the reply subject. */
interface RawAnswer {
  data?: Uint8Array;
  headers?: readonly HeaderField[];
  status?: number;
  description?: string;
}

/** Answers with a bare message, or leaves that to the engine (null). */
interface RawEndpoint {
  answerRaw(call: Call, reply: string): RawAnswer | null;
}

/** Every endpoint by the rest of its subject; a request to any other has no responders, as on nats-server. */
const ENDPOINTS: Readonly<Record<string, JsonEndpoint | RawEndpoint>> = {
  "INFO": reads("account_info", accountInfo),
  "STREAM.CREATE.*": changes("stream_create", createStream),
  "STREAM.UPDATE.*": changes("stream_update", updateStream),
  "STREAM.DELETE.*": changes("stream_delete", deleteStream),
  "STREAM.INFO.*": reads("stream_info", streamInfo),
  "STREAM.NAMES": reads("stream_names", streamNames),
  "STREAM.LIST": reads("stream_list", streamList),
  "STREAM.PURGE.*": changes("stream_purge", purgeStream),
  "STREAM.MSG.GET.*": reads("stream_msg_get", getStreamMessage),
  "STREAM.MSG.DELETE.*": changes("stream_msg_delete", deleteStreamMessage),
  "DIRECT.GET.*": { answerRaw: directGet },
  "DIRECT.GET.*.>": { answerRaw: directGetLast },
  "CONSUMER.CREATE.*": changes("consumer_create", createEphemeralConsumer),
  "CONSUMER.CREATE.*.>": changes("consumer_create", createNamedConsumer),
  "CONSUMER.DURABLE.CREATE.*.*": changes("consumer_create", createDurableConsumer),
  "CONSUMER.INFO.*.*": reads("consumer_info", consumerInfo),
  "CONSUMER.DELETE.*.*": changes("consumer_delete", deleteConsumer),
  "CONSUMER.NAMES.*": reads("consumer_names", consumerNames),
  "CONSUMER.LIST.*": reads("consumer_list", consumerList),
  "CONSUMER.MSG.NEXT.*.*": { answerRaw: nextMessages },
};

function reads(name: string, answer: JsonEndpoint["answer"]): JsonEndpoint {
  return { type: `${TYPE_PREFIX}${name}_response`, changes: false, answer };
}

function changes(name: string, answer: JsonEndpoint["answer"]): JsonEndpoint {
  return { type: `${TYPE_PREFIX}${name}_response`, changes: true, answer };
}

/** Answers the JetStream API on this engine until closed. */
export function serveApi(engine: Engine): { close(): void } {
  const session = engine.connect({
    name: "jetstream-api",
    noResponders: false,
    // A reply subject of such a kind would let a reader have the broker order itself, or write, with stored bytes.
    permissions: { publish: { deny: ["$JS.>", "$KV.>"] } },
    deliver,
  });
  for (const rest of Object.keys(ENDPOINTS)) session.subscribe(rest, `${PREFIX}${rest}`);

  function deliver(message: BrokerMessage, rest: string): void {
    const endpoint = ENDPOINTS[rest];
    if (endpoint === undefined) return;
    const call: Call = {
      jetstream: engine.jetstream,
      tokens: message.subject.split(".").slice(fixedTokens(rest)),
      data: message.data,
    };
    if ("answer" in endpoint) answerJson({ engine, session, endpoint, call, reply: message.reply });
    else answerRaw(session, endpoint, call, message.reply);
  }

  return { close: () => session.close() };
}

/** How many tokens of a request's subject come before its first variable one. */
function fixedTokens(rest: string): number {
  const tokens = `${PREFIX}${rest}`.split(".");
  const first = tokens.indexOf("*");
  return first === -1 ? tokens.length : first;
}

function answerJson({ engine, session, endpoint, call, reply }: {
  engine: Engine;
  session: Session;
  endpoint: JsonEndpoint;
  call: Call;
  reply: string | undefined;
}): void {
  const body = encodeJson({ type: endpoint.type, ...jsonOrError(endpoint, call) });
  if (reply === undefined) return;
  const send = () => void session.publish(reply, body);
  if (endpoint.changes) engine.whenDurable(send);
  else send();
}

function jsonOrError(endpoint: JsonEndpoint, call: Call): object {
  try {
    return endpoint.answer(call);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    const { code, errCode, description } = error;
    return { error: { code, err_code: errCode, description } };
  }
}

function answerRaw(
  session: Session,
  endpoint: RawEndpoint,
  call: Call,
  reply: string | undefined,
): void {
  if (reply === undefined) return;
  const answer = rawOrStatus(endpoint, call, reply);
  if (answer === null) return;
  const { data = NOTHING, ...options } = answer;
  session.publish(reply, data, options);
}

function rawOrStatus(endpoint: RawEndpoint, call: Call, reply: string): RawAnswer | null {
  try {
    return endpoint.answerRaw(call, reply);
  } catch (error) {
    if (!(error instanceof JetStreamApiError)) throw error;
    if (error.errCode === NO_MESSAGE) return { status: 404, description: "Message Not Found" };
    // nats-server has no subscription for what does not exist, so nobody responds.
    if (error.code === 404) return { status: 503 };
    return badRequest("Malformed Request");
  }
}

// ---- requests ------------------------------------------------------------------------------------------------

const NO_MESSAGE = 10037;
const count = z.number().int();
const texts = z.array(z.string());

/** Settings that change what a stream does and that this broker does not have: refused, never ignored. */
const STREAM_SETTINGS_REFUSED = [
  "mirror",
  "sources",
  "republish",
  "subject_transform",
  "allow_msg_ttl",
  "allow_msg_counter",
  "allow_msg_schedules",
  "allow_atomic",
  "allow_batched",
  "no_ack",
  "first_seq",
  "consumer_limits",
] as const;

const streamSchema = z.object({
  name: z.string().exactOptional(),
  description: z.string().exactOptional(),
  subjects: texts.exactOptional(),
  retention: z.enum(["limits", "interest", "workqueue"]).exactOptional(),
  storage: z.enum(["file", "memory"]).exactOptional(),
  num_replicas: count.exactOptional(),
  discard: z.enum(["old", "new"]).exactOptional(),
  discard_new_per_subject: z.boolean().exactOptional(),
  max_age: count.exactOptional(),
  max_bytes: count.exactOptional(),
  max_msgs: count.exactOptional(),
  max_msg_size: count.exactOptional(),
  max_msgs_per_subject: count.exactOptional(),
  max_consumers: count.exactOptional(),
  duplicate_window: count.exactOptional(),
  allow_direct: z.boolean().exactOptional(),
  allow_rollup_hdrs: z.boolean().exactOptional(),
  deny_delete: z.boolean().exactOptional(),
  deny_purge: z.boolean().exactOptional(),
  sealed: z.boolean().exactOptional(),
  mirror_direct: z.boolean().exactOptional(),
  metadata: z.record(z.string(), z.string()).exactOptional(),
});

/** As above, for consumers. */
const CONSUMER_SETTINGS_REFUSED = [
  "pause_until",
  "priority_groups",
  "priority_policy",
  "rate_limit_bps",
] as const;

const consumerSchema = z.object({
  name: z.string().exactOptional(),
  durable_name: z.string().exactOptional(),
  description: z.string().exactOptional(),
  deliver_policy: z.enum([
    "all",
    "last",
    "new",
    "by_start_sequence",
    "by_start_time",
    "last_per_subject",
  ]).exactOptional(),
  opt_start_seq: count.exactOptional(),
  opt_start_time: z.string().exactOptional(),
  ack_policy: z.enum(["none", "all", "explicit"]).exactOptional(),
  ack_wait: count.exactOptional(),
  backoff: z.array(count).exactOptional(),
  max_deliver: count.exactOptional(),
  max_ack_pending: count.exactOptional(),
  max_waiting: count.exactOptional(),
  max_batch: count.exactOptional(),
  max_expires: count.exactOptional(),
  max_bytes: count.exactOptional(),
  filter_subject: z.string().exactOptional(),
  filter_subjects: texts.exactOptional(),
  replay_policy: z.enum(["instant", "original"]).exactOptional(),
  headers_only: z.boolean().exactOptional(),
  inactive_threshold: count.exactOptional(),
  mem_storage: z.boolean().exactOptional(),
  num_replicas: count.exactOptional(),
  deliver_subject: z.string().exactOptional(),
  deliver_group: z.string().exactOptional(),
  flow_control: z.boolean().exactOptional(),
  idle_heartbeat: count.exactOptional(),
  metadata: z.record(z.string(), z.string()).exactOptional(),
});

const consumerRequestSchema = z.object({
  stream_name: z.string().optional(),
  config: z.looseObject({}).default({}),
  action: z.enum(["create", "update", ""]).default(""),
});

const listSchema = z.object({
  offset: count.min(0).default(0),
  subject: z.string().optional(),
});

const streamInfoSchema = z.object({
  offset: count.min(0).default(0),
  subjects_filter: z.string().optional(),
});

const purgeSchema = z.object({
  filter: z.string().exactOptional(),
  seq: count.exactOptional(),
  keep: count.exactOptional(),
});

const getSchema = z.object({
  seq: count.exactOptional(),
  last_by_subj: z.string().exactOptional(),
  next_by_subj: z.string().exactOptional(),
});

const directGetSchema = getSchema.extend({
  batch: z.never().optional(),
  max_bytes: z.never().optional(),
  multi_last: z.never().optional(),
  start_time: z.never().optional(),
});

const deleteMessageSchema = z.object({ seq: count });

const pullSchema = z.object({
  batch: count.default(1),
  expires: count.exactOptional(),
  no_wait: z.boolean().exactOptional(),
  max_bytes: count.exactOptional(),
  idle_heartbeat: count.exactOptional(),
});

function readBody<T>(data: Uint8Array, schema: z.ZodType<T>): T {
  return checked(parseJson(data), schema);
}

function parseJson(data: Uint8Array): unknown {
  if (data.length === 0) return {};
  try {
    // A null means the same as a missing key, as it does for nats-server.
    return JSON.parse(new TextDecoder().decode(data), (_, value) => value ?? undefined);
  } catch (error) {
    throw invalidJson(error instanceof Error ? error.message : String(error));
  }
}

function checked<T>(value: unknown, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [first] = parsed.error.issues;
  throw invalidJson(`${first?.path.join(".") ?? ""}: ${first?.message ?? "not valid"}`);
}

function invalidJson(found: string): JetStreamApiError {
  return new JetStreamApiError(400, 10025, `invalid JSON: ${found}`);
}

function refuseSettings(
  config: unknown,
  names: readonly string[],
  refuse: (description: string) => JetStreamApiError,
): void {
  if (typeof config !== "object" || config === null) return;
  for (const [name, value] of Object.entries(config)) {
    if (names.includes(name) && isSet(value)) {
      throw refuse(`${name} is not supported by the embedded broker`);
    }
  }
}

function isSet(value: unknown): boolean {
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== false && value !== 0 && value !== "" && value !== "none";
}

function token({ tokens }: Call, index: number): string {
  return tokens[index] ?? "";
}

// ---- streams -------------------------------------------------------------------------------------------------

function accountInfo({ jetstream }: Call): object {
  const reports = jetstream.streamNames().map((name) => jetstream.streamInfo(name));
  const bytesIn = (storage: "file" | "memory") =>
    reports.filter((each) => each.config.storage === storage)
      .reduce((sum, each) => sum + each.state.bytes, 0);
  return {
    memory: bytesIn("memory"),
    storage: bytesIn("file"),
    reserved_memory: 0,
    reserved_storage: 0,
    streams: reports.length,
    consumers: reports.reduce((sum, each) => sum + each.state.consumer_count, 0),
    limits: {
      max_memory: -1,
      max_storage: -1,
      max_streams: -1,
      max_consumers: -1,
      max_ack_pending: -1,
      memory_max_stream_bytes: -1,
      storage_max_stream_bytes: -1,
      max_bytes_required: false,
    },
    api: { total: 0, errors: 0 },
  };
}

function readStreamConfig(call: Call): StreamConfigInput {
  const body = parseJson(call.data);
  const config = checked(body, streamSchema);
  refuseSettings(
    body,
    STREAM_SETTINGS_REFUSED,
    (description) => new JetStreamApiError(500, 10052, description),
  );
  const name = token(call, 0);
  if (config.name !== name) throw streamMismatch();
  return { ...config, name };
}

function streamMismatch(): JetStreamApiError {
  return new JetStreamApiError(400, 10056, "stream name in subject does not match request");
}

function createStream(call: Call): object {
  return { ...call.jetstream.createStream(readStreamConfig(call)), did_create: true };
}

function updateStream(call: Call): object {
  return call.jetstream.updateStream(readStreamConfig(call));
}

function deleteStream(call: Call): object {
  call.jetstream.deleteStream(token(call, 0));
  return { success: true };
}

function streamInfo(call: Call): object {
  const { offset, subjects_filter } = readBody(call.data, streamInfoSchema);
  const name = token(call, 0);
  if (subjects_filter === undefined) return call.jetstream.streamInfo(name);
  const report = call.jetstream.streamInfo(name, { subjectsFilter: subjects_filter });
  const all = Object.entries(report.state.subjects ?? {});
  const { total, limit, items } = page(all, offset, BROKER_SUBJECTS_PAGE_MAX);
  const state = { ...report.state, subjects: Object.fromEntries(items) };
  return { ...report, state, total, offset, limit };
}

function page<T>(
  all: readonly T[],
  offset: number,
  limit: number,
): { total: number; offset: number; limit: number; items: T[] } {
  return { total: all.length, offset, limit, items: all.slice(offset, offset + limit) };
}

function streamNames({ jetstream, data }: Call): object {
  const { offset, subject } = readBody(data, listSchema);
  const { items, ...rest } = page(jetstream.streamNames(subject), offset, BROKER_NAMES_PAGE_MAX);
  return { ...rest, streams: items };
}

function streamList({ jetstream, data }: Call): object {
  const { offset, subject } = readBody(data, listSchema);
  const { items, ...rest } = page(jetstream.streamNames(subject), offset, BROKER_LIST_PAGE_MAX);
  return { ...rest, streams: items.map((name) => jetstream.streamInfo(name)) };
}

function purgeStream(call: Call): object {
  const request = readBody(call.data, purgeSchema);
  return { success: true, purged: call.jetstream.purge(token(call, 0), request) };
}

// ---- messages ------------------------------------------------------------------------------------------------

function getStreamMessage(call: Call): object {
  const query = readBody(call.data, getSchema);
  if (Object.keys(query).length === 0) throw new JetStreamApiError(400, 10003, "bad request");
  const stored = call.jetstream.getMessage(token(call, 0), query);
  const message = {
    subject: stored.subject,
    seq: stored.sequence,
    time: timestamp(stored.timeMs),
    ...(stored.data.length > 0 ? { data: base64(stored.data) } : {}),
    ...(stored.headers.length > 0 ? { hdrs: base64(encodeHeaders(stored.headers)) } : {}),
  };
  return { message };
}

function deleteStreamMessage(call: Call): object {
  const { seq } = readBody(call.data, deleteMessageSchema);
  call.jetstream.deleteMessage(token(call, 0), seq);
  return { success: true };
}

function directGet(call: Call): RawAnswer {
  requireDirect(call);
  const parsed = directGetSchema.safeParse(parseJson(call.data));
  if (!parsed.success) return badRequest("Bad Request");
  const { seq, last_by_subj, next_by_subj } = parsed.data;
  const query = {
    ...(seq === undefined ? {} : { seq }),
    ...(last_by_subj === undefined ? {} : { last_by_subj }),
    ...(next_by_subj === undefined ? {} : { next_by_subj }),
  };
  if (Object.keys(query).length === 0) return badRequest("Empty Request");
  return direct(call, call.jetstream.getMessage(token(call, 0), query));
}

function directGetLast(call: Call): RawAnswer {
  requireDirect(call);
  if (call.data.length > 0) return badRequest("Bad Request");
  const subject = call.tokens.slice(1).join(".");
  return direct(call, call.jetstream.getMessage(token(call, 0), { last_by_subj: subject }));
}

function badRequest(description: string): RawAnswer {
  return { status: 408, description };
}

function requireDirect(call: Call): void {
  if (call.jetstream.streamInfo(token(call, 0)).config.allow_direct) return;
  throw new JetStreamApiError(404, 10059, "stream not found");
}

function direct(call: Call, stored: StoredRecord): RawAnswer {
  const headers: HeaderField[] = [
    ...stored.headers,
    ["Nats-Stream", token(call, 0)],
    ["Nats-Subject", stored.subject],
    ["Nats-Sequence", String(stored.sequence)],
    ["Nats-Time-Stamp", timestamp(stored.timeMs)],
  ];
  return { data: stored.data, headers };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

function encodeJson(value: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

// ---- consumers -----------------------------------------------------------------------------------------------

interface ConsumerRequest {
  config: ConsumerConfigInput;
  action: "create" | "update" | "";
}

function readConsumerRequest(call: Call): ConsumerRequest {
  const { stream_name, config, action } = readBody(call.data, consumerRequestSchema);
  if (stream_name !== token(call, 0)) throw streamMismatch();
  refuseSettings(
    config,
    CONSUMER_SETTINGS_REFUSED,
    (description) => new JetStreamApiError(500, 10012, description),
  );
  return { config: checked(config, consumerSchema), action };
}

function createEphemeralConsumer(call: Call): object {
  const { config, action } = readConsumerRequest(call);
  if (config.durable_name !== undefined) {
    throw new JetStreamApiError(
      400,
      10020,
      "consumer expected to be ephemeral but a durable name was set in request",
    );
  }
  return call.jetstream.createConsumer(token(call, 0), config, action);
}

/** `<stream>.<name>[.<filter>]`: what the subject says must be what the body says, or permissions would mean nothing. */
function createNamedConsumer(call: Call): object {
  const { config, action } = readConsumerRequest(call);
  const name = token(call, 1);
  const filter = call.tokens.slice(2).join(".");
  requireName(config, name);
  if (filter !== "" && config.filter_subject !== filter) {
    throw new JetStreamApiError(
      400,
      10131,
      "Consumer create request did not match filtered subject from create subject",
    );
  }
  return call.jetstream.createConsumer(token(call, 0), { ...config, name }, action);
}

function createDurableConsumer(call: Call): object {
  const { config, action } = readConsumerRequest(call);
  const name = token(call, 1);
  if (config.durable_name === undefined) {
    throw new JetStreamApiError(
      400,
      10018,
      "consumer expected to be durable but a durable name was not set",
    );
  }
  requireName(config, name);
  return call.jetstream.createConsumer(token(call, 0), { ...config, name }, action);
}

function requireName(config: ConsumerConfigInput, name: string): void {
  const claimed = [config.name, config.durable_name];
  if (claimed.every((each) => each === undefined || each === name)) return;
  throw new JetStreamApiError(
    400,
    10017,
    "consumer name in subject does not match durable name in request",
  );
}

function consumerInfo(call: Call): object {
  return call.jetstream.consumerInfo(token(call, 0), token(call, 1));
}

function deleteConsumer(call: Call): object {
  call.jetstream.deleteConsumer(token(call, 0), token(call, 1));
  return { success: true };
}

function consumerNames(call: Call): object {
  const { offset } = readBody(call.data, listSchema);
  const names = call.jetstream.consumerNames(token(call, 0));
  const { items, ...rest } = page(names, offset, BROKER_NAMES_PAGE_MAX);
  return { ...rest, consumers: items };
}

function consumerList(call: Call): object {
  const { offset } = readBody(call.data, listSchema);
  const stream = token(call, 0);
  const { items, ...rest } = page(
    call.jetstream.consumerNames(stream),
    offset,
    BROKER_LIST_PAGE_MAX,
  );
  return { ...rest, consumers: items.map((name) => call.jetstream.consumerInfo(stream, name)) };
}

function nextMessages(call: Call, reply: string): null {
  call.jetstream.pull(token(call, 0), token(call, 1), readPull(call.data), reply);
  return null;
}

/** A bare number means that many messages. */
function readPull(data: Uint8Array): z.infer<typeof pullSchema> {
  const body = parseJson(data);
  return checked(typeof body === "number" ? { batch: body } : body, pullSchema);
}
