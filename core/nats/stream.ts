/** The stream port: appends with conditions in headers, reads from the leader, consumers that exist or are made. */
import { ZesterError } from "../errors.ts";
import { CONSUMER_INACTIVE_MS } from "../limits.ts";
import type { AppendOptions, ConsumerSpec, HeaderField, Stream } from "../ports.ts";
import { consumerConfig, type ConsumerSettings, nanos } from "../stream_config.ts";
import type { Count, JetStreamApi } from "./api.ts";
import { checkSubject } from "./bus.ts";
import { natsConsumer } from "./consumer.ts";
import { fromApi } from "./failures.ts";

interface StreamInfoJson {
  state: { messages: Count; bytes: Count; first_seq: Count; last_seq: Count };
}

/** A stream on this connection. Nothing is sent before it is used. */
export function natsStream(api: JetStreamApi, name: string): Stream {
  return {
    async append(subject, data, options = {}) {
      checkSubject(subject, "exact");
      const result = await api.append(name, subject, { data, headers: conditions(options) });
      return result.outcome === "conflict" ? { outcome: "conflict" } : result;
    },
    async get(sequence) {
      // The server would take a request for 0 as one that names nothing.
      return sequence <= 0n ? null : await api.leaderGet(name, `{"seq":${sequence}}`);
    },
    lastOn(subject) {
      checkSubject(subject, "exact");
      return api.leaderGet(name, JSON.stringify({ last_by_subj: subject }));
    },
    async info() {
      const { state } = await api.demand<StreamInfoJson>(`STREAM.INFO.${name}`);
      return {
        messages: Number(state.messages),
        bytes: Number(state.bytes),
        firstSequence: BigInt(state.first_seq),
        lastSequence: BigInt(state.last_seq),
      };
    },
    async consumer(spec) {
      if (spec.filter !== undefined) checkSubject(spec.filter, "filter");
      const consumer = spec.durable === undefined
        ? await makeEphemeral(api, name, spec)
        : await bindOrMake(api, name, spec.durable, settingsOf(spec));
      return natsConsumer(api, name, consumer);
    },
  };
}

function conditions(options: AppendOptions): HeaderField[] {
  const fields: HeaderField[] = [...options.headers ?? []];
  const add = (name: string, value: string | bigint | undefined) => {
    if (value !== undefined) fields.push([name, String(value)]);
  };
  add("Nats-Msg-Id", options.messageId);
  add("Nats-Expected-Last-Sequence", options.expectedLastSequence);
  add("Nats-Expected-Last-Subject-Sequence", options.expectedLastSubjectSequence);
  return fields;
}

/** The server wants a filter with "last per subject", even if it is all subjects. */
function settingsOf(spec: ConsumerSpec): ConsumerSettings {
  const needsFilter = spec.deliver === "lastPerSubject" && spec.filter === undefined;
  return consumerConfig(needsFilter ? { ...spec, filter: ">" } : spec);
}

async function makeEphemeral(
  api: JetStreamApi,
  stream: string,
  spec: ConsumerSpec,
): Promise<string> {
  const name = `e-${crypto.randomUUID()}`;
  await createConsumer(api, stream, name, {
    inactive_threshold: nanos(CONSUMER_INACTIVE_MS),
    ...settingsOf(spec),
    name,
  });
  return name;
}

/** Masters may not make durables, only bind to them; so the existing one is looked for first. */
async function bindOrMake(
  api: JetStreamApi,
  stream: string,
  durable: string,
  wanted: ConsumerSettings,
): Promise<string> {
  const verb = `CONSUMER.INFO.${stream}.${durable}`;
  const answer = await api.ask<{ config: ConsumerSettings }>(verb);
  if (answer.error === undefined) {
    checkSame(answer.value.config, wanted, `${stream}.${durable}`);
  } else if (answer.error.err_code === CONSUMER_NOT_FOUND) {
    await createConsumer(api, stream, durable, wanted);
  } else {
    throw fromApi(verb, answer.error);
  }
  return durable;
}

const CONSUMER_NOT_FOUND = 10014;
const COMPARED = [
  "filter_subject",
  "deliver_policy",
  "ack_policy",
  "ack_wait",
  "max_ack_pending",
  "max_deliver",
] as const;

function checkSame(found: ConsumerSettings, wanted: ConsumerSettings, name: string): void {
  const other = COMPARED.filter((each) => found[each] !== wanted[each]);
  if (other.length === 0) return;
  const differences = other.map((each) => `${each} ${found[each]} instead of ${wanted[each]}`);
  throw new ZesterError("config_invalid", `consumer ${name} has ${differences.join(", ")}`);
}

/** Makes a consumer; one that exists with the same settings is left as it is. */
export async function createConsumer(
  api: JetStreamApi,
  stream: string,
  name: string,
  config: ConsumerSettings,
): Promise<void> {
  const filter = config.filter_subject === undefined ? "" : `.${config.filter_subject}`;
  await api.demand(`CONSUMER.CREATE.${stream}.${name}${filter}`, {
    stream_name: stream,
    action: "create",
    config: { ...config, name },
  });
}
