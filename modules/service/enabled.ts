/** `service.enabled`: keeps a service enabled at boot. */
import { defineModule } from "../../core/module.ts";
import { serviceName } from "./_manager.ts";
import {
  applyService,
  checkService,
  revertService,
  type ServiceMemo,
  stateGrant,
  type Wanted,
} from "./_state.ts";

export default defineModule({
  name: "service.enabled",
  summary: "Keeps a service enabled at boot, whether or not it runs now.",
  params: {
    name: serviceName(),
  },
  permissions: (p, facts) => stateGrant(facts, p.name, WANTED),
  check: (p, host) => checkService(host, p.name, WANTED),
  apply: (p, host, { isForced }) => applyService(host, p.name, { want: WANTED, isForced }),
  revert: (p, memo: ServiceMemo, host) => revertService(host, p.name, memo),
  examples: [
    { title: "On the command line", code: "zester '*' service.enabled sshd" },
    { title: "As a state", code: "sshd:\n  service.enabled" },
  ],
});

const WANTED: Wanted = { atBoot: true };
