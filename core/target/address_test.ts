import assert from "node:assert/strict";
import fc from "fast-check";
import { holds, parseAddress, parseSubnet } from "./address.ts";

const rows: [subnet: string, address: string, want: boolean][] = [
  ["10.0.0.0/8", "10.255.0.1", true],
  ["10.0.0.0/8", "11.0.0.1", false],
  ["10.1.2.3/8", "10.9.9.9", true],
  ["10.0.0.1", "10.0.0.1", true],
  ["10.0.0.1", "10.0.0.1/24", true],
  ["0.0.0.0/0", "255.255.255.255", true],
  ["0.0.0.0/0", "::1", false],
  ["::/0", "1.2.3.4", false],
  ["2001:db8::/32", "2001:db8:ffff::1", true],
  ["2001:db8::/32", "2001:db9::1", false],
  ["fe80::/10", "fe80::1%eth0", true],
  ["::ffff:10.0.0.0/104", "::ffff:10.9.9.9", true],
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1", true],
];
for (const [subnet, address, want] of rows) {
  Deno.test(`holds() is ${want} for ${subnet} and ${address}`, () => {
    assert.equal(holds(parseSubnet(subnet)!, parseAddress(address)!), want);
  });
}

const wrong = [
  ...[
    "",
    "10",
    "10.0.0",
    "10.0.0.0.0",
    "256.0.0.1",
    "01.0.0.1",
    "1e1.0.0.1",
    "10.0.0.1/",
    "10.0.0.1/33",
  ],
  ...[
    "10.0.0.1/8/8",
    "10.0.0.1/-1",
    ":",
    ":::",
    "1::2::3",
    "12345::",
    "1:2:3:4:5:6:7",
    "g::",
    "1.2.3.4::",
  ],
  ...[
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7::8",
    "::1/129",
    "::%eth0",
    "::1.2.3",
    "host",
    " 10.0.0.1",
  ],
];
for (const text of wrong) {
  Deno.test(`parseSubnet() refuses ${JSON.stringify(text)}`, () =>
    assert.equal(parseSubnet(text), null));
}

Deno.test("parseAddress() reads every address that fast-check writes", () => {
  fc.assert(fc.property(fc.ipV4(), (text) => parseAddress(text)?.family === 4));
  fc.assert(fc.property(fc.ipV6(), (text) => parseAddress(text)?.family === 6));
  fc.assert(fc.property(fc.string(), (text) => {
    parseAddress(text);
    parseSubnet(text);
  }));
});
