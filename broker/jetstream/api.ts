/** What the engine offers of JetStream, as typed calls: `broker/api.ts` wraps them in JSON, `broker/ports.ts` in promises. */
import type { HeaderField } from "../../core/ports.ts";
import type {
  AppendConditions,
  ConsumerAction,
  ConsumerConfigInput,
  ConsumerReport,
  GetQuery,
  PublishAck,
  PullRequest,
  PurgeRequest,
  StoredRecord,
  StreamConfigInput,
  StreamReport,
} from "./types.ts";

/** Every call throws `JetStreamApiError`, applies its change at once, and is durable when `Engine.whenDurable` says so. */
export interface JetStream {
  createStream(config: StreamConfigInput): StreamReport;
  updateStream(config: StreamConfigInput): StreamReport;
  deleteStream(name: string): void;
  /** With `subjectsFilter`, also the number of messages on each subject that it matches. */
  streamInfo(name: string, options?: { subjectsFilter?: string }): StreamReport;
  /** Sorted. With a subject, only streams that may hold messages on it. */
  streamNames(subject?: string): string[];

  /** Stores one message. Conditions may also stand in the headers, as clients send them. */
  append(
    stream: string,
    message: {
      subject: string;
      data: Uint8Array;
      headers?: readonly HeaderField[];
      conditions?: AppendConditions;
    },
  ): PublishAck;
  /** The message, or an error 10037. */
  getMessage(stream: string, query: GetQuery): StoredRecord;
  deleteMessage(stream: string, sequence: number): void;
  /** How many went. */
  purge(stream: string, request?: PurgeRequest): number;

  createConsumer(
    stream: string,
    config: ConsumerConfigInput,
    action?: ConsumerAction,
  ): ConsumerReport;
  consumerInfo(stream: string, consumer: string): ConsumerReport;
  /** Sorted. */
  consumerNames(stream: string): string[];
  deleteConsumer(stream: string, consumer: string): void;
  /**
   * Queues a pull request whose messages and status lines go to the subject `deliverTo`. What is wrong with the request
   * is answered there as a status too; only a missing stream or consumer throws.
   */
  pull(stream: string, consumer: string, request: PullRequest, deliverTo: string): void;
}
