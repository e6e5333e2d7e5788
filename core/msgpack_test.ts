import assert from "node:assert/strict";
import { decode as libraryDecode, encode as libraryEncode, Encoder } from "@msgpack/msgpack";
import fc from "fast-check";
import { isZesterError, ZesterError } from "./errors.ts";
import { DECODE_DEPTH_MAX, DECODE_ITEMS_MAX, PAYLOAD_BYTES_MAX } from "./limits.ts";
import { decode, encode, isMap } from "./msgpack.ts";

/** The time that hostile input may cost, with room for a busy machine; measured after the code is warm. */
const HOSTILE_MS_MAX = 50;
const MARK = "\uFEFF";

function bytes(...parts: (number | readonly number[] | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => typeof part === "number" ? [part] : [...part]));
}

function filled(length: number, pattern: readonly number[]): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => pattern[at % pattern.length]!);
}

/** The error of a refused payload; a value or another error fails the test. */
function refusal(payload: Uint8Array): ZesterError {
  try {
    decode(payload, "Probe");
  } catch (error) {
    assert(error instanceof ZesterError, `not a ZesterError: ${error}`);
    assert.match(error.message, /^Probe: /);
    return error;
  }
  assert.fail(`accepted ${payload.slice(0, 16).toHex()}`);
}

const KEY_A = [0xa1, 0x61];

const hostile: [name: string, payload: Uint8Array, found: RegExp][] = [
  ["nothing", bytes(), /byte 0: the bytes end/],
  ["1 MB of nested lists", filled(1_000_000, [0x91]), /byte 64: .* nested more than 64/],
  ["1 MB of nested maps", filled(1_000_000, [0x81, 0xa1, 0x61]), /byte 192: .* nested more than/],
  ["1 MB of lists of fifteen", filled(1_000_000, [0x9f]), /nested more than 64/],
  ["1 MB of maps of fifteen", filled(1_000_000, [0x8f]), /byte 1: a map key is not text/],
  ["1 MB of empty lists", filled(1_000_000, [0x90]), /byte 1: 999999 bytes follow/],
  [
    "a list of a million nils",
    bytes([0xdd, 0, 0xf, 0x42, 0x40], filled(1_000_000, [0xc0])),
    /more/,
  ],
  ["a million values in all", bytes(0x92, many(150_000), many(150_000)), /more than 200000 values/],
  ["a repeated key", bytes(0x82, KEY_A, 1, KEY_A, 2), /byte 4: the map key "a" comes twice/],
  [
    "a key repeated in another format",
    bytes(0x82, KEY_A, 1, 0xd9, KEY_A[0]! - 0xa0, 0x61, 2),
    /twi/,
  ],
  [
    "a key repeated deep inside",
    bytes(0x81, KEY_A, 0x91, 0x82, KEY_A, 1, KEY_A, 2),
    /byte 8: .*twice/,
  ],
  ["a number as a key", bytes(0x81, 1, 1), /byte 1: a map key is not text/],
  ["nil as a key", bytes(0x81, 0xc0, 1), /byte 1: a map key is not text/],
  ["bytes as a key", bytes(0x81, 0xc4, 1, 0x61, 1), /byte 1: a map key is not text/],
  ["a list as a key", bytes(0x81, 0x90, 1), /byte 1: a map key is not text/],
  ["the key __proto__", encodeLoose(0x81, "__proto__", 1), /byte 1: .*__proto__/],
  ["a format that does not exist", bytes(0xc1), /byte 0: 0xc1 begins no value/],
  ["two values", bytes(1, 2), /byte 1: 1 bytes follow the value/],
  ["an unknown extension of one byte", bytes(0xd4, 1, 0), /byte 0: extension type 1 is not known/],
  ["an unknown extension of two bytes", bytes(0xd5, 127, 0, 0), /extension type 127/],
  ["an unknown extension of four bytes", bytes(0xd6, 0xfe, 0, 0, 0, 0), /extension type -2/],
  ["an unknown extension of eight bytes", bytes(0xd7, 0, filled(8, [0])), /extension type 0/],
  ["an unknown extension of sixteen bytes", bytes(0xd8, 5, filled(16, [0])), /extension type 5/],
  ["an unknown extension with a length", bytes(0xc7, 0, 9), /extension type 9/],
  ["a timestamp of one byte", bytes(0xd4, 0xff, 0), /byte 0: 1 bytes are not a timestamp/],
  ["a timestamp of sixteen bytes", bytes(0xd8, 0xff, filled(16, [0])), /16 bytes are not a time/],
  ["a timestamp of no bytes", bytes(0xc7, 0, 0xff), /0 bytes are not a timestamp/],
  ["too many nanoseconds", bytes(0xd7, 0xff, filled(8, [0xff])), /8 bytes are not a timestamp/],
  [
    "a time no date can hold",
    bytes(0xc7, 12, 0xff, filled(4, [0]), 0x7f, filled(7, [0xff])),
    /12 by/,
  ],
  ["a lone continuation byte", bytes(0xa1, 0x80), /byte 1: text is not UTF-8/],
  ["an overlong slash", bytes(0xa2, 0xc0, 0xaf), /byte 1: text is not UTF-8/],
  ["an overlong form of three bytes", bytes(0xa3, 0xe0, 0x80, 0xaf), /text is not UTF-8/],
  ["half of a surrogate pair", bytes(0xa3, 0xed, 0xa0, 0x80), /text is not UTF-8/],
  ["beyond U+10FFFF", bytes(0xa4, 0xf4, 0x90, 0x80, 0x80), /text is not UTF-8/],
  [
    "a character cut off by the end of its text",
    bytes(0x92, 0xa1, 0xc3, 0xa9),
    /byte 2: text is not/,
  ],
  ["a key that is not UTF-8", bytes(0x81, 0xa1, 0xff, 1), /byte 2: text is not UTF-8/],
  ["Latin-1 in a long text", bytes(0xda, 1, 0, filled(256, [0xe9])), /byte 3: text is not UTF-8/],
];

function many(count: number): Uint8Array {
  return bytes(
    [0xdd, count >>> 24, count >>> 16 & 255, count >>> 8 & 255, count & 255],
    filled(count, [0xc0]),
  );
}

function encodeLoose(head: number, key: string, value: number): Uint8Array {
  return bytes(head, 0xa0 + key.length, new TextEncoder().encode(key), value);
}

/** Every format that carries a length, with a length of 4 GB or the most that it can say. */
const lying: [name: string, head: readonly number[]][] = [
  ["text of 31 bytes", [0xbf]],
  ["text 8", [0xd9, 0xff]],
  ["text 16", [0xda, 0xff, 0xff]],
  ["text 32", [0xdb, 0xff, 0xff, 0xff, 0xff]],
  ["bytes 8", [0xc4, 0xff]],
  ["bytes 16", [0xc5, 0xff, 0xff]],
  ["bytes 32", [0xc6, 0xff, 0xff, 0xff, 0xff]],
  ["extension 8", [0xc7, 0xff, 0xff]],
  ["extension 16", [0xc8, 0xff, 0xff, 0xff]],
  ["extension 32", [0xc9, 0xff, 0xff, 0xff, 0xff, 0xff]],
  ["list of 15", [0x9f]],
  ["list 16", [0xdc, 0xff, 0xff]],
  ["list 32", [0xdd, 0xff, 0xff, 0xff, 0xff]],
  ["map of 15", [0x8f]],
  ["map 16", [0xde, 0xff, 0xff]],
  ["map 32", [0xdf, 0xff, 0xff, 0xff, 0xff]],
];

for (const [name, payload, found] of hostile) {
  Deno.test(`decode() refuses ${name}`, () => {
    const error = refusal(payload);
    assert.equal(error.code, "decode_failed");
    assert.match(error.message, found);
  });
}

for (const [name, head] of lying) {
  Deno.test(`decode() refuses a ${name} that is longer than the payload, before it allocates`, () => {
    assert.match(refusal(bytes(head, 0xc0)).message, /needs \d+ more bytes, \d+ are left/);
  });
}

Deno.test("decode() refuses a payload above 1 MiB without looking at it", () => {
  const error = refusal(filled(PAYLOAD_BYTES_MAX + 1, [0xc1]));
  assert.equal(error.code, "payload_too_large");
});

Deno.test("decode() refuses every hostile payload within 50 ms", () => {
  const payloads = [
    ...hostile.map(([, payload]) => payload),
    ...lying.map(([, head]) => bytes(head)),
  ];
  for (const payload of payloads) refusal(payload);
  for (const payload of payloads) {
    // The best of three: another process may have had the processor.
    const took = [1, 2, 3].map(() => {
      const start = performance.now();
      refusal(payload);
      return performance.now() - start;
    });
    assert(
      Math.min(...took) < HOSTILE_MS_MAX,
      `${Math.min(...took)} ms: ${refusal(payload).message}`,
    );
  }
});

Deno.test("decode() takes lists and maps 64 deep, and not 65", () => {
  const deep = (levels: number) => bytes(filled(levels, [0x91]), 1);
  assert.doesNotThrow(() => decode(deep(DECODE_DEPTH_MAX), "Probe"));
  assert.match(refusal(deep(DECODE_DEPTH_MAX + 1)).message, /nested/);
});

Deno.test("decode() takes as many values as the limit says, and not one more", () => {
  assert.doesNotThrow(() => decode(many(DECODE_ITEMS_MAX), "Probe"));
  assert.match(refusal(many(DECODE_ITEMS_MAX + 1)).message, /more than/);
});

Deno.test("decode() gives keys that name built-in members as plain data, and changes no prototype", () => {
  const value = { constructor: "a", prototype: { polluted: 1 }, toString: 2, hasOwnProperty: 3 };
  assert.deepEqual(decode(encode(value), "Probe"), value);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
});

Deno.test("decode() keeps a leading byte order mark in texts and keys of every length", () => {
  for (const length of [0, 1, 13, 28, 29, 196, 197, 198, 199, 250, 253, 65_532, 65_533, 100_000]) {
    const text = MARK + "x".repeat(length);
    const value = { [text]: [text, "", text], last: MARK + text };
    assert.deepEqual(decode(encode(value), "Probe"), value, `${length}`);
  }
});

Deno.test("decode() tells two long keys apart that differ by a byte order mark only", () => {
  const key = "k".repeat(300);
  assert.deepEqual(decode(encode({ [key]: 1, [MARK + key]: 2 }), "Probe"), {
    [key]: 1,
    [MARK + key]: 2,
  });
});

const integers: [value: bigint, hex: string][] = [
  [0n, "00"],
  [127n, "7f"],
  [128n, "cc80"],
  [256n, "cd0100"],
  [65_536n, "ce00010000"],
  [2n ** 32n - 1n, "ceffffffff"],
  [2n ** 32n, "cf0000000100000000"],
  [2n ** 53n - 1n, "cf001fffffffffffff"],
  [2n ** 53n, "cf0020000000000000"],
  [2n ** 60n + 1n, "cf1000000000000001"],
  [2n ** 64n - 1n, "cfffffffffffffffff"],
  [-1n, "ff"],
  [-33n, "d0df"],
  [-129n, "d1ff7f"],
  [-(2n ** 31n), "d280000000"],
  [-(2n ** 31n) - 1n, "d3ffffffff7fffffff"],
  [-(2n ** 63n), "d38000000000000000"],
];

for (const [value, hex] of integers) {
  Deno.test(`encode() writes ${value} in its one form, and decode() loses nothing of it`, () => {
    assert.equal(encode(value).toHex(), hex);
    const number = Number(value);
    if (Number.isSafeInteger(number)) {
      assert.equal(encode(number).toHex(), hex);
      assert.equal(decode(encode(value), "Probe"), number);
    } else {
      assert.equal(decode(encode(value), "Probe"), value);
    }
  });
}

Deno.test("decode() makes numbers of small integers in 64-bit formats, also deep inside", () => {
  const wide = bytes(0xd3, 0, 0, 0, 0, 0, 0, 0, 5);
  assert.deepEqual(decode(bytes(0x92, wide, 0x81, KEY_A, wide), "Probe"), [5, { a: 5 }]);
});

Deno.test("encode() writes equal maps as equal bytes and leaves undefined keys out", () => {
  assert.equal(
    encode({ b: 1, a: { d: undefined, c: 2 } }).toHex(),
    encode({ a: { c: 2n }, b: 1n, e: undefined }).toHex(),
  );
  assert.equal(encode({ a: undefined }).toHex(), "80");
});

const times: [iso: string, hex: string][] = [
  ["1970-01-01T00:00:00.000Z", "d6ff00000000"],
  ["2017-10-10T04:00:47.000Z", "d6ff59dc45ef"],
  ["2017-10-10T04:00:47.250Z", "d7ff3b9aca0059dc45ef"],
  ["0001-01-01T00:00:00.000Z", "c70cff00000000fffffff1886e0900"],
];

for (const [iso, hex] of times) {
  Deno.test(`encode() writes ${iso} as a timestamp that decode() reads`, () => {
    assert.equal(encode(new Date(iso)).toHex(), hex);
    assert.deepEqual(decode(Uint8Array.fromHex(hex), "Probe"), new Date(iso));
  });
}

function cycle(): unknown {
  const list: unknown[] = [];
  list.push(list);
  return list;
}

const unencodable: [name: string, value: unknown, code: "encode_failed" | "payload_too_large"][] = [
  ["a function", () => 1, "encode_failed"],
  ["a symbol", Symbol("x"), "encode_failed"],
  ["a Map, which the library would write as an empty map", new Map([["a", 1]]), "encode_failed"],
  ["an invalid date", new Date(Number.NaN), "encode_failed"],
  ["an integer beyond 64 bits", 2n ** 64n, "encode_failed"],
  ["a negative integer beyond 64 bits", -(2n ** 63n) - 1n, "encode_failed"],
  ["half of a surrogate pair", { a: "\ud800" }, "encode_failed"],
  ["the key __proto__", JSON.parse('{"__proto__":1}'), "encode_failed"],
  ["a value that contains itself", cycle(), "encode_failed"],
  ["a text beyond the limit", "x".repeat(PAYLOAD_BYTES_MAX + 1), "payload_too_large"],
  [
    "a text that is beyond the limit in UTF-8 only",
    "é".repeat(PAYLOAD_BYTES_MAX / 2),
    "payload_too_large",
  ],
];

for (const [name, value, code] of unencodable) {
  Deno.test(`encode() refuses ${name}`, () => {
    assert.throws(() => encode(value, "Probe"), (error) => isZesterError(error, code));
  });
}

const scalar = fc.oneof(
  fc.string({ unit: "binary" }).filter((text) => text.isWellFormed()),
  fc.double({ noNaN: true }).filter((value) => !Object.is(value, -0)),
  fc.maxSafeInteger(),
  fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n - 1n }),
  fc.bigInt({ min: -(2n ** 63n), max: -(2n ** 53n) }),
  fc.boolean(),
  fc.constant(null),
  fc.uint8Array(),
  fc.date({ noInvalidDate: true, min: new Date(-8e15), max: new Date(8e15) }),
);
const anyValue = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 5 }, scalar, fc.array(tie("value")), tie("map")),
  map: fc.dictionary(fc.string().filter((key) => key !== "__proto__"), tie("value"), {
    noNullPrototype: true,
  }),
})).value;

Deno.test("decode(encode(x)) is x", () => {
  fc.assert(fc.property(anyValue, (value) => {
    assert.deepEqual(decode(encode(value), "Probe"), value);
  }));
});

Deno.test("encode() writes what the library writes, byte for byte", () => {
  const library = new Encoder({ useBigInt64: true, sortKeys: true });
  fc.assert(
    fc.property(anyValue, (value) => {
      assert.equal(encode(value).toHex(), library.encode(asLibraryWants(value)).toHex());
    }),
    { numRuns: 2_000 },
  );
});

/** The library writes an integer of 64 bits only from a bigint, and a small bigint with 64 bits. */
function asLibraryWants(value: unknown): unknown {
  if (typeof value === "number") {
    const isWide = Number.isSafeInteger(value) && (value < -(2 ** 31) || value >= 2 ** 32);
    return isWide ? BigInt(value) : value;
  }
  if (Array.isArray(value)) return value.map(asLibraryWants);
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, asLibraryWants(item)]),
  );
}

Deno.test("encode() writes texts, bytes, lists and maps of every length class as the library does", () => {
  const library = new Encoder({ sortKeys: true });
  for (const length of [0, 15, 16, 31, 32, 63, 64, 65, 255, 256, 65_535, 65_536]) {
    const list = Array.from({ length }, (_, at) => at % 200);
    const values = {
      text: "x".repeat(length),
      late: "x".repeat(Math.max(0, length - 1)) + "é",
      bytes: new Uint8Array(length).fill(7),
      list,
      map: Object.fromEntries(list.map((item, at) => [`k${at}`, item])),
    };
    for (const [name, value] of Object.entries(values)) {
      assert.deepEqual(encode(value), library.encode(value), `${name} of ${length}`);
    }
  }
});

Deno.test("encode() may be called from a getter of what is being encoded", () => {
  const value = {
    a: "first",
    get b() {
      return encode({ c: "x".repeat(5_000) });
    },
    d: "last",
  };
  const decoded = decode(encode(value), "Probe") as { a: string; b: Uint8Array; d: string };
  assert.deepEqual([decoded.a, decoded.d], ["first", "last"]);
  assert.deepEqual(decode(decoded.b, "Probe"), { c: "x".repeat(5_000) });
});

Deno.test("encode() works as before after it has refused something", () => {
  for (const [, value] of unencodable) assert.throws(() => encode(["begun", value], "Probe"));
  assert.equal(encode({ a: 1 }).toHex(), "81a16101");
});

Deno.test("decode() agrees with the library on what another encoder wrote", () => {
  const foreign = fc.jsonValue({ maxDepth: 4 });
  fc.assert(fc.property(foreign, (value) => {
    const payload = libraryEncode(value);
    if (!payload.toHex().includes("5f5f70726f746f5f5f")) {
      assert.deepEqual(decode(payload, "Probe"), libraryDecode(payload));
    }
  }));
});

Deno.test("decode() refuses a payload that is cut off, at every byte", () => {
  const whole = encode({
    text: "é",
    long: "x".repeat(40),
    list: [1, 300, 70_000, 2 ** 40, -1, 1.5, null, true],
    time: new Date(1_500_000_000_250),
    bytes: new Uint8Array(5),
  });
  for (let length = 0; length < whole.length; length++) {
    assert.equal(refusal(whole.subarray(0, length)).code, "decode_failed", `${length}`);
  }
});

Deno.test("decode() answers any bytes with a value or a ZesterError", () => {
  const payload = fc.oneof(
    fc.uint8Array({ maxLength: 200 }),
    // Mostly heads of lists, maps and texts, which get further than plain chance.
    fc.array(fc.integer({ min: 0x80, max: 0xdf }), { maxLength: 200 }).map((list) => bytes(list)),
  );
  fc.assert(
    fc.property(payload, (data) => {
      try {
        decode(data, "Probe");
      } catch (error) {
        assert(isZesterError(error, "decode_failed"), `${error}`);
      }
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("decode() answers a valid payload with one changed byte with a value or a ZesterError", () => {
  fc.assert(
    fc.property(anyValue, fc.nat(), fc.integer({ min: 1, max: 255 }), (value, place, change) => {
      const payload = encode(value);
      const at = place % payload.length;
      payload[at] = payload[at]! ^ change;
      try {
        decode(payload, "Probe");
      } catch (error) {
        assert(isZesterError(error, "decode_failed"), `${error}`);
      }
    }),
    { numRuns: 2_000 },
  );
});

Deno.test("decode() reads a view into a larger buffer from where the view begins", () => {
  const payload = encode({ time: new Date(250), wide: 2n ** 60n });
  const larger = bytes(0xff, 0xff, payload, 0xff);
  assert.deepEqual(decode(larger.subarray(2, 2 + payload.length), "Probe"), {
    time: new Date(250),
    wide: 2n ** 60n,
  });
});
