import assert from "node:assert/strict";
import { withName, withoutName } from "./_hosts.ts";

const TEXT =
  "# hosts\n127.0.0.1\tlocalhost\n10.0.0.1 db db.example # the database\n\n::1 ip6-localhost\n";

const added: [name: string, ip: string, want: string][] = [
  ["db", "10.0.0.1", TEXT],
  ["web", "10.0.0.2", `${TEXT}10.0.0.2\tweb\n`],
  ["cache", "10.0.0.1", TEXT.replace("10.0.0.1 db db.example", "10.0.0.1\tdb db.example cache")],
  [
    "db",
    "10.0.0.9",
    `${TEXT.replace("10.0.0.1 db db.example", "10.0.0.1\tdb.example")}10.0.0.9\tdb\n`,
  ],
  ["localhost", "10.0.0.9", `${TEXT.replace("127.0.0.1\tlocalhost\n", "")}10.0.0.9\tlocalhost\n`],
];
for (const [name, ip, want] of added) {
  Deno.test(`withName() maps ${name} to ${ip}, and converges`, () => {
    assert.equal(withName(TEXT, name, ip), want);
    assert.equal(withName(want, name, ip), want);
  });
}

Deno.test("withName() begins an empty file and mends a missing line end", () => {
  assert.equal(withName("", "a", "1.2.3.4"), "1.2.3.4\ta\n");
  assert.equal(withName("1.1.1.1 x", "a", "1.2.3.4"), "1.1.1.1 x\n1.2.3.4\ta\n");
});

Deno.test("withoutName() takes a name out everywhere and leaves the rest alone", () => {
  assert.equal(withoutName(TEXT, "localhost"), TEXT.replace("127.0.0.1\tlocalhost\n", ""));
  assert.equal(withoutName(TEXT, "nobody"), TEXT);
});
