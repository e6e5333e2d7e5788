/** `service.running`: keeps a service running. */
import { defaulted, defineModule, flag, optional, triState } from "../../core/module.ts";
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
  name: "service.running",
  summary: "Keeps a service running, and enabled at boot or not if that is declared.",
  description:
    `A watched change restarts the service, or reloads it with \`reload\`, unless it had to be started anyway.

Where systemd does not run, as in most containers, a plain supervisor takes its place. A service of it is an executable
\`/etc/zester/services/<name>/run\` that stays in the foreground; folder, user and environment are set in it. Its output goes
to \`/var/log/zester/services/<name>.log\`. It is ended by TERM to its whole process group, and by KILL ten seconds later. The
supervisor does not restart what ends by itself, and knows no reload: it restarts. \`enable\` leaves the file \`enabled\` beside
\`run\`, for whatever starts the container to look at.`,
  params: {
    name: serviceName(),
    enable: optional(triState("Whether it starts at boot; left alone when absent.")),
    reload: defaulted(
      flag("Reload instead of restart when something that it watches changed."),
      false,
    ),
  },
  permissions: (p, facts) => stateGrant(facts, p.name, wantedOf(p)),
  check: (p, host) => checkService(host, p.name, wantedOf(p)),
  apply: (p, host, { isForced }) => applyService(host, p.name, { want: wantedOf(p), isForced }),
  revert: (p, memo: ServiceMemo, host) => revertService(host, p.name, memo),
  examples: [
    { title: "On the command line", code: "zester 'web*' service.running nginx enable=true" },
    {
      title: "Restarted when its configuration changes",
      code: `nginx:
  service.running:
    - enable: true
    - watch:
      - file: /etc/nginx/nginx.conf`,
    },
    {
      title: "A service of the plain supervisor",
      code: `/etc/zester/services/app/run:
  file.managed:
    - mode: "0755"
    - makedirs: true
    - content: |
        #!/bin/sh
        cd /srv/app
        exec setpriv --reuid=app --regid=app --init-groups env PORT=8080 /srv/app/server

app:
  service.running:
    - require:
      - file: /etc/zester/services/app/run`,
    },
  ],
  differences: [
    "`init_delay`, `sig` and `full_restart` are not parameters.",
    "A service that ends right after its start is a failure.",
  ],
});

function wantedOf(p: { enable?: boolean | undefined; reload: boolean }): Wanted {
  return { running: true, atBoot: p.enable, onWatch: p.reload ? "reload" : "restart" };
}
