/** `host.absent`: keeps a host name out of the hosts file. */
import {
  applyText,
  checkText,
  defineModule,
  revertText,
  type TextMemo,
} from "../../core/module.ts";
import { hostParams, withoutName } from "./_hosts.ts";

export default defineModule({
  name: "host.absent",
  summary: "Keeps a host name out of the hosts file.",
  params: hostParams,
  permissions: ({ config }) => ({ write: [config] }),
  check: (p, host) => checkText(host, edit(p), `${p.name} should not be in ${p.config}`),
  async apply(p, host) {
    const change = await applyText(host, edit(p), `removed ${p.name} from ${p.config}`);
    return change === null ? null : { ...change, details: { hostname: p.name, path: p.config } };
  },
  revert: (p, memo: TextMemo, host) => revertText(host, p.config, memo),
  examples: [
    { title: "On the command line", code: "zester '*' host.absent old-db" },
    { title: "As a state", code: "old-db:\n  host.absent: []" },
  ],
});

function edit({ name, config }: { name: string; config: string }) {
  return {
    path: config,
    plan: (text: string | null) => text === null ? null : withoutName(text, name),
  };
}
