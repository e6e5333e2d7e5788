import assert from "node:assert/strict";
import { type Answer, managerOf, wrongName } from "./_provider.ts";

const said = (stdout: string, code = 0, stderr = ""): Answer => ({ code, stdout, stderr });
const plain = (map: ReadonlyMap<string, string>) => Object.fromEntries(map);
const manager = (name: string) => managerOf({ package_manager: name });

Deno.test("managerOf() goes by the fact, then by the family, and says when there is none", () => {
  assert.equal(managerOf({ os_family: "debian" }).name, "apt");
  assert.equal(managerOf({ os_family: "redhat" }).name, "dnf");
  assert.equal(managerOf({ os_family: "redhat", package_manager: "yum" }).name, "yum");
  assert.equal(managerOf({ os_family: "suse" }).name, "zypper");
  assert.throws(() => managerOf({ os_family: "plan9" }), /no package provider available/);
  assert.throws(() => managerOf({ package_manager: "constructor" }), /no package provider/);
});

const versions: [manager: string, answer: Answer, want: Record<string, string>][] = [
  [
    "apt",
    said("nginx installed 1.22.1-9\nvim config-files 2:9.0\nlibc6:amd64 installed 2.36\n", 1),
    { nginx: "1.22.1-9" },
  ],
  ["dnf", said("nginx 1.20.1-14.el9\npackage vim is not installed\n", 1), {
    nginx: "1.20.1-14.el9",
  }],
  ["yum", said("nginx 1.20.1-14.el9\npackage vim is not installed\n", 1), {
    nginx: "1.20.1-14.el9",
  }],
  ["zypper", said("nginx 1.21.5-150400.3\npackage vim is not installed\n", 1), {
    nginx: "1.21.5-150400.3",
  }],
  [
    "apk",
    said(
      "musl-1.2.4-r2 x86_64 {musl} (MIT) [installed]\nnginx-1.24.0-r7 x86_64 {nginx} (BSD-2-Clause) [installed]\n",
    ),
    { nginx: "1.24.0-r7" },
  ],
  ["brew", said("nginx 1.25.3\npcre2 10.42\n"), { nginx: "1.25.3" }],
];
for (const [name, answer, want] of versions) {
  Deno.test(`readVersions() of ${name} knows what is installed from what is not`, () => {
    assert.deepEqual(plain(manager(name).readVersions(["nginx", "vim"], answer)), want);
  });
}

const upgrades: [manager: string, answer: Answer, want: Record<string, string>][] = [
  [
    "apt",
    said(
      "Inst openssl [3.0.11-1] (3.0.13-1~deb12u1 Debian:12 [amd64])\nConf openssl (3.0.13 Debian)\nInst new-one (1.0 Debian:12 [all])\n",
    ),
    { openssl: "3.0.13-1~deb12u1", "new-one": "1.0" },
  ],
  [
    "dnf",
    said("\nopenssl.x86_64   1:3.0.7-25.el9   baseos\nObsoleting Packages\nold.noarch 1 x\n", 100),
    { openssl: "1:3.0.7-25.el9" },
  ],
  ["dnf", said(""), {}],
  [
    "zypper",
    said(
      "S | Repository | Name  | Current | Available | Arch\n--+---\nv | Main | nginx | 1.21 | 1.23 | x86_64\n",
    ),
    { nginx: "1.23" },
  ],
  ["apk", said("nginx-1.24.0-r7 x86_64 {nginx} (BSD) [upgradable from: nginx-1.24.0-r6]\n"), {
    nginx: "1.24.0-r7",
  }],
  ["brew", said("nginx (1.25.1) < 1.25.3\n"), { nginx: "1.25.3" }],
];
for (const [name, answer, want] of upgrades) {
  Deno.test(`readUpgrades() of ${name} gives ${JSON.stringify(want)}`, () => {
    assert.deepEqual(plain(manager(name).readUpgrades(answer)), want);
  });
}

Deno.test("readUpgrades() of dnf takes a failure for no answer", () => {
  assert.throws(() => manager("dnf").readUpgrades(said("", 1, "no repo")), /no repo/);
});

Deno.test("readVersions() of apt fails when dpkg could not be asked", () => {
  assert.throws(() => manager("apt").readVersions(["a"], said("", 2, "broken")), /broken/);
});

Deno.test("readLeftovers() of apt counts configuration that stayed", () => {
  const answer = said("vim config-files 2:9.0\nnginx not-installed \n");
  assert.deepEqual(manager("apt").readLeftovers(["vim", "nginx"], answer), ["vim"]);
});

const locked: [manager: string, answer: Answer][] = [
  [
    "apt",
    said("", 100, "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 7"),
  ],
  ["zypper", said("System management is locked by the application", 7)],
  ["apk", said("", 99, "ERROR: Unable to lock database: temporary error")],
];
for (const [name, answer] of locked) {
  Deno.test(`isLocked() of ${name} knows a lock that is held`, () => {
    assert.ok(manager(name).isLocked(answer));
    assert.ok(!manager(name).isLocked(said("", 1, "no such package")));
  });
}

for (const name of ["apt", "dnf", "yum", "zypper", "apk", "brew"]) {
  Deno.test(`installProgram() of ${name} puts names last, each as one argument`, () => {
    const program = manager(name).installProgram([{ name: "a" }, { name: "b" }]);
    assert.deepEqual(program.slice(-2), ["a", "b"]);
  });
}

const names: [name: string, isRight: boolean][] = [
  ["nginx", true],
  ["libstdc++6", true],
  ["libc6:amd64", true],
  ["-o=x", false],
  ["a b", false],
  ["a;b", false],
  ["$(x)", false],
  ["../x", false],
  ["a=1", false],
  ["", false],
];
for (const [name, isRight] of names) {
  Deno.test(`wrongName() ${isRight ? "takes" : "refuses"} ${JSON.stringify(name)}`, () => {
    assert.equal(wrongName(name) === null, isRight);
  });
}
