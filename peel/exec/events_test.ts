import assert from "node:assert/strict";
import { streams } from "../../core/buckets.ts";
import type { AppendOptions, AppendResult, Store } from "../../core/ports.ts";
import { decodeEvent } from "../../core/wire/event.ts";
import { sendEvent } from "./events.ts";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { systemRandom as random } from "../../core/adapters/system_random.ts";
import { ZesterError } from "../../core/errors.ts";

interface Sent {
  readonly subject: string;
  readonly data: Uint8Array;
  readonly options: AppendOptions;
}

function storeThat(answers: AppendResult[]): { store: Store; sent: Sent[] } {
  const sent: Sent[] = [];
  const store = {
    stream(name: string) {
      assert.equal(name, streams.events.name);
      return {
        append(subject: string, data: Uint8Array, options: AppendOptions) {
          sent.push({ subject, data, options });
          return Promise.resolve(answers.shift()!);
        },
      };
    },
  } as unknown as Store;
  return { store, sent };
}

const voice = { headers: () => [["Zester-Sig", "x"]] } as never;
const OK: AppendResult = { outcome: "ok", sequence: 1n, duplicate: false };
const UNKNOWN: AppendResult = {
  outcome: "unknown",
  cause: new ZesterError("timeout", "no answer"),
};
const event = { tag: "deploy/done", data: { version: "1" }, depth: 2 };

Deno.test("sendEvent() signs, names the peel and the tag, and stamps the depth", async () => {
  const { store, sent } = storeThat([OK]);
  await sendEvent(event, { peelId: "web-01", store, voice, clock, random });
  assert.equal(sent[0]!.subject, "zester.event.web-01.send.deploy.done");
  const { tag, data, depth, origin } = decodeEvent(sent[0]!.data);
  assert.deepEqual([tag, { ...data }, depth, origin], [
    "deploy.done",
    { version: "1" },
    2,
    "web-01",
  ]);
  assert.equal(sent[0]!.options.headers?.[0]?.[0], "Zester-Sig");
});

Deno.test("sendEvent() tries again under the same id when it does not know, so that it is stored once", async () => {
  const { store, sent } = storeThat([UNKNOWN, OK]);
  await sendEvent(event, { peelId: "web-01", store, voice, clock, random });
  assert.equal(sent.length, 2);
  assert.equal(sent[0]!.options.messageId, sent[1]!.options.messageId);
});

Deno.test("sendEvent() fails when no try was answered", async () => {
  const { store, sent } = storeThat([UNKNOWN, UNKNOWN, UNKNOWN]);
  await assert.rejects(
    sendEvent(event, { peelId: "web-01", store, voice, clock, random }),
    /did not take it/,
  );
  assert.equal(sent.length, 3);
});
