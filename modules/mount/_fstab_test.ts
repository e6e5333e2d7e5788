import assert from "node:assert/strict";
import {
  findLine,
  type FstabEntry,
  isSameEntry,
  lineOf,
  readLine,
  readMountPoints,
  withLine,
} from "./_fstab.ts";

Deno.test("readMountPoints() reads the second column with its escapes", () => {
  const text = "proc /proc proc rw 0 0\n/dev/sda1 /mnt/my\\040disk ext4 rw 0 0\n\n";
  assert.deepEqual([...readMountPoints(text)], ["/proc", "/mnt/my disk"]);
});

const FSTAB = `# /etc/fstab
UUID=1 / ext4 errors=remount-ro 0 1

tmpfs   /tmp   tmpfs   size=1g
/dev/sr0 /media/cd udf,iso9660 user,noauto 0 0
`;
const TMP: FstabEntry = {
  device: "tmpfs",
  point: "/tmp",
  fstype: "tmpfs",
  options: "size=1g",
  dump: 0,
  pass: 0,
};

Deno.test("readLine() fills in what a line leaves out, and reads no comments", () => {
  assert.deepEqual(readLine("tmpfs   /tmp   tmpfs   size=1g"), TMP);
  assert.equal(readLine("# tmpfs /tmp tmpfs"), null);
  assert.equal(readLine("   "), null);
  assert.equal(readLine("tmpfs /tmp"), null);
});

Deno.test("isSameEntry() compares what a line says, not its blanks", () => {
  assert.equal(isSameEntry(findLine(FSTAB, "/tmp"), TMP), true);
  assert.equal(isSameEntry(findLine(FSTAB, "/tmp"), { ...TMP, options: "size=2g" }), false);
  assert.equal(isSameEntry(findLine(FSTAB, "/tmp"), { ...TMP, pass: 2 }), false);
  assert.equal(isSameEntry(findLine(FSTAB, "/srv"), TMP), false);
});

Deno.test("withLine() replaces in place, drops duplicates, adds and takes out", () => {
  const wanted = lineOf({ ...TMP, options: "size=2g" });
  assert.equal(wanted, "tmpfs\t/tmp\ttmpfs\tsize=2g\t0\t0");
  const replaced = FSTAB.replace(/^tmpfs.*$/m, wanted);
  assert.equal(withLine(FSTAB, "/tmp", wanted), replaced);
  assert.equal(withLine(`${FSTAB}none /tmp tmpfs\n`, "/tmp", wanted), replaced);
  assert.equal(withLine(FSTAB, "/srv", "x"), `${FSTAB}x\n`);
  assert.equal(withLine("a", "/srv", "x"), "a\nx\n");
  assert.equal(withLine(FSTAB, "/tmp", null), FSTAB.replace(/^tmpfs.*\n/m, ""));
  assert.equal(withLine(FSTAB, "/srv", null), FSTAB);
});
