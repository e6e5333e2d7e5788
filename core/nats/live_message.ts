/** A message as it is delivered to a handler. It is read part by part, as it is looked at: most of a flood ends at its subject. */
import type { Msg } from "@nats-io/transport-node";
import type { HeaderField, Message } from "../ports.ts";
import { fieldsOf } from "./messages.ts";

/** The client's message, of which nothing but the subject was read. */
export class LiveMessage implements Message {
  readonly subject: string;
  readonly #client: Msg;
  #headers: readonly HeaderField[] | undefined;
  #data: Uint8Array | undefined;

  constructor(client: Msg) {
    this.#client = client;
    this.subject = client.subject;
  }

  get reply(): string | undefined {
    const { reply } = this.#client;
    return reply === "" ? undefined : reply;
  }

  get headers(): readonly HeaderField[] {
    return this.#headers ??= fieldsOf(this.#client.headers);
  }

  get status(): number | undefined {
    return this.#client.headers?.code || undefined;
  }

  /** A copy: the client's is a Node Buffer, whose slice() shares memory, over everything that was read with it. */
  get data(): Uint8Array {
    return this.#data ??= new Uint8Array(this.#client.data);
  }
}
