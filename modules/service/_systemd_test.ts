import assert from "node:assert/strict";
import { readAtBoot, readRunning, readServices } from "./_systemd.ts";

const answer = (stdout: string, code = 0, stderr = "") => ({ code, stdout, stderr });

const states: [state: string, want: boolean][] = [
  ["active", true],
  ["reloading", true],
  ["inactive", false],
  ["failed", false],
  ["activating", false],
  ["deactivating", false],
];
for (const [state, want] of states) {
  Deno.test(`readRunning() takes ${state} for ${want ? "running" : "stopped"}`, () =>
    assert.equal(readRunning(answer(`ActiveState=${state}\n`)), want));
}

Deno.test("readRunning() tells a failure to look from the answer no", () => {
  const offline =
    "System has not been booted with systemd as init system (PID 1). Can't operate.\n" +
    "Failed to connect to bus: Host is down\n";
  assert.throws(
    () => readRunning(answer("", 1, offline)),
    /systemctl show: exit status 1: .*Host/s,
  );
  assert.throws(() => readRunning(answer("")), /systemctl show/);
});

const words: [stdout: string, want: string][] = [
  ["enabled\n", "yes"],
  ["enabled-runtime\n", "yes"],
  ["disabled\n", "no"],
  ["linked\n", "no"],
  ["not-found\n", "no"],
  ["static\n", "fixed"],
  ["indirect\n", "fixed"],
  ["generated\n", "fixed"],
  ["masked\n", "masked"],
  ["masked-runtime\n", "masked"],
  ["constructor\n", "no"],
];
for (const [stdout, want] of words) {
  Deno.test(`readAtBoot() takes ${stdout.trim()} for ${want}`, () =>
    assert.equal(readAtBoot(answer(stdout, want === "yes" ? 0 : 1)), want));
}

Deno.test("readAtBoot() takes a unit that is not there for one that does not start", () => {
  const missing = "Failed to get unit file state for zt.service: No such file or directory\n";
  assert.equal(readAtBoot(answer("", 1, missing)), "no");
  assert.throws(() => readAtBoot(answer("", 1, "Access denied\n")), /Access denied/);
});

// Recorded on Debian 12.
const UNITS =
  `  cron.service        loaded    active   running Regular background program processing daemon
  dbus.service        loaded    active   running D-Bus System Message Bus
● nginx.service       loaded    failed   failed  A high performance web server
  syslog.service      not-found inactive dead    syslog.service
`;
const FILES = `cron.service                           enabled         enabled
dbus.service                           static          -
nginx.service                          disabled        enabled
ntp.service                            masked          enabled
`;

Deno.test("readServices() joins what runs with what starts at boot", () =>
  assert.deepEqual(readServices(UNITS, FILES), [
    { name: "cron", running: true, at_boot: "yes" },
    { name: "dbus", running: true, at_boot: "fixed" },
    { name: "nginx", running: false, at_boot: "no" },
    { name: "ntp", running: false, at_boot: "masked" },
    { name: "syslog", running: false, at_boot: "no" },
  ]));
