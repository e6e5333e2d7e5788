/** What users must not be able to smuggle in, and what must not come out, shown in real workers. */
import assert from "node:assert/strict";
import { openModuleLab } from "../../tests/fakes/module_lab.ts";

const HASH = "$6$zesterzester$abcdefghijklmnop";

Deno.test("user.present refuses names and values that would be options, fields or lines", async () => {
  const lab = openModuleLab();
  const bad: [id: string, args: Record<string, unknown>][] = [
    ["--root", {}],
    ["a:b", {}],
    ["a,b", {}],
    ["a\nb", {}],
    ["1000", {}],
    ["ann", { uid: -1 }],
    ["ann", { gid: "-1" }],
    ["ann", { gid: "--x" }],
    ["ann", { groups: ["adm,root"] }],
    ["ann", { shell: "sh" }],
    ["ann", { shell: "/bin/sh:x" }],
    ["ann", { home: "/a/../b" }],
    ["ann", { fullname: "a:b" }],
    ["ann", { fullname: "a,b" }],
    ["ann", { password: "a:b" }],
    ["ann", { password: "a\nroot:x" }],
  ];
  try {
    for (const [id, args] of bad) {
      const tried = lab.check("user.present", { id, args });
      await assert.rejects(tried, /parameter/, JSON.stringify([id, args]));
    }
  } finally {
    lab.close();
  }
});

Deno.test("user.present never says a hash in a drift, a refusal or an argument", async () => {
  const lab = openModuleLab();
  try {
    const drift = await lab.check("user.present", { id: "root", args: { password: HASH } });
    assert.equal(drift?.diff, "password hash differs from declared");
    const grant = await lab.grant("user.present", { id: "root", args: { password: HASH } });
    assert.ok(!JSON.stringify(grant).includes(HASH));
    await assert.rejects(
      lab.check("user.present", { id: "root", args: { password: `${HASH}\n` } }),
      (error: Error) => !error.message.includes(HASH) && error.message.includes("<redacted>"),
    );
  } finally {
    lab.close();
  }
});

Deno.test("user.list answers with root", async () => {
  const lab = openModuleLab();
  try {
    const users = await lab.answer("user.list") as { name: string; uid: number }[];
    assert.equal(users.find(({ name }) => name === "root")?.uid, 0);
  } finally {
    lab.close();
  }
});
