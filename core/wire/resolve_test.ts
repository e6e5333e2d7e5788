/** Pins the bytes of the messages about facts and targets: what was written once must be read for ever. */
import assert from "node:assert/strict";
import {
  compareAge,
  decodeFactsAnswer,
  decodeFactsRecord,
  encodeFactsAnswer,
  encodeFactsRecord,
} from "./facts.ts";
import {
  decodeResolveRequest,
  decodeResolveResponse,
  encodeResolveRequest,
  encodeResolveResponse,
} from "./resolve.ts";

interface Pinned {
  readonly name: string;
  readonly value: object;
  readonly hex: string;
  encode(): Uint8Array;
  decode(bytes: Uint8Array): object;
}

function pinned<T extends object>(
  name: string,
  [encode, decode]: [encode: (value: T) => Uint8Array, decode: (bytes: Uint8Array) => T],
  value: T,
  hex: string,
): Pinned {
  return { name, value, hex, encode: () => encode(value), decode };
}

const MASTER = "master-0ujzPyRiIAffKhBux4PvQdDqMHY";

const rows: Pinned[] = [
  pinned(
    "a FactsRecord",
    [encodeFactsRecord, decodeFactsRecord],
    {
      v: 1,
      peelId: "web-01",
      boot: 2n ** 60n + 1n,
      sequence: 3n,
      facts: { os: "ubuntu", cpus: 4 },
      master: MASTER,
      storedMs: 1_507_608_047_000,
    },
    "87a4626f6f74cf1000000000000001a5666163747382a46370757304a26f73a67562756e7475a66d6173" +
      "746572d9226d61737465722d30756a7a50795269494166664b68427578345076516444714d4859a77065" +
      "656c5f6964a67765622d3031a873657175656e636503a673746f726564d6ff59dc45efa17601",
  ),
  pinned("a FactsAnswer", [encodeFactsAnswer, decodeFactsAnswer], {
    v: 1,
    boot: 5n,
    sequence: 3n,
    refused: "too large",
  }, "84a4626f6f7405a772656675736564a9746f6f206c61726765a873657175656e636503a17601"),
  pinned(
    "a ResolveRequest",
    [encodeResolveRequest, decodeResolveRequest],
    {
      v: 1,
      expr: "web*",
      wantFacts: true,
      wantWhy: true,
      after: "web-01",
    },
    "85a56166746572a67765622d3031a465787072a47765622aa17601aa77616e745f6661637473c3a87761" +
      "6e745f776879c3",
  ),
  pinned(
    "a ResolveResponse",
    [encodeResolveResponse, decodeResolveResponse],
    {
      v: 1,
      peels: ["web-01"],
      total: 2,
      more: true,
      facts: { "web-01": { os: "ubuntu" } },
      why: [{ peelId: "web-01", reasons: [{ term: "G@os:ubuntu", found: "os is ubuntu" }] }],
    },
    "86a5666163747381a67765622d303181a26f73a67562756e7475a46d6f7265c3a57065656c7391a67765" +
      "622d3031a5746f74616c02a17601a37768799182a77065656c5f6964a67765622d3031a7726561736f6e" +
      "739182a5666f756e64ac6f73206973207562756e7475a47465726dab47406f733a7562756e7475",
  ),
  pinned(
    "a ResolveResponse with an error",
    [encodeResolveResponse, decodeResolveResponse],
    {
      v: 1,
      peels: [],
      total: 0,
      why: [],
      code: "bad_target",
      err: "target: x",
      fix: "y",
    },
    "85a4636f6465aa6261645f746172676574a3657272a97461726765743a2078a3666978a179a5746f7461" +
      "6c00a17601",
  ),
];

for (const { name, value, hex, encode, decode } of rows) {
  Deno.test(`the codec of ${name} writes and reads the bytes it always did`, () => {
    assert.equal(encode().toHex(), hex);
    assert.deepEqual(decode(Uint8Array.fromHex(hex)), value);
  });
}

Deno.test("compareAge() looks at the boot first, then at the sequence", () => {
  const age = (boot: number, sequence: number) => ({
    boot: BigInt(boot),
    sequence: BigInt(sequence),
  });
  assert.equal(compareAge(age(2, 1), age(1, 9)), 1);
  assert.equal(compareAge(age(1, 1), age(1, 2)), -1);
  assert.equal(compareAge(age(1, 2), age(1, 2)), 0);
});
