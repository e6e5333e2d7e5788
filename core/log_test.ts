import assert from "node:assert/strict";
import fc from "fast-check";
import { ZesterError } from "./errors.ts";
import { LOG_TEXT_LENGTH_MAX } from "./limits.ts";
import { createLog, type LogFields, type LogFormat, type LogLevel, memoryLog } from "./log.ts";

function linesOf(
  body: (log: ReturnType<typeof createLog>) => void,
  { format = "json", level = "debug" }: { format?: LogFormat; level?: LogLevel } = {},
): string[] {
  const lines: string[] = [];
  const clock = { now: () => Date.UTC(2026, 10, 18, 12) };
  const sink = (line: string) => void lines.push(line);
  body(createLog({ component: "master", version: "1.2.3", id: "m1", format, level, clock, sink }));
  return lines;
}

Deno.test("createLog() writes time, level, component, version, id, message and fields as one JSON line", () => {
  const [line] = linesOf((log) => log.child({ jid: "j1" }).warn("orphan", { misses: 2 }));
  assert.equal(
    line,
    '{"time":"2026-11-18T12:00:00.000Z","level":"warn","component":"master","version":"1.2.3",' +
      '"id":"m1","message":"orphan","jid":"j1","misses":2}',
  );
});

Deno.test("createLog() writes the same as readable text", () => {
  const [line] = linesOf((log) => log.info("job sent", { jid: "j1", to: "a b" }), {
    format: "text",
  });
  assert.equal(line, '2026-11-18T12:00:00.000Z INFO  master/m1@1.2.3 job sent jid=j1 to="a b"');
});

Deno.test("createLog() drops what is below its level", () => {
  const lines = linesOf((log) => {
    log.debug("a");
    log.info("b");
    log.warn("c");
    log.error("d");
  }, { level: "warn" });
  assert.deepEqual(lines.map((line) => JSON.parse(line).message), ["c", "d"]);
});

Deno.test("createLog() keeps untrusted text from forging a line or a colour in text form", () => {
  const evil = "x\n2026 ERROR forged\u001b[31m\u202e";
  const [line] = linesOf((log) => log.info(evil, { name: evil, [evil]: 1 }), { format: "text" });
  assert.doesNotMatch(line!, /[\p{Cc}\u202e]/u);
});

Deno.test("createLog() lets no field take the place of a line's own names", () => {
  const [line] = linesOf((log) =>
    log.info("real", { level: "error", id: "other", message: "fake" })
  );
  const { level, id, message, ...rest } = JSON.parse(line!);
  assert.deepEqual([level, id, message], ["info", "m1", "real"]);
  assert.deepEqual([rest["field.level"], rest["field.id"]], ["error", "other"]);
});

const circle: Record<string, unknown> = {};
circle["self"] = circle;
const shown: [name: string, value: unknown, want: unknown][] = [
  ["a bigint beyond 2^53", 2n ** 60n, "1152921504606846976"],
  ["bytes as hex", new Uint8Array([1, 255]), "01ff"],
  ["many bytes, cut", new Uint8Array(100), `${"00".repeat(64)}… 100 bytes`],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["a map", new Map([["a", 1n]]), { a: "1" }],
  ["a set", new Set([1]), [1]],
  ["NaN", NaN, "NaN"],
  ["a value that contains itself", circle, { self: "[circular]" }],
  ["a long text, cut", "a".repeat(5_000), `${"a".repeat(LOG_TEXT_LENGTH_MAX)}… 5000 characters`],
  [
    "a ZesterError with its fix and cause",
    new ZesterError("timeout", "no answer", {
      fix: "wait",
      cause: new ZesterError("closed", "gone"),
    }),
    {
      message: "no answer",
      code: "timeout",
      fix: "wait",
      cause: { message: "gone", code: "closed" },
    },
  ],
  ["a getter that throws", Object.defineProperty({}, "a", { enumerable: true, get: thrower }), {
    a: "[unreadable]",
  }],
];
function thrower(): never {
  throw new Error("no");
}
for (const [name, value, want] of shown) {
  Deno.test(`createLog() shows ${name}`, () => {
    const [line] = linesOf((log) => log.info("x", { value }));
    assert.deepEqual(JSON.parse(line!).value, want);
  });
}

Deno.test("createLog() shows where a bug was: name and stack of a foreign error", () => {
  const [line] = linesOf((log) => log.error("x", { error: new TypeError("bad") }));
  const { error } = JSON.parse(line!);
  assert.equal(error.name, "TypeError");
  assert.match(error.stack, /log_test/);
});

Deno.test("createLog() never throws and always writes one line, whatever the fields are", () => {
  fc.assert(fc.property(fc.dictionary(fc.string(), fc.anything({ withBigInt: true })), (fields) => {
    for (const format of ["json", "text"] as const) {
      const lines = linesOf((log) => log.info("x", fields as LogFields), { format });
      assert.equal(lines.length, 1);
      assert.doesNotMatch(lines[0]!, /\p{Cc}/u);
    }
  }));
});

Deno.test("createLog() survives a sink that throws", () => {
  createLog({
    component: "peel",
    version: "1",
    id: "p",
    format: "json",
    level: "debug",
    clock: { now: () => 0 },
    sink: thrower,
  }).info("x");
});

Deno.test("memoryLog() keeps records with the fields of its children", () => {
  const log = memoryLog();
  log.child({ a: 1 }).info("x", { b: 2 });
  assert.deepEqual(log.records.map(({ message, fields }) => [message, fields]), [["x", {
    a: 1,
    b: 2,
  }]]);
});
