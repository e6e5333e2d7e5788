import assert from "node:assert/strict";
import { systemView } from "../../core/adapters/system_facts.ts";
import { memoryLog } from "../../core/log.ts";
import { collectFacts } from "./collect.ts";
import { readOsRelease } from "./os_release.ts";

const releases: [name: string, text: string, want: Record<string, string>][] = [
  ["Debian", 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_ID="12"\n', {
    os: "debian",
    os_family: "debian",
    os_release: "12",
    os_name: "Debian GNU/Linux 12 (bookworm)",
  }],
  ["Rocky", "ID='rocky'\r\nID_LIKE=\"rhel centos fedora\"\r\nVERSION_ID=9.4\r\n", {
    os: "rocky",
    os_family: "rhel",
    os_release: "9.4",
  }],
  ["openSUSE", 'ID="opensuse-leap"\nID_LIKE="suse opensuse"\n', {
    os: "opensuse-leap",
    os_family: "suse",
  }],
  ["something of its own", "ID=plan9\n# ID=debian\nnonsense\nID_LIKE=\n", {
    os: "plan9",
    os_family: "plan9",
  }],
  ["escapes", 'ID=x\nPRETTY_NAME="a \\"b\\" \\$c"\n', {
    os: "x",
    os_family: "x",
    os_name: 'a "b" $c',
  }],
  ["nothing", "", { os: "linux", os_family: "linux" }],
];
for (const [name, text, want] of releases) {
  Deno.test(`readOsRelease() reads ${name}`, () => assert.deepEqual(readOsRelease(text), want));
}

Deno.test("collectFacts() says what it is on the machine that runs this test", async () => {
  const log = memoryLog();
  const facts = await collectFacts({ peelId: "a", version: "1.2.3", system: systemView }, log);
  assert.deepEqual(log.records, []);
  assert.deepEqual([facts["id"], facts["zester_version"]], ["a", "1.2.3"]);
  for (const key of ["host", "os", "os_family", "kernel", "kernel_release", "arch"]) {
    assert.ok(typeof facts[key] === "string" && facts[key] !== "", key);
  }
  for (const key of ["cpus", "memory_mb"]) assert.ok(Number(facts[key]) > 0, key);
  for (const key of ["ipv4", "ipv6"]) assert.ok(Array.isArray(facts[key]), key);
});

Deno.test("collectFacts() does without what cannot be told, and says so", async () => {
  const log = memoryLog();
  const broken = {
    ...systemView,
    osRelease: () => Promise.resolve(null),
    kernel: () => "plan9",
    addresses: () => {
      throw new Error("no network");
    },
  };
  const facts = await collectFacts({ peelId: "a", version: "1", system: broken }, log);
  assert.deepEqual([facts["os"], facts["os_family"], facts["ipv4"]], ["plan9", "plan9", undefined]);
  assert.deepEqual(log.records.map(({ message }) => message), ["facts not collected"]);
});
