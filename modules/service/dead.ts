/** `service.dead`: keeps a service stopped. */
import { defineModule, optional, triState } from "../../core/module.ts";
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
  name: "service.dead",
  summary: "Keeps a service stopped, and with enable: false also from starting at boot.",
  params: {
    name: serviceName(),
    enable: optional(
      triState("false: it does not start at boot either; anything else leaves that alone."),
    ),
  },
  permissions: (p, facts) => stateGrant(facts, p.name, wantedOf(p)),
  check: (p, host) => checkService(host, p.name, wantedOf(p)),
  apply: (p, host, { isForced }) => applyService(host, p.name, { want: wantedOf(p), isForced }),
  revert: (p, memo: ServiceMemo, host) => revertService(host, p.name, memo),
  examples: [
    { title: "On the command line", code: "zester 'web*' service.dead apache2 enable=false" },
    { title: "As a state", code: "apache2:\n  service.dead:\n    - enable: false" },
  ],
});

function wantedOf(p: { enable?: boolean | undefined }): Wanted {
  return { running: false, atBoot: p.enable === false ? false : undefined };
}
