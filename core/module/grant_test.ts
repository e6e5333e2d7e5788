import assert from "node:assert/strict";
import {
  type Grant,
  grantRows,
  isPlainPath,
  lookingPart,
  type Need,
  refusal,
  unionOf,
} from "./grant.ts";

const grant: Grant = {
  read: ["/etc/hosts"],
  write: ["/srv/www", "/srv/www/**"],
  probe: [["dpkg-query", "-W"]],
  run: [["systemctl", "restart", "nginx"]],
  env: ["DEPLOY_TO"],
  net: ["example.org:443"],
  peel: ["event"],
};

const needs: [name: string, need: Need, isGranted: boolean][] = [
  ["an exact path", { kind: "read", what: "/etc/hosts" }, true],
  ["what lies below an exact path", { kind: "read", what: "/etc/hosts/x" }, false],
  ["a longer name", { kind: "read", what: "/etc/hosts2" }, false],
  ["another file", { kind: "read", what: "/etc/shadow" }, false],
  ["a write of what may only be read", { kind: "write", what: "/etc/hosts" }, false],
  ["a read of what may be written", { kind: "read", what: "/srv/www/a/b" }, true],
  ["a write below a folder", { kind: "write", what: "/srv/www/a" }, true],
  ["a write beside a folder", { kind: "write", what: "/srv/www2" }, false],
  ["dots in a path", { kind: "write", what: "/srv/www/../../etc/shadow" }, false],
  ["a single dot", { kind: "write", what: "/srv/www/./a" }, false],
  ["a doubled slash", { kind: "write", what: "/srv/www//a" }, false],
  ["a relative path", { kind: "read", what: "etc/hosts" }, false],
  ["a NUL", { kind: "read", what: "/etc/hosts\0" }, false],
  ["a program that looks", { kind: "run", program: ["dpkg-query", "-W", "nginx"] }, true],
  ["a program with another argument", { kind: "run", program: ["dpkg-query", "-s"] }, false],
  ["a program by another name", { kind: "run", program: ["/tmp/dpkg-query", "-W"] }, false],
  ["a program with too few arguments", { kind: "run", program: ["systemctl", "restart"] }, false],
  ["a granted host", { kind: "net", what: "example.org:443" }, true],
  ["another port", { kind: "net", what: "example.org:80" }, false],
  ["a granted service", { kind: "peel", what: "event" }, true],
  ["a service that was not granted", { kind: "peel", what: "settings" }, false],
  ["a harmless variable", { kind: "env", what: "LC_ALL" }, true],
  ["a granted variable", { kind: "env", what: "DEPLOY_TO" }, true],
  ["a variable that names programs", { kind: "env", what: "PATH" }, false],
  ["a variable that only begins harmlessly", { kind: "env", what: "LANG_X" }, false],
  ["a signal", { kind: "signal", what: "1" }, false],
];

for (const [name, need, isGranted] of needs) {
  Deno.test(`refusal() ${isGranted ? "lets pass" : "stops"} ${name}`, () => {
    const why = refusal(grant, need);
    if (isGranted) assert.equal(why, null);
    else assert.match(why ?? "", /not granted|not an absolute path/);
  });
}

const treePaths: [path: string, isGranted: boolean][] = [
  ["motd", true],
  ["nginx/conf.d/a.conf", true],
  ["nginx", false],
  ["nginx2/a", false],
  ["nginx/../secret", false],
  ["/nginx/a", false],
  ["", false],
];

for (const [path, isGranted] of treePaths) {
  Deno.test(`refusal() ${isGranted ? "lets pass" : "stops"} ${JSON.stringify(path)} of the state tree`, () => {
    const why = refusal({ tree: ["motd", "nginx/**"] }, { kind: "tree", what: path });
    assert.equal(why === null, isGranted);
  });
}

Deno.test("refusal() of an empty grant stops everything", () => {
  for (const [name, need] of needs) {
    if (name !== "a harmless variable") assert.notEqual(refusal({}, need), null);
  }
});

Deno.test("lookingPart() keeps reads, probes and their variables only", () => {
  assert.deepEqual(Object.keys(lookingPart(grant)).sort(), ["env", "probe", "read"]);
});

Deno.test("lookingPart() lets a look read what may be written", () => {
  const looking = lookingPart({ write: ["/etc/motd", "/srv/**"] });
  assert.equal(refusal(looking, { kind: "read", what: "/etc/motd" }), null);
  assert.notEqual(refusal(looking, { kind: "write", what: "/etc/motd" }), null);
});

Deno.test("unionOf() holds each thing once", () => {
  assert.deepEqual(unionOf([grant, { read: ["/etc/hosts", "/etc/motd"] }, {}]), {
    ...grant,
    read: ["/etc/hosts", "/etc/motd"],
  });
});

Deno.test("grantRows() spells programs so that their arguments can be told apart", () => {
  assert.deepEqual(grantRows({ run: [["/bin/sh", "-c", "echo a b"]] }), [
    { kind: "run", what: '/bin/sh -c "echo a b"' },
  ]);
});

Deno.test("isPlainPath() takes the root", () => assert.ok(isPlainPath("/")));
