import assert from "node:assert/strict";
import { isZesterError } from "../core/errors.ts";
import {
  archiveSources,
  compareVersions,
  findNatsServer,
  isNewEnough,
  renderServerConfig,
} from "./nats_server.ts";

const DEB822 = `# made by the installer
Types: deb
# http://old.example/archive
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: http://mirror.example/debian-security
Suites: bookworm-security
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://docker.example/linux/debian
Suites: bookworm
Components: stable

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
`;

const ONE_LINERS = `# comment
deb-src http://a.example/debian bookworm main
deb [arch=amd64 signed-by=/k.gpg] http://a.example/debian/ bookworm main contrib # trailing
deb http://security.example/debian-security bookworm-security main
deb https://node.example/node_20.x nodistro main
deb http://b.example/debian trixie main
`;

const KEY_BLOCK = `Types: deb
URIs: mirror+file:/etc/apt/mirrors/debian.list
Suites: sid
Components: main non-free
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 abc
 -----END PGP PUBLIC KEY BLOCK-----
`;

const SOURCES: [name: string, file: string, text: string, uris: string[]][] = [
  ["the main archive of a .sources file only", "d.sources", DEB822, [
    "http://mirror.example/debian",
  ]],
  ["one-line entries of this release only", "s.list", ONE_LINERS, ["http://a.example/debian/"]],
  ["mirror lists", "k.sources", KEY_BLOCK, ["mirror+file:/etc/apt/mirrors/debian.list"]],
  ["nothing where there is nothing", "e.list", "", []],
];

for (const [name, path, text, uris] of SOURCES) {
  Deno.test(`archiveSources() takes ${name}`, () => {
    const found = archiveSources([{ path, text }], "bookworm");
    assert.deepEqual(found.map((each) => each.uri), uris);
  });
}

Deno.test("archiveSources() keeps who must have signed, key blocks included, and each archive once", () => {
  const files = [
    { path: "a.sources", text: DEB822 },
    { path: "b.sources", text: DEB822 },
    { path: "c.sources", text: KEY_BLOCK },
    { path: "d.list", text: ONE_LINERS },
  ];
  const keys = archiveSources(files, "bookworm").map((each) => each.signedBy);
  assert.equal(keys.length, 3);
  assert.equal(keys[0], "/usr/share/keyrings/debian-archive-keyring.gpg");
  assert.match(keys[1]!, /BEGIN PGP[^]* \.\n abc\n[^]*END PGP/);
  assert.equal(keys[2], "/k.gpg");
});

const VERSIONS: [left: string, right: string, want: number][] = [
  ["2.10.0", "2.9.25", 1],
  ["2.10.0", "2.10.0", 0],
  ["2.9.10", "2.10.0", -1],
  ["2.15.1-1", "2.15.1", 0],
  ["3.0.0", "2.99.99", 1],
];

for (const [left, right, want] of VERSIONS) {
  Deno.test(`compareVersions() of ${left} and ${right} is ${want}`, () => {
    assert.equal(compareVersions(left, right), want);
  });
}

Deno.test("isNewEnough() refuses what Debian 12 ships", () => {
  assert.equal(isNewEnough("2.9.10"), false);
  assert.equal(isNewEnough("2.10.27"), true);
});

const BASE = { listen: { host: "127.0.0.1", port: 4222 }, store: "/tmp/x", users: [] };

Deno.test("renderServerConfig() quotes what a password or a subject may hold", () => {
  const user = {
    user: "u",
    password: `p"\\$x`,
    permissions: { publish: { allow: ["$KV.b.>"], deny: ["a.*"] } },
  };
  const parsed = JSON.parse(renderServerConfig({ ...BASE, users: [user], syncAlways: true }));
  assert.deepEqual(parsed.authorization.users, [user]);
  assert.equal(parsed.jetstream.sync_interval, "always");
  assert.equal(parsed.cluster, undefined);
});

Deno.test("renderServerConfig() refuses what the server would read as something else", () => {
  for (const password of ["ä", "\u0001", "\u2028"]) {
    const users = [{ user: "u", password }];
    assert.throws(
      () => renderServerConfig({ ...BASE, users }),
      (error) => isZesterError(error, "config_invalid"),
    );
  }
});

Deno.test("findNatsServer() gives a server that is new enough, or says what to do", async () => {
  const found = await findNatsServer();
  if ("missing" in found) assert.match(found.missing, /install nats-server|NATS_SERVER_BIN/);
  else assert.ok(isNewEnough(found.version), found.version);
  assert.equal(await findNatsServer(), found);
});
