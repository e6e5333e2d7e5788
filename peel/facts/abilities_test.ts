import assert from "node:assert/strict";
import { FACT_FUNCTIONS_MAX, FACT_POLICY_ROWS_MAX } from "../../core/limits.ts";
import type { Policy } from "../exec/policy.ts";
import { abilityFacts, policyInShort } from "./abilities.ts";

const policies: [name: string, policy: Policy, want: string | string[]][] = [
  ["no policy", {}, "grants alone"],
  ["rows, allowed ones first", {
    deny: { "*": { write: ["/etc/shadow", "/etc/sudoers.d/**"] } },
    allow: { "file.*": { read: ["**"], write: ["/srv/**"] } },
  }, [
    "allow file.*: read **; write /srv/**",
    "deny *: write /etc/shadow, /etc/sudoers.d/**",
  ]],
  ["a policy that allows nothing", { allow: {} }, ["allow nothing"]],
];
for (const [name, policy, want] of policies) {
  Deno.test(`policyInShort() says ${name}`, () => assert.deepEqual(policyInShort(policy), want));
}

Deno.test("policyInShort() is short, however long the policy is", () => {
  const rows = Array.from({ length: 500 }, (_, n) => [`m${n}.*`, { read: ["/x".repeat(900)] }]);
  const short = policyInShort({ deny: Object.fromEntries(rows) });
  assert.ok(Array.isArray(short));
  assert.equal(short.length, FACT_POLICY_ROWS_MAX + 1);
  assert.equal(short.at(-1), "and 480 more rows");
  assert.ok(short.every((row) => row.length <= 200));
});

Deno.test("abilityFacts() names the functions that are not shipped, or none when there are too many", async () => {
  const isShipped = (name: string) => name.startsWith("test.");
  const of = (names: string[]) =>
    abilityFacts({ names: () => Promise.resolve(names), isShipped, policy: {} });
  assert.deepEqual(await of(["site.check", "test.ping"]), {
    custom_functions: ["site.check"],
    policy: "grants alone",
  });
  const many = Array.from({ length: FACT_FUNCTIONS_MAX + 1 }, (_, n) => `site.f${n}`);
  assert.deepEqual(await of(many), { policy: "grants alone" });
});
