import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type ClientOperation,
  ClientParser,
  encodeHeaders,
  OutputBuffer,
  parseHeaders,
  PARSER_LIMITS,
  ProtocolError,
} from "./protocol.ts";

const CONNECT = 'CONNECT {"verbose":false,"user":"a","pass":"b"}\r\n';

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

interface Outcome {
  operations: ClientOperation[];
  answer: string | undefined;
}

/** Runs the parser over the chunks: all operations before the first error, and what that error answers. */
function run(chunks: readonly Uint8Array[], limits = PARSER_LIMITS): Outcome {
  const operations: ClientOperation[] = [];
  const parser = new ClientParser((operation) => operations.push(operation), limits);
  try {
    for (const chunk of chunks) parser.push(chunk);
  } catch (error) {
    assert.ok(error instanceof ProtocolError, `not a ProtocolError: ${error}`);
    return { operations, answer: error.answer };
  }
  return { operations, answer: undefined };
}

function split(all: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...new Set(cuts.map((cut) => cut % (all.length + 1)))].sort((a, b) => a - b);
  const chunks: Uint8Array[] = [];
  let from = 0;
  for (const place of [...places, all.length]) {
    chunks.push(all.subarray(from, place));
    from = place;
  }
  return chunks;
}

const accepted: [name: string, input: string, want: Partial<ClientOperation>][] = [
  ["PING", "PING\r\n", { op: "ping" }],
  ["a lower-case ping", "ping\r\n", { op: "ping" }],
  ["a line that ends with LF alone", "PONG\n", { op: "pong" }],
  ["PUB", "PUB a.b 2\r\nhi\r\n", { op: "publish", subject: "a.b", data: bytes("hi") }],
  ["PUB with reply", "PUB a r.1 0\r\n\r\n", { op: "publish", reply: "r.1", data: bytes("") }],
  ["PUB with many blanks", "PUB  a \t 1 \r\nx\r\n", { op: "publish", subject: "a" }],
  ["PUB with a subject beyond ASCII", "PUB zé 1\r\nx\r\n", { op: "publish", subject: "zé" }],
  ["PUB whose payload looks like an operation", "PUB a 6\r\nPING\r\n\r\n", {
    op: "publish",
    data: bytes("PING\r\n"),
  }],
  ["PUB to a token that only holds a star", "PUB a*b 1\r\nx\r\n", { op: "publish" }],
  ["PUB of a request that names a filter", "PUB $JS.API.CONSUMER.CREATE.s.n.a.*.> 1\r\nx\r\n", {
    op: "publish",
    subject: "$JS.API.CONSUMER.CREATE.s.n.a.*.>",
  }],
  ["HPUB", "HPUB a 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nhi\r\n", {
    op: "publish",
    headers: { status: undefined, description: "", fields: [["A", "b"]] },
    data: bytes("hi"),
  }],
  ["SUB", "SUB a.*.> 1\r\n", { op: "subscribe", subject: "a.*.>", queue: undefined, sid: "1" }],
  ["SUB with queue", "SUB a q 17\r\n", { op: "subscribe", queue: "q", sid: "17" }],
  ["UNSUB", "UNSUB 1\r\n", { op: "unsubscribe", sid: "1", max: undefined }],
  ["UNSUB after some", "UNSUB 1 5\r\n", { op: "unsubscribe", sid: "1", max: 5 }],
];

for (const [name, input, want] of accepted) {
  Deno.test(`ClientParser.push() reads ${name}`, () => {
    const { operations, answer } = run([bytes(CONNECT + input)]);
    assert.equal(answer, undefined);
    assert.equal(operations.length, 2);
    assert.deepEqual({ ...operations[1], ...want }, operations[1]);
  });
}

const refused: [name: string, input: string, answer: string][] = [
  ["an unknown operation", "FOO\r\n", "Unknown Protocol Operation"],
  ["an empty line", "\r\n", "Unknown Protocol Operation"],
  ["an operation with a tail", "CONNECTX {}\r\n", "Unknown Protocol Operation"],
  ["a second CONNECT", CONNECT, "Parser Error"],
  ["PUB without arguments", "PUB\r\n", "Parser Error"],
  ["PUB without a size", "PUB a\r\n", "Parser Error"],
  ["PUB with four arguments", "PUB a b c 1\r\n", "Parser Error"],
  ["PUB with a negative size", "PUB a -1\r\n", "Parser Error"],
  ["PUB with a huge size", "PUB a 99999999999999999999\r\n", "Parser Error"],
  ["PUB above the payload limit", "PUB a 1048577\r\n", "Maximum Payload Violation"],
  ["PUB whose payload is longer than it says", "PUB a 1\r\nxy\r\n", "Parser Error"],
  ["PUB to a wildcard", "PUB a.* 1\r\nx\r\n", "Invalid Publish Subject"],
  ["PUB to everything", "PUB > 1\r\nx\r\n", "Invalid Publish Subject"],
  ["PUB to an empty token", "PUB a..b 1\r\nx\r\n", "Invalid Publish Subject"],
  ["PUB to a subject that ends with a dot", "PUB a. 1\r\nx\r\n", "Invalid Publish Subject"],
  ["PUB to a control character", "PUB a\x01 1\r\nx\r\n", "Invalid Publish Subject"],
  ["PUB with a wildcard reply", "PUB a > 1\r\nx\r\n", "Invalid Publish Subject"],
  ["HPUB with more headers than bytes", "HPUB a 13 12\r\n", "Parser Error"],
  ["HPUB with broken headers", "HPUB a 12 12\r\nHTTP/1.0\r\n\r\n\r\n", "Parser Error"],
  ["SUB without sid", "SUB a\r\n", "Parser Error"],
  ["SUB with > in the middle", "SUB a.>.b 1\r\n", "Invalid Subject"],
  ["SUB with an empty token", "SUB .a 1\r\n", "Invalid Subject"],
  ["UNSUB without sid", "UNSUB\r\n", "Parser Error"],
  ["a line that never ends", "PUB ".padEnd(5000, "a"), "Maximum Control Line Exceeded"],
];

for (const [name, input, want] of refused) {
  Deno.test(`ClientParser.push() refuses ${name}`, () => {
    assert.equal(run([bytes(CONNECT + input)]).answer, want);
  });
}

Deno.test("ClientParser.push() refuses subjects and payloads that are not UTF-8", () => {
  const input = concat([
    bytes(CONNECT + "PUB "),
    new Uint8Array([0xff, 0xfe]),
    bytes(" 0\r\n\r\n"),
  ]);
  assert.equal(run([input]).answer, "Parser Error");
});

const unintroduced: [input: string, answer: string][] = [
  ["PUB a 1\r\n", "Authorization Violation"],
  ["SUB a 1\r\n", "Authorization Violation"],
  ["CONNECT {\r\n", "Parser Error"],
  ['CONNECT {"user":1}\r\n', "Parser Error"],
  ["CONNECT\r\n", "Parser Error"],
  ["GET / HTTP/1.1\r\n", "Unknown Protocol Operation"],
];

for (const [input, want] of unintroduced) {
  Deno.test(`ClientParser.push() refuses ${JSON.stringify(input)} as a first word`, () => {
    assert.equal(run([bytes(input)]).answer, want);
  });
}

Deno.test("ClientParser.push() takes a control line of exactly the limit, however it is split", () => {
  const limits = { controlLineBytesMax: 64, payloadBytesMax: 10 };
  const line = (length: number) => bytes(`${CONNECT}${"SUB ".padEnd(length - 2, "a")} 1\r\n`);
  for (const cut of [0, 48, 60, CONNECT.length + 64, CONNECT.length + 65]) {
    assert.equal(run(split(line(64), [cut]), limits).answer, undefined);
    assert.equal(run(split(line(65), [cut]), limits).answer, "Maximum Control Line Exceeded");
  }
});

const token = fc.stringMatching(/^[a-zA-Z0-9_$-]{1,8}$/);
const subject = fc.array(token, { minLength: 1, maxLength: 4 }).map((tokens) => tokens.join("."));
const field = fc.tuple(token, fc.stringMatching(/^[a-z0-9]([a-z0-9 :]{0,10}[a-z0-9])?$/));
const payload = fc.uint8Array({ maxLength: 300 });

const operation: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.constantFrom("PING\r\n", "PONG\n", "UNSUB 1\r\n", "UNSUB 1 9\r\n").map(bytes),
  fc.tuple(subject, fc.option(token)).map(([s, q]) => bytes(`SUB ${s}.> ${q ?? ""} 3\r\n`)),
  fc.tuple(subject, fc.option(subject), payload).map(([s, r, data]) =>
    concat([bytes(`PUB ${s} ${r ?? ""} ${data.length}\r\n`), data, bytes("\r\n")])
  ),
  fc.tuple(subject, fc.array(field), payload).map(([s, fields, data]) => {
    const block = encodeHeaders(fields);
    const line = `HPUB ${s} ${block.length} ${block.length + data.length}\r\n`;
    return concat([bytes(line), block, data, bytes("\r\n")]);
  }),
);

Deno.test("ClientParser.push() gives the same operations however a valid stream is split", () => {
  fc.assert(
    fc.property(
      fc.array(operation, { maxLength: 12 }),
      fc.array(fc.nat(), { maxLength: 40 }),
      (operations, cuts) => {
        const all = concat([bytes(CONNECT), ...operations]);
        const whole = run([all]);
        assert.equal(whole.answer, undefined);
        assert.equal(whole.operations.length, operations.length + 1);
        assert.deepEqual(run(split(all, cuts)), whole);
        const single = split(all, Array.from(all, (_, index) => index));
        assert.deepEqual(run(single), whole);
      },
    ),
    { numRuns: 150 },
  );
});

Deno.test("ClientParser.push() never crashes on random bytes and judges them alike however split", () => {
  const noise = fc.oneof(fc.uint8Array({ maxLength: 60 }), operation);
  fc.assert(
    fc.property(
      fc.array(noise, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 20 }),
      (parts, cuts) => {
        const all = concat([bytes(CONNECT), ...parts]);
        assert.deepEqual(run(split(all, cuts)), run([all]));
      },
    ),
    { numRuns: 400 },
  );
});

Deno.test("ClientParser.push() keeps no reference to the chunk it was given", () => {
  const chunk = bytes(`${CONNECT}PUB a 2\r\nhi\r\n`);
  const { operations } = run([chunk]);
  chunk.fill(0);
  assert.deepEqual(operations[1], {
    op: "publish",
    subject: "a",
    reply: undefined,
    headers: undefined,
    data: bytes("hi"),
  });
});

Deno.test("parseHeaders() reads back what encodeHeaders() wrote", () => {
  fc.assert(
    fc.property(fc.array(field), fc.option(fc.integer({ min: 100, max: 999 })), (fields, code) => {
      const status = code === null ? undefined : { code, description: "No Messages" };
      assert.deepEqual(parseHeaders(encodeHeaders(fields, status)), {
        status: code ?? undefined,
        description: code === null ? "" : "No Messages",
        fields,
      });
    }),
  );
});

const badHeaders: [name: string, block: string][] = [
  ["without an end", "NATS/1.0\r\n"],
  ["of another version", "NATS/2.0\r\n\r\n"],
  ["with bytes after the end", "NATS/1.0\r\n\r\nA: b\r\n\r\n"],
  ["with a line that is no field", "NATS/1.0\r\nnothing\r\n\r\n"],
  ["with a field without name", "NATS/1.0\r\n: b\r\n\r\n"],
  ["with a lone line feed in a value", "NATS/1.0\r\nA: b\nC: d\r\n\r\n"],
  ["with a blank in a name", "NATS/1.0\r\nA b: c\r\n\r\n"],
];

for (const [name, block] of badHeaders) {
  Deno.test(`parseHeaders() refuses a block ${name}`, () => {
    assert.throws(() => parseHeaders(bytes(block)), ProtocolError);
  });
}

Deno.test("OutputBuffer writes MSG and HMSG as the protocol says and counts their bytes", () => {
  const output = new OutputBuffer();
  const headers = encodeHeaders([["A", "b"]]);
  const plain = { subject: "a.b", reply: undefined, headers: undefined, data: bytes("hi") };
  const first = output.message("7", plain);
  output.message("8", { ...plain, subject: "zé", reply: "r" });
  output.message("9", { ...plain, headers });
  output.error("No");
  const want = "MSG a.b 7 2\r\nhi\r\nMSG zé 8 r 2\r\nhi\r\n" +
    "HMSG a.b 9 18 20\r\nNATS/1.0\r\nA: b\r\n\r\nhi\r\n-ERR 'No'\r\n";
  assert.equal(first, "MSG a.b 7 2\r\nhi\r\n".length);
  assert.equal(new TextDecoder().decode(output.take()), want);
  assert.equal(output.length, 0);
});

Deno.test("OutputBuffer.take() leaves what was taken alone while more is written", () => {
  const output = new OutputBuffer();
  output.ping();
  const taken = output.take();
  output.pong();
  assert.equal(new TextDecoder().decode(taken), "PING\r\n");
  output.giveBack(taken);
  assert.equal(new TextDecoder().decode(output.take()), "PONG\r\n");
  output.ok();
  assert.equal(new TextDecoder().decode(output.take()), "+OK\r\n");
});
