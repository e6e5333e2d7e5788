import assert from "node:assert/strict";
import type { Grant } from "../../core/module/grant.ts";
import { DEFAULT_POLICY, type Policy, policyRefusal, readPolicy } from "./policy.ts";

const policy: Policy = {
  allow: {
    "file.*": { read: ["**"], write: ["/etc/**", "/srv/**"] },
    "cmd.*": { run: ["/bin/sh -c *"] },
  },
  deny: { "*": { write: ["/etc/shadow", "/srv/keys/**"] }, "cmd.run": { run: ["*rm -rf*"] } },
};

const rows: [name: string, module: string, grant: Grant, wanted: RegExp | null][] = [
  ["lets pass what is allowed", "file.managed", { write: ["/etc/motd"] }, null],
  ["denies what no row allows", "file.managed", { write: ["/usr/bin/x"] }, /allowed by no row/],
  [
    "denies what is denied",
    "file.managed",
    { write: ["/etc/shadow"] },
    /denied by the row \*: write "\/etc\/shadow"/,
  ],
  ["denies a tree that holds what is denied", "file.recurse", { write: ["/etc/**"] }, /denied/],
  ["denies a tree above a denied tree", "file.recurse", { write: ["/srv/**"] }, /denied/],
  ["denies a tree inside a denied tree", "file.recurse", { write: ["/srv/keys/a/**"] }, /denied/],
  ["lets a tree beside pass", "file.recurse", { write: ["/srv/www/**"] }, null],
  ["keeps to the module of the row", "pkg.installed", { run: [["/bin/sh", "-c", "x"]] }, /no row/],
  ["lets the module of the row pass", "cmd.run", { run: [["/bin/sh", "-c", "ls"]] }, null],
  ["denies a command by its text", "cmd.run", { run: [["/bin/sh", "-c", "rm -rf /"]] }, /denied/],
  ["needs every thing to be allowed", "file.managed", { read: ["/x"], write: ["/x"] }, /write \/x/],
];

for (const [name, module, grant, wanted] of rows) {
  Deno.test(`policyRefusal() ${name}`, () => {
    const why = policyRefusal(policy, module, grant);
    if (wanted === null) assert.equal(why, null);
    else assert.match(why ?? "", wanted);
  });
}

Deno.test("policyRefusal() denies a program whose granted beginning leaves room for what is denied", () => {
  const denies: Policy = { deny: { "*": { run: ["systemctl stop sshd"] } } };
  assert.notEqual(policyRefusal(denies, "x.y", { run: [["systemctl", "stop"]] }), null);
  assert.equal(policyRefusal(denies, "x.y", { run: [["systemctl", "start"]] }), null);
});

const implied: [name: string, deny: Policy["deny"], grant: Grant, isDenied: boolean][] = [
  ["a write where reading is denied", { "*": { read: ["/x"] } }, { write: ["/x"] }, true],
  ["a probe where running is denied", { "*": { run: ["sh*"] } }, { probe: [["sh"]] }, true],
  ["a read where writing is denied", { "*": { write: ["/x"] } }, { read: ["/x"] }, false],
  ["the root where a file is denied", { "*": { read: ["/x/y"] } }, { write: ["/**"] }, true],
  ["a variable that is denied", { "*": { env: ["LD_*"] } }, { env: ["LD_PRELOAD"] }, true],
];
for (const [name, deny, grant, isDenied] of implied) {
  Deno.test(`policyRefusal() ${isDenied ? "denies" : "lets pass"} ${name}`, () => {
    assert.equal(policyRefusal({ deny: deny! }, "x.y", grant) !== null, isDenied);
  });
}

Deno.test("policyRefusal() without a policy leaves it to the grants", () => {
  assert.equal(policyRefusal(DEFAULT_POLICY, "cmd.run", { run: [["/bin/sh"]] }), null);
});

Deno.test("readPolicy() reads what the head of its file shows", async () => {
  const read = await readPolicy("p", 'allow:\n  "file.*": { read: ["**"], write: /etc/** }\n');
  assert.deepEqual(read, { allow: { "file.*": { read: ["**"], write: ["/etc/**"] } } });
});

const broken: [name: string, text: string, wanted: RegExp][] = [
  ["an unknown part", "allows: {}", /p:1: there is no part "allows"/],
  ["an unknown kind", 'deny: {"*": {wirte: [/x]}}', /no kind "wirte": did you mean write\?/],
  ["rows that are no map", "deny: [x]", /deny is not a map/],
  ["patterns that are no texts", 'deny: {"*": {run: [1]}}', /not a list of patterns/],
  ["broken YAML", "deny: {", /not valid YAML/],
];
for (const [name, text, wanted] of broken) {
  Deno.test(`readPolicy() refuses ${name}`, async () => {
    await assert.rejects(readPolicy("p", text), wanted);
  });
}
