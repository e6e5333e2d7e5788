/** Tells the masters every ten seconds that this peel is there. */
import { PEEL_HEARTBEAT_MS } from "../core/limits.ts";
import type { Voice } from "../core/outgoing.ts";
import type { Bus, Clock, Timer } from "../core/ports.ts";
import { subjects } from "../core/subjects.ts";
import { encodePeelHeartbeat } from "../core/wire/heartbeat.ts";
import { PROTOCOL_VERSION } from "../core/wire/version.ts";

export interface HeartbeatPorts {
  readonly peelId: string;
  readonly version: string;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly voice: Voice;
}

/** Beats now and then regularly. While disconnected it is silent: silence is the message then. */
export function startHeartbeat(ports: HeartbeatPorts): { beat(): void; timer: Timer } {
  const subject = subjects.heartbeat.of({ peel: ports.peelId });
  function beat(): void {
    if (!ports.bus.connected) return;
    const payload = encodePeelHeartbeat({
      timestampMs: ports.clock.now(),
      version: ports.version,
      protocol: PROTOCOL_VERSION,
    });
    ports.voice.say(subjects.heartbeat, subject, payload);
  }
  beat();
  return { beat, timer: ports.clock.every(PEEL_HEARTBEAT_MS, beat) };
}
