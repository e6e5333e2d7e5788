/** `service.masked`: keeps a service masked. */
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
  name: "service.masked",
  summary: "Keeps a service masked, so that nothing can start it.",
  params: {
    name: serviceName(),
  },
  permissions: (p, facts) => stateGrant(facts, p.name, WANTED),
  check: (p, host) => checkService(host, p.name, WANTED),
  apply: (p, host, { isForced }) => applyService(host, p.name, { want: WANTED, isForced }),
  revert: (p, memo: ServiceMemo, host) => revertService(host, p.name, memo),
  examples: [
    { title: "On the command line", code: "zester '*' service.masked cups" },
    { title: "As a state", code: "cups:\n  service.masked" },
  ],
  differences: [
    "Needs systemd. `runtime` is not a parameter. A service that runs goes on running.",
  ],
});

const WANTED: Wanted = { masked: true };
