import assert from "node:assert/strict";
import { buckets, streams } from "../../core/buckets.ts";
import { cancelJob, query } from "../../core/client.ts";
import { isZesterError } from "../../core/errors.ts";
import { newKsuid } from "../../core/ids.ts";
import { ingest } from "../../core/ingress.ts";
import { voiceOf } from "../../core/outgoing.ts";
import { inboxPrefix, subjects } from "../../core/subjects.ts";
import { encodeMasterHeartbeat } from "../../core/wire/heartbeat.ts";
import { decodeJobEvent } from "../../core/wire/job_event.ts";
import { encodeQuery } from "../../core/wire/query.ts";
import { testSigner } from "../../tests/fakes/identities.ts";
import { seededRandom, settle } from "../../tests/fakes/manual_clock.ts";
import { type QueryLab, queryLab } from "../../tests/fakes/query_lab.ts";

const random = seededRandom(3);

/** Ids of jobs, one per second, oldest first. */
function jidsFrom(lab: QueryLab, many: number): string[] {
  return Array.from({ length: many }, () => {
    lab.clock.advance(1_000);
    return newKsuid(lab.clock.now(), random);
  });
}

async function withLab(
  peels: readonly string[],
  use: (lab: QueryLab) => Promise<void>,
  known: Parameters<typeof queryLab>[1] = {},
): Promise<void> {
  const lab = await queryLab(peels, known);
  try {
    await use(lab);
  } finally {
    await lab.service.stop();
  }
  assert.equal(lab.service.follows(), 0);
}

Deno.test("takeQueries() jobs: newest first, in pages, filtered", () =>
  withLab(["a"], async (lab) => {
    const jids = jidsFrom(lab, 5);
    for (const [at, jid] of jids.entries()) {
      const status = at === 1 ? "failed" : at === 3 ? "partial" : "complete";
      const user = at === 2 ? "bob" : "alice";
      const createdMs = lab.clock.now() - (4 - at) * 1_000;
      await lab.putJob({ jid, status, user, targets: ["a"], createdMs });
    }
    await lab.ports.jobs.index(jids[0]!, "m1");
    const ask = async (asked: Parameters<typeof query>[1]) => {
      const { jobs, next } = await query("jobs", asked, lab.client);
      return { at: jobs.map(({ job }) => jids.indexOf(job.jid)), next };
    };
    assert.deepEqual((await ask({})).at, [4, 3, 2, 1, 0], "the index is no job");
    const first = await ask({ limit: 2 });
    assert.deepEqual(first.at, [4, 3]);
    assert.deepEqual(await ask({ limit: 3, after: first.next }), {
      at: [2, 1, 0],
      next: undefined,
    });
    assert.deepEqual((await ask({ failed: true })).at, [3, 1]);
    assert.deepEqual((await ask({ user: "bob" })).at, [2]);
    assert.deepEqual((await ask({ function: "test.echo" })).at, []);
    assert.deepEqual((await ask({ sinceMs: lab.clock.now() - 1_000 })).at, [4, 3]);
  }));

Deno.test("takeQueries() jobs: names some targets and counts all, also those in chunks", () =>
  withLab([], async (lab) => {
    const [jid = ""] = jidsFrom(lab, 1);
    const targets = Array.from({ length: 7_000 }, (_, n) => `p${n}`);
    const targetChunks = await lab.ports.jobs.saveTargets(jid, targets);
    await lab.putJob({ jid, targetChunks });
    const [inline = ""] = jidsFrom(lab, 1);
    await lab.putJob({ jid: inline, targets: targets.slice(0, 300) });
    const { jobs } = await query("jobs", {}, lab.client);
    assert.deepEqual(jobs.map((row) => [row.targetCount, row.job.targets.length]), [
      [300, 100],
      [7_000, 0],
    ]);
  }));

Deno.test("takeQueries() job: each target with its return, late ones from the stream, and why others are silent", () =>
  withLab(["a", "b", "c", "d"], async (lab) => {
    const [jid = "", other = ""] = jidsFrom(lab, 2);
    const targets = ["a", "b", "c", "d"];
    await lab.putJob({ jid, targets, status: "partial", returnCount: 1, offlineAtDispatch: ["c"] });
    await lab.putReturn(jid, "a");
    lab.sayReturn(jid, "b"); // after the end: only the stream has it
    lab.sayAck(jid, "d");
    await lab.putJob({ jid: other, targets: ["d"], user: "bob", function: "state.apply" });
    await lab.ports.jobs.index(other, "m1");
    lab.sayAck(other, "d");
    const reply = await query("job", { jid: jid.slice(0, 20) }, lab.client);
    assert.equal(reply.jid, jid);
    assert.equal(reply.job?.status, "partial");
    assert.deepEqual(
      reply.targets.map(({ peel, return: given, late, acked, reason }) => [
        peel,
        given !== undefined,
        late,
        acked,
        reason,
      ]),
      [
        ["a", true, false, true, undefined],
        ["b", true, true, true, undefined],
        ["c", false, false, false, "offline at dispatch, not delivered"],
        ["d", false, false, true, `busy with job ${other} (bob, state.apply)`],
      ],
    );
  }));

Deno.test("takeQueries() job: pages stay below the largest payload, and one return that is too large is only described", () =>
  withLab([], async (lab) => {
    const [jid = ""] = jidsFrom(lab, 1);
    const targets = ["a", "b", "c", "d"];
    await lab.putJob({ jid, targets, status: "complete" });
    for (const [at, peelId] of targets.entries()) {
      const text = "x".repeat(at === 3 ? 900_000 : 400_000);
      const results = [
        { name: "cmd.run", changed: true, diff: "", durationMs: 1, details: { stdout: text } },
      ];
      const returnData = { peelId, jid, success: true, results };
      await lab.putReturn(jid, peelId, { returnData });
    }
    const pages: string[][] = [];
    let after: string | undefined;
    do {
      const asked = after === undefined ? { jid } : { jid, after };
      const { targets, next, job } = await query("job", asked, lab.client);
      assert.equal(job === undefined, after !== undefined, "the record comes with the first page");
      pages.push(targets.map(({ peel }) => peel));
      const large = targets.find(({ peel }) => peel === "d")?.return?.returnData?.results[0];
      if (large !== undefined) {
        assert.match(large.details["result"]!, /^too large to show: 9\d{5} bytes$/);
      }
      after = next;
    } while (after !== undefined);
    assert.deepEqual(pages, [["a"], ["b"], ["c", "d"]]);
  }));

Deno.test("takeQueries() active: what is in the index and has not ended", () =>
  withLab([], async (lab) => {
    const [running = "", ended = "", gone = ""] = jidsFrom(lab, 3);
    await lab.putJob({ jid: running });
    await lab.putJob({ jid: ended, status: "complete" });
    for (const jid of [running, ended, gone]) await lab.ports.jobs.index(jid, "m1");
    const { jobs } = await query("active", {}, lab.client);
    assert.deepEqual(jobs.map(({ job }) => job.jid), [running]);
  }));

Deno.test("takeQueries() peels and peel: presence, and os and arch where facts are known", () =>
  withLab(["db-01", "web-01"], async (lab) => {
    const { peels } = await query("peels", {}, lab.client);
    assert.deepEqual(
      peels.map(({ peel, presence, os, lastSeenMs }) => [peel, presence, os, lastSeenMs]),
      [["db-01", "offline", undefined, 5], ["web-01", "online", "debian", undefined]],
    );
    const page = await query("peels", { limit: 1 }, lab.client);
    assert.equal(page.next, "db-01");
    assert.deepEqual((await query("peel", { peel: "web-01" }, lab.client)).peels.length, 1);
    await assert.rejects(
      query("peel", { peel: "web-02" }, lab.client),
      (error) => isZesterError(error, "peel_unknown") && error.fix === "did you mean web-01?",
    );
  }, {
    seen: (peel) =>
      peel === "web-01" ? { presence: "online" } : { presence: "offline", lastSeenMs: 5 },
    facts: (peel) => peel === "web-01" ? { os: "debian", arch: 64 } : undefined,
  }));

Deno.test("takeQueries() masters: those with a heartbeat", () =>
  withLab([], async (lab) => {
    const [jid = ""] = jidsFrom(lab, 1);
    const heartbeats = lab.store.bucket(buckets.masterHeartbeat.name);
    const beat = encodeMasterHeartbeat({ masterId: "m7", activeJobs: [jid], timestampMs: 1_000 });
    await heartbeats.put("m7", beat);
    const { masters } = await query("masters", {}, lab.client);
    assert.deepEqual(masters, [
      { master: "m7", activeJobs: [jid], activeCount: 1, heartbeatMs: 1_000 },
    ]);
  }));

Deno.test("takeQueries() prefix: one job, none, or several, which are named", () =>
  withLab([], async (lab) => {
    const [old = "", recent = ""] = jidsFrom(lab, 2);
    for (const jid of [old, recent]) await lab.putJob({ jid });
    const ask = (jid: string) => query("prefix", { jid }, lab.client);
    const shared = [...old].findIndex((letter, at) => letter !== recent[at]);
    assert.equal((await ask(old.slice(0, shared + 1))).jid, old);
    await assert.rejects(
      ask(old.slice(0, shared)),
      (error) =>
        isZesterError(error, "job_ambiguous") &&
        error.message ===
          `2 jobs begin with ${old.slice(0, shared)}\n${recent}\n${old}`,
    );
    for (const wrong of ["", "zzz", "a b", "active."]) {
      await assert.rejects(ask(wrong), (error) => isZesterError(error, "job_unknown"), wrong);
    }
  }));

Deno.test("takeQueries() cancel: the wish is stored, then told to masters and peels under the fleet's key", () =>
  withLab(["a"], async (lab) => {
    const [jid = ""] = jidsFrom(lab, 1);
    await lab.putJob({ jid, targets: ["a"] });
    const { jid: found, status } = await cancelJob(jid.slice(0, 15), lab.client);
    assert.deepEqual([found, status], [jid, "running"]);
    assert.equal(await lab.ports.jobs.cancelRequested(jid), "alice");
    const told = await lab.store.stream(streams.jobEvents.name).lastOn(
      subjects.jobCancel.of({ jid }),
    );
    assert.ok(told);
    const { keyring } = lab.ports;
    const door = ingest(told, { rule: subjects.jobCancel, keyring, nowMs: lab.clock.now() });
    assert.ok(door.ok);
    assert.deepEqual(decodeJobEvent(door.payload).data, { by: "alice" });
  }));

Deno.test("takeQueries() cancel: a job that has ended stays as it is, and one that does not exist is an error", () =>
  withLab([], async (lab) => {
    const [ended = "", none = ""] = jidsFrom(lab, 2);
    await lab.putJob({ jid: ended, status: "complete" });
    assert.equal((await cancelJob(ended, lab.client)).status, "complete");
    assert.equal(await lab.ports.jobs.cancelRequested(ended), null);
    await assert.rejects(cancelJob(none, lab.client), (e) => isZesterError(e, "job_unknown"));
    assert.equal(await lab.ports.jobs.cancelRequested(none), null, "nothing is stored");
  }));

Deno.test("takeQueries() refuses what the role does not allow, and stores nothing", () =>
  withLab([], async (lab) => {
    const [jid = ""] = jidsFrom(lab, 1);
    await lab.putJob({ jid });
    const denied = (error: unknown) =>
      isZesterError(error, "permission_denied") && error.message === "no";
    await assert.rejects(query("jobs", {}, lab.client), denied);
    await assert.rejects(cancelJob(jid, lab.client), denied);
    assert.equal(await lab.ports.jobs.cancelRequested(jid), null);
  }, { authorizer: { decide: () => ({ allowed: false, why: "no" }) } }));

Deno.test("takeQueries() answers nobody who did not sign, and nowhere but in the operator's own inbox", () =>
  withLab([], async (lab) => {
    const { bus } = lab.client;
    const heard: string[] = [];
    const victim = `${inboxPrefix("operator", "bob")}.1`;
    lab.busOf("operator", "bob").subscribe(
      `${inboxPrefix("operator", "bob")}.>`,
      () => void heard.push("bob"),
    );
    const subject = subjects.query.of({ operator: "alice", query: "jobs" });
    const payload = encodeQuery({});
    const forger = voiceOf({ signer: testSigner("web-01"), generation: 1 }, bus, lab.clock);
    const attacks: [reason: string, send: () => void][] = [
      ["unsigned", () => bus.publish(subject, payload, { reply: bus.inbox() })],
      ["unknown_key", () => forger.say(subjects.query, subject, payload, { reply: bus.inbox() })],
      [
        "misaddressed",
        () => lab.client.voice.say(subjects.query, subject, payload, { reply: victim }),
      ],
    ];
    for (const [reason, send] of attacks) {
      send();
      await settle();
      assert.equal(lab.metrics.value("ingressRefused", { reason }), 1, reason);
    }
    assert.deepEqual(heard, []);
  }));
