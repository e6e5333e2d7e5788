import assert from "node:assert/strict";
import { buckets } from "./buckets.ts";
import { crossings, type Grants, grantsFor, keyListOf } from "./grants.ts";
import type { Role } from "./subjects.ts";

/** NATS matching of one subject against a pattern. */
function covers(pattern: string, subject: string): boolean {
  const wanted = pattern.split(".");
  const given = subject.split(".");
  for (const [at, token] of wanted.entries()) {
    if (token === ">") return given.length > at;
    if (given[at] === undefined || (token !== "*" && token !== given[at])) return false;
  }
  return wanted.length === given.length;
}

function may(grants: Grants, direction: "publish" | "subscribe", subject: string): boolean {
  const { allow, deny } = grants[direction];
  const hit = (patterns: readonly string[]) => patterns.some((pattern) => covers(pattern, subject));
  return hit(allow) && !hit(deny);
}

const peel = grantsFor("peel", "web-01");
const rows: [direction: "publish" | "subscribe", subject: string, allowed: boolean][] = [
  ["publish", "zester.event.web-01.send.a", true],
  ["publish", "zester.fact.web-01", true],
  ["publish", "zester.heartbeat.web-01", true],
  ["publish", "zester.job.j.return.web-01", true],
  ["publish", "$JS.API.DIRECT.GET.KV_secrets.$KV.secrets.web-01", true],
  ["publish", "$JS.API.DIRECT.GET.KV_state-files.$KV.state-files.b.abc", true],
  ["subscribe", "zester.cmd.web-01", true],
  ["subscribe", "zester.notice.states", true],
  ["subscribe", "_INBOX.peel.web-01.x", true],
  ["publish", "zester.event.web-02.send.a", false],
  ["publish", "zester.event._master.a", false],
  ["publish", "zester.fact.web-02", false],
  ["publish", "zester.job.j.return.web-02", false],
  ["publish", "zester.dispatch.alice", false],
  ["publish", "zester.cmd.web-02", false],
  ["publish", "zester.cmd.web-01", false],
  ["publish", "$JS.API.DIRECT.GET.KV_secrets.$KV.secrets.web-02", false],
  ["publish", "$JS.API.DIRECT.GET.KV_secrets.$KV.secrets.>", false],
  ["publish", "$JS.API.DIRECT.GET.KV_secrets", false],
  ["publish", "$JS.API.DIRECT.GET.KV_facts.$KV.facts.web-01", false],
  ["publish", "$JS.API.STREAM.MSG.GET.KV_secrets", false],
  ["publish", "$JS.API.STREAM.CREATE.mirror", false],
  ["publish", "$JS.API.STREAM.PURGE.KV_state-files", false],
  ["publish", "$JS.API.STREAM.SNAPSHOT.KV_secrets", false],
  ["publish", "$JS.API.STREAM.INFO.KV_secrets", false],
  ["publish", "$JS.API.CONSUMER.CREATE.KV_state-files", false],
  ["publish", "$JS.API.CONSUMER.CREATE.KV_state-files.x.$KV.state-files.>", false],
  ["publish", "$JS.API.CONSUMER.DURABLE.CREATE.events.reactor", false],
  ["publish", "$JS.API.INFO", false],
  ["publish", "$JS.ACK.events.reactor.1.1.1.1.0", false],
  ["publish", "$KV.facts.web-01", false],
  ["publish", "$KV.jobs.x", false],
  ["publish", "$SYS.REQ.SERVER.PING", false],
  ["publish", "_INBOX.operator.alice.x", false],
  ["publish", "_INBOX.direct.alice.x", true],
  ["subscribe", "_INBOX.direct.alice.x", false],
  ["subscribe", "_INBOX.operator.alice.x", false],
  ["subscribe", "_INBOX.peel.web-02.x", false],
  ["subscribe", "zester.cmd.web-02", false],
  ["subscribe", "zester.job.j.return.web-02", false],
  ["subscribe", "zester.event.web-01.send.a", false],
  ["subscribe", "zester.dispatch.alice", false],
  ["subscribe", "$KV.secrets.web-01", false],
  ["subscribe", "$SYS.ACCOUNT.x.CONNECT", false],
];
for (const [direction, subject, allowed] of rows) {
  Deno.test(`grantsFor() lets a peel ${allowed ? "" : "not "}${direction} ${subject}`, () => {
    assert.equal(may(peel, direction, subject), allowed);
  });
}

const clients: [Role, string][] = [["peel", "a"], ["operator", "b"], ["direct", "c"]];

Deno.test("grantsFor() lets peels be commanded by whoever has direct mode, and not by an operator who has not", () => {
  assert.ok(may(grantsFor("direct", "alice"), "publish", "zester.cmd.web-01"));
  assert.ok(!may(grantsFor("direct", "alice"), "publish", "zester.dispatch.alice"));
  assert.ok(!may(grantsFor("direct", "alice"), "subscribe", "_INBOX.operator.alice.x"));
  assert.ok(!may(grantsFor("operator", "alice"), "publish", "zester.cmd.web-01"));
});

Deno.test("grantsFor() carries its policy in the allow lists: no deny takes away what is allowed to clients", () => {
  for (const [role, identity] of clients) {
    const { publish, subscribe } = grantsFor(role, identity);
    for (const { allow, deny } of [publish, subscribe]) {
      for (const pattern of allow) {
        const sample = pattern.replaceAll("*", "x").replaceAll(">", "x");
        assert.ok(
          !deny.some((denied) => covers(denied, sample)),
          `${role}: ${pattern} is denied again`,
        );
      }
    }
  }
});

Deno.test("grantsFor() lets no client write a bucket that it may read back", () => {
  for (const [role, identity] of clients) {
    const grants = grantsFor(role, identity);
    for (const { name } of Object.values(buckets)) {
      assert.ok(!may(grants, "publish", `$KV.${name}.x`));
    }
  }
});

Deno.test("grantsFor() keeps a running master from administering streams and taking over durables", () => {
  const master = grantsFor("master", "m1");
  for (
    const subject of [
      "$JS.API.STREAM.CREATE.x",
      "$JS.API.STREAM.DELETE.events",
      "$JS.API.STREAM.PURGE.events",
      "$JS.API.STREAM.UPDATE.events",
      "$JS.API.CONSUMER.DURABLE.CREATE.events.reactor",
      "$JS.API.CONSUMER.CREATE.events.reactor",
      "$SYS.REQ.SERVER.PING",
    ]
  ) assert.ok(!may(master, "publish", subject), subject);
  assert.ok(may(master, "publish", "$KV.jobs.x"));
  assert.ok(may(master, "publish", "zester.cmd.web-01"));
  assert.ok(may(master, "subscribe", "zester.dispatch.alice"));
  assert.ok(!may(master, "subscribe", "_INBOX.master.m2.x"));
});

Deno.test("grantsFor() lets operators ask which peels there are, of no other stream anything, and peels not even that", () => {
  const { asked, crossed } = keyListOf(buckets.enrollments.name);
  for (const role of ["operator", "direct"] as const) {
    const grants = grantsFor(role, "alice");
    for (const subject of [asked, crossed]) assert.ok(may(grants, "publish", subject), subject);
    for (const { name } of Object.values(buckets).filter((each) => each !== buckets.enrollments)) {
      for (const subject of Object.values(keyListOf(name))) {
        assert.ok(!may(grants, "publish", subject), subject);
      }
    }
  }
  for (const subject of [asked, crossed]) {
    assert.ok(!may(grantsFor("peel", "web-01"), "publish", subject));
  }
});

Deno.test("crossings() carries no command from clients to masters, and no inbox of direct mode", () => {
  const { asked, said, heard, lists } = crossings();
  const outward = [...asked, ...said, ...lists.map(({ asked }) => asked)];
  assert.ok(!outward.some((pattern) => covers(pattern, "zester.cmd.web-01")));
  assert.ok(heard.some((pattern) => covers(pattern, "zester.cmd.web-01")));
  assert.ok(![...outward, ...heard].some((pattern) => covers(pattern, "_INBOX.direct.dora.x")));
});
