/** `host.present`: keeps a host name at one address in the hosts file. */
import {
  applyText,
  checked,
  checkText,
  defineModule,
  line,
  revertText,
  type TextMemo,
} from "../../core/module.ts";
import { hostParams, withName } from "./_hosts.ts";

const IP = /^(\d{1,3}(\.\d{1,3}){3}|[0-9a-fA-F:]*:[0-9a-fA-F:.]*)$/;

export default defineModule({
  name: "host.present",
  summary: "Keeps a host name at one address in the hosts file.",
  params: {
    ...hostParams,
    ip: checked(
      line("Address of the host."),
      (ip) => IP.test(ip) && isAddress(ip) ? null : "an IPv4 or IPv6 address is wanted",
    ),
  },
  permissions: ({ config }) => ({ write: [config] }),
  check: (p, host) => checkText(host, edit(p), said(p)),
  async apply(p, host) {
    const change = await applyText(host, edit(p), said(p));
    return change === null
      ? null
      : { ...change, details: { hostname: p.name, ip: p.ip, path: p.config } };
  },
  revert: (p, memo: TextMemo, host) => revertText(host, p.config, memo),
  examples: [
    { title: "On the command line", code: "zester '*' host.present db-01 ip=10.0.0.5" },
    { title: "As a state", code: "db-01:\n  host.present:\n    - ip: 10.0.0.5" },
  ],
});

interface Params {
  readonly name: string;
  readonly ip: string;
  readonly config: string;
}

function edit({ name, ip, config }: Params) {
  return { path: config, plan: (text: string | null) => withName(text ?? "", name, ip) };
}

function said({ name, ip, config }: Params): string {
  return `${name} should map to ${ip} in ${config}`;
}

function isAddress(ip: string): boolean {
  if (!ip.includes(":")) return ip.split(".").every((part) => Number(part) <= 255);
  return URL.canParse(`http://[${ip}]/`);
}
