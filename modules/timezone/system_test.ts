/** What no zone may be called, and what a zone that is not there leads to, shown in real workers. */
import assert from "node:assert/strict";
import { openModuleLab } from "../../tests/fakes/module_lab.ts";

Deno.test("timezone.system refuses names that lead elsewhere", async () => {
  const lab = openModuleLab();
  try {
    for (const id of ["../../etc/shadow", "/etc/shadow", "Europe/../x", "-x", "a b", "Europe/"]) {
      await assert.rejects(lab.check("timezone.system", { id }), /parameter "name"/, id);
    }
  } finally {
    lab.close();
  }
});

Deno.test("timezone.system changes nothing for a zone that is not there", async () => {
  const lab = openModuleLab();
  try {
    const before = await Deno.readLink("/etc/localtime").catch(() => null);
    const given = { id: "Mars/Olympus_Mons" };
    assert.notEqual(await lab.check("timezone.system", given), null);
    await assert.rejects(lab.apply("timezone.system", given), /no time zone Mars\/Olympus_Mons/);
    assert.equal(await Deno.readLink("/etc/localtime").catch(() => null), before);
  } finally {
    lab.close();
  }
});
