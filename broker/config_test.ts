import assert from "node:assert/strict";
import { parseConfig } from "./config.ts";

const GOOD = {
  listen: "127.0.0.1:4222",
  store: null,
  users: [{ user: "a", password: "hunter2", permissions: { publish: { allow: ["x.>"] } } }],
};

Deno.test("parseConfig() reads a full configuration", () => {
  const text = JSON.stringify({ ...GOOD, store: "/var/x", server_name: "n1" });
  assert.deepEqual(parseConfig(text, "f"), {
    listen: { hostname: "127.0.0.1", port: 4222 },
    store: "/var/x",
    users: GOOD.users,
    serverName: "n1",
  });
});

const addresses: [listen: string, want: { hostname: string; port: number } | null][] = [
  ["localhost:0", { hostname: "localhost", port: 0 }],
  ["[::1]:4222", { hostname: "::1", port: 4222 }],
  ["127.0.0.1", null],
  [":4222", null],
  ["::1:4222", null],
  ["localhost:65536", null],
  ["a b:1", null],
];

for (const [listen, want] of addresses) {
  Deno.test(`parseConfig() ${want === null ? "refuses" : "takes"} the address "${listen}"`, () => {
    const parse = () => parseConfig(JSON.stringify({ ...GOOD, listen }), "f").listen;
    if (want === null) assert.throws(parse, { code: "config_invalid" });
    else assert.deepEqual(parse(), want);
  });
}

const refused: [name: string, text: string, says: RegExp][] = [
  ["what is not JSON", '{"users":[{"password":"hunter2"', /not valid JSON/],
  ["a snippet of a secret", '{"password":hunter2}', /not valid JSON/],
  ["a missing key", JSON.stringify({ ...GOOD, store: undefined }), /store/],
  ["an unknown key", JSON.stringify({ ...GOOD, tls: true }), /tls/],
  ["a bad type", JSON.stringify({ ...GOOD, users: "hunter2" }), /users/],
  ["a user twice", JSON.stringify({ ...GOOD, users: [...GOOD.users, ...GOOD.users] }), /twice/],
  [
    "a bad subject",
    JSON.stringify({
      ...GOOD,
      users: [{ user: "a", password: "hunter2", permissions: { publish: { allow: ["a..b"] } } }],
    }),
    /users\.0\.permissions\.publish\.allow\.0/,
  ],
];

for (const [name, text, says] of refused) {
  Deno.test(`parseConfig() refuses ${name}, names the place and quotes no secret`, () => {
    assert.throws(() => parseConfig(text, "broker.json"), (error: Error) => {
      assert.match(error.message, says);
      assert.match(error.message, /broker\.json/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
  });
}
