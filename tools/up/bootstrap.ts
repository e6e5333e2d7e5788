/** What the bootstrap identity does once per start: make buckets, streams and durables, and enroll the fleet's peels. */
import { systemClock } from "../../core/adapters/system_clock.ts";
import { systemRandom } from "../../core/adapters/system_random.ts";
import { buckets, streams } from "../../core/buckets.ts";
import { newEnrollmentId } from "../../core/ids.ts";
import { connectNats } from "../../core/nats/mod.ts";
import type { Bucket } from "../../core/ports.ts";
import { encodeEnrollment } from "../../core/wire/enrollment.ts";
import { BOOTSTRAP, type Fleet, type FleetPeel, loginOf } from "./fleet.ts";

/** Makes everything that the fleet's programs expect to find on the broker. */
export async function bootstrap(fleet: Fleet, url: string): Promise<void> {
  const user = loginOf("bootstrap", BOOTSTRAP);
  const nats = await connectNats({
    servers: [url],
    role: "bootstrap",
    identity: BOOTSTRAP,
    mode: "cli",
    name: "zester bootstrap",
    user,
    password: fleet.password(user),
  });
  try {
    await Promise.all([
      ...Object.values(buckets).map((spec) => nats.admin.ensureBucket(spec)),
      ...Object.values(streams).map((spec) => nats.admin.ensureStream(spec)),
    ]);
    const enrollments = nats.store.bucket(buckets.enrollments.name);
    await Promise.all(fleet.peelRecords.map((peel) => enroll(peel, enrollments)));
  } finally {
    await nats.close();
  }
}

/**
 * Writes the record of a peel that has none yet. The index is created first: it is what makes an id unique. If an earlier
 * start died between the two, the index names the record that is still to be written.
 */
async function enroll(peel: FleetPeel, enrollments: Bucket): Promise<void> {
  const fresh = newEnrollmentId(systemClock.now(), systemRandom);
  const index = await enrollments.create(`peel.${peel.id}`, new TextEncoder().encode(fresh));
  if (index.outcome === "unknown") throw index.cause;
  const entry = index.outcome === "ok" ? null : await enrollments.get(`peel.${peel.id}`);
  const id = entry === null ? fresh : new TextDecoder().decode(entry.value);
  const now = systemClock.now();
  const written = await enrollments.create(
    id,
    encodeEnrollment({
      id,
      peelId: peel.id,
      publicKey: peel.publicKey,
      curvePublicKey: "",
      state: "active",
      generation: peel.generation,
      metadata: {},
      createdAtMs: now,
      updatedAtMs: now,
      decidedBy: "up",
    }),
  );
  if (written.outcome === "unknown") throw written.cause;
}
