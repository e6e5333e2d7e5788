/** A peel whose clock is wrong, or is set: nothing runs twice, and what is refused is refused for a reason that says "clock". */
import assert from "node:assert/strict";
import { CLOCK_SKEW_MS, JOURNAL_RETENTION_MS, REPEAT_ANSWER_MS_MIN } from "../../core/limits.ts";
import { memoryLog } from "../../core/log.ts";
import { sealed, type SealOptions } from "../../core/outgoing.ts";
import type { HeaderField } from "../../core/ports.ts";
import { subjects } from "../../core/subjects.ts";
import { COMMAND_SIGNER } from "../../tests/fakes/identities.ts";
import { LAB_PEEL, type PeelLab, peelLab } from "../../tests/fakes/peel_lab.ts";

const DAY_MS = 86_400_000;
const SUBJECT = subjects.command.of({ peel: LAB_PEEL });

interface Signed {
  readonly payload: Uint8Array;
  readonly headers: readonly HeaderField[];
}

/** A request as a master signs it whose clock shows this. */
function signedAt(
  lab: PeelLab,
  masterMs: number,
  options: SealOptions = {},
): Signed & { jid: string } {
  const jid = lab.jid();
  const payload = lab.requestOf(jid);
  const context = { domain: subjects.command.domain ?? "", subject: SUBJECT };
  const identity = { signer: COMMAND_SIGNER, generation: 1 };
  const headers = sealed(identity, context, payload, masterMs, { audience: 1, ...options });
  return { jid, payload, headers };
}

async function deliver(lab: PeelLab, { payload, headers }: Signed): Promise<void> {
  lab.bus.publish(SUBJECT, payload, { headers });
  await lab.settled();
}

const wrong: [name: string, offMs: number, reason: string | null][] = [
  ["a minute ahead", CLOCK_SKEW_MS, null],
  ["a minute behind", -CLOCK_SKEW_MS, null],
  ["90 s behind", -90_000, "clock_skew"],
  ["an hour behind", -3_600_000, "clock_skew"],
  ["days behind", -3 * DAY_MS, "clock_skew"],
  ["an hour ahead", 3_600_000, "expired"],
  ["days ahead", 3 * DAY_MS, "expired"],
];
for (const [name, offMs, reason] of wrong) {
  Deno.test(`acceptCommands() by a clock that is ${name} ${reason === null ? "runs a request" : "refuses it, says why, and runs it when the clock is right"}`, async () => {
    const lab = await peelLab();
    const log = memoryLog();
    const life = await lab.start({ log });
    const rightMs = lab.clock.now();
    const request = signedAt(lab, rightMs);
    lab.clock.setWall(rightMs + offMs);
    await deliver(lab, request);
    if (reason !== null) {
      assert.deepEqual(lab.executed, []);
      assert.equal(life.metrics.value("ingressRefused", { reason }), 1);
      const said = log.records.find(({ message }) => message === "command refused");
      assert.match(String(said?.fields["detail"]), /the clock here or at the sender is wrong/);
      lab.clock.setWall(rightMs);
      await deliver(lab, request);
    }
    assert.deepEqual(lab.executed, [request.jid]);
    lab.clock.setWall(rightMs);
    await life.acceptor.stop();
  });
}

Deno.test("acceptCommands() answers a replay from the journal also after its clock was a month ahead at a restart", async () => {
  const lab = await peelLab();
  const rightMs = lab.clock.now();
  const request = signedAt(lab, rightMs, { expiresMs: rightMs + 6 * DAY_MS });
  const first = await lab.start();
  await deliver(lab, request);
  first.crash();
  lab.clock.setWall(rightMs + 30 * DAY_MS);
  const second = await lab.start();
  await lab.clock.advanceSettling(REPEAT_ANSWER_MS_MIN);
  second.crash();
  lab.clock.setWall(rightMs + DAY_MS);
  const third = await lab.start();
  await deliver(lab, request);
  assert.deepEqual(lab.executed, [request.jid]);
  assert.equal(third.metrics.value("ingressRefused", { reason: "replayed" }), 1);
  assert.deepEqual(lab.returns.at(-1), lab.returns[0], "it is the same answer, from the journal");
  await third.acceptor.stop();
});

Deno.test("acceptCommands() runs nothing twice even if a master's clock was as wrong as its own, and says why it refuses", async () => {
  const lab = await peelLab();
  const rightMs = lab.clock.now();
  const request = signedAt(lab, rightMs, { expiresMs: rightMs + 6 * DAY_MS });
  const first = await lab.start();
  await deliver(lab, request);
  const wrongMs = rightMs + JOURNAL_RETENTION_MS + DAY_MS;
  lab.clock.setWall(wrongMs);
  await deliver(lab, signedAt(lab, wrongMs));
  first.crash();
  const second = await lab.start();
  assert.equal(second.journal.entry(request.jid), undefined, "it was dropped as old");
  lab.clock.setWall(rightMs + 60_000);
  await deliver(lab, request);
  assert.equal(lab.executed.filter((jid) => jid === request.jid).length, 1);
  const refused = lab.returns.find(({ jid, error }) => jid === request.jid && error !== undefined);
  assert.match(refused?.error ?? "", /^refused: .*so old that the peel cannot say/);
  const fresh = signedAt(lab, rightMs + 60_001);
  await deliver(lab, fresh);
  assert.ok(lab.executed.includes(fresh.jid), "new work goes on");
  await second.acceptor.stop();
});

Deno.test("acceptCommands() on a lost journal refuses what may have run, also if the clock was days behind at the start", async () => {
  const lab = await peelLab();
  const rightMs = lab.clock.now();
  const request = signedAt(lab, rightMs - DAY_MS, { expiresMs: rightMs + 5 * DAY_MS });
  lab.files.content.delete("journal");
  lab.clock.setWall(rightMs - 4 * DAY_MS);
  const first = await lab.start();
  await lab.clock.advanceSettling(60_000);
  lab.clock.setWall(rightMs + 60_000);
  await deliver(lab, request);
  assert.deepEqual(lab.executed, []);
  assert.match(lab.returns[0]?.error ?? "", /^refused: .*journal was lost/);
  first.crash();
  const second = await lab.start();
  const other = signedAt(lab, rightMs - DAY_MS, { expiresMs: rightMs + 5 * DAY_MS });
  await deliver(lab, other);
  assert.deepEqual(lab.executed, [], "nor after the next start");
  await lab.clock.advanceSettling(2 * CLOCK_SKEW_MS);
  const fresh = signedAt(lab, lab.clock.now());
  await deliver(lab, fresh);
  assert.deepEqual(lab.executed, [fresh.jid]);
  await second.acceptor.stop();
});
