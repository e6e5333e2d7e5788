import assert from "node:assert/strict";
import { ADMIN_ROLE, DIRECT_ROLE, directRoles } from "../../core/roles.ts";
import { type Addressed, planDirect } from "./plan.ts";

const master = { role: "master", identity: "_master" } as const;
const dora = { role: "direct", identity: "dora", grantedRole: DIRECT_ROLE } as const;
const own = "_INBOX.direct.dora.x";

const cases: [name: string, given: Pick<Addressed, "sender" | "reply">, want: string][] = [
  ["takes a master's request as a job", { sender: master, reply: undefined }, "job"],
  [
    "refuses a master's request with a reply subject",
    { sender: master, reply: own },
    "misaddressed",
  ],
  [
    "takes a direct command and answers in the operator's inbox",
    { sender: dora, reply: own },
    "direct",
  ],
  ["refuses one without a reply subject", { sender: dora, reply: undefined }, "misaddressed"],
  [
    "refuses one that wants its answer in another operator's inbox",
    { sender: dora, reply: "_INBOX.direct.alice.x" },
    "misaddressed",
  ],
  [
    "refuses one that wants its answer on a subject with an effect",
    { sender: dora, reply: "zester.cmd.web-02" },
    "misaddressed",
  ],
  [
    "refuses an operator whose role is another one, be it admin",
    { sender: { ...dora, grantedRole: ADMIN_ROLE }, reply: own },
    "permission_denied",
  ],
  [
    "refuses an operator without a role",
    { sender: { ...dora, grantedRole: undefined }, reply: own },
    "permission_denied",
  ],
];
for (const [name, given, want] of cases) {
  Deno.test(`planDirect() ${name}`, () => {
    const request = { ...given, function: "test.ping", peelId: "web-01" };
    const decision = planDirect(request, directRoles);
    assert.equal(decision.kind === "refused" ? decision.reason : decision.kind, want);
  });
}
