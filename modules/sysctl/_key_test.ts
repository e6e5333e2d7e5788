import assert from "node:assert/strict";
import { isSameValue, keptValue, pathOf, patternOf, withValue, wrongKey } from "./_key.ts";

const paths: [key: string, path: string][] = [
  ["kernel.domainname", "/proc/sys/kernel/domainname"],
  ["net.ipv4.conf.eth0/100.forwarding", "/proc/sys/net/ipv4/conf/eth0.100/forwarding"],
  ["net/ipv4/conf/eth0.100/forwarding", "/proc/sys/net/ipv4/conf/eth0.100/forwarding"],
];
for (const [key, path] of paths) {
  Deno.test(`pathOf() knows the file of ${key}`, () => {
    assert.equal(pathOf(key), path);
    assert.equal(wrongKey(key), null);
  });
}

for (const key of ["", "-w", "a b", "a..b", "a.", "net/../../etc/passwd", "/etc", "a=b", "a/./b"]) {
  Deno.test(`wrongKey() refuses ${JSON.stringify(key)}`, () => assert.ok(wrongKey(key) !== null));
}

Deno.test("patternOf() lets only the key itself pass, as a word or as a line", () => {
  const pattern = new RegExp(patternOf("net.ipv4.ip_forward"));
  for (const line of ["net.ipv4.ip_forward", "net/ipv4/ip_forward = 1", "net.ipv4.ip_forward=1"]) {
    assert.ok(pattern.test(line), line);
  }
  for (const line of ["net.ipv4.ip_forwarding = 1", "x.net.ipv4.ip_forward = 1", "net"]) {
    assert.ok(!pattern.test(line), line);
  }
});

Deno.test("isSameValue() takes tabs and blanks for the same", () => {
  assert.ok(isSameValue("4096\t87380\t6291456\n", "4096 87380 6291456"));
  assert.ok(!isSameValue("10", "1 0"));
});

const FILE = "# ours\na.b = 1\nx.y = 2\n  a/b=3\n; a.b = 4\n\n\n";

Deno.test("keptValue() lets the last line win, however the key is spelled", () => {
  assert.equal(keptValue(FILE, "a.b"), "3");
  assert.equal(keptValue(FILE, "x.z"), null);
});

const edits: [name: string, text: string, value: string | null, want: string][] = [
  ["replaces the first and drops the others", FILE, "9", "# ours\na.b = 9\nx.y = 2\n; a.b = 4\n"],
  ["takes it out", FILE, null, "# ours\nx.y = 2\n; a.b = 4\n"],
  ["adds to the end", "x.y = 2\n", "9", "x.y = 2\na.b = 9\n"],
  ["begins a file", "", "9", "a.b = 9\n"],
  ["leaves nothing of nothing", "a.b = 9\n", null, ""],
];
for (const [name, text, value, want] of edits) {
  Deno.test(`withValue() ${name}`, () => {
    const after = withValue(text, "a.b", value);
    assert.equal(after, want);
    assert.equal(keptValue(after, "a.b"), value);
  });
}
