/** `service.unmasked`: keeps a service from being masked. */
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
  name: "service.unmasked",
  summary: "Keeps a service from being masked.",
  params: {
    name: serviceName(),
  },
  permissions: (p, facts) => stateGrant(facts, p.name, WANTED),
  check: (p, host) => checkService(host, p.name, WANTED),
  apply: (p, host, { isForced }) => applyService(host, p.name, { want: WANTED, isForced }),
  revert: (p, memo: ServiceMemo, host) => revertService(host, p.name, memo),
  examples: [
    { title: "On the command line", code: "zester '*' service.unmasked cups" },
    { title: "As a state", code: "cups:\n  service.unmasked" },
  ],
  differences: ["Needs systemd. `runtime` is not a parameter."],
});

const WANTED: Wanted = { masked: false };
