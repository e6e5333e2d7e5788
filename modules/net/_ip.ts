/** Reads what `ip` and `ss` print about the network. */
import type { PlainValue } from "../../core/module.ts";

interface IpLink {
  readonly ifname: string;
  readonly operstate?: string;
  readonly address?: string;
  readonly mtu?: number;
  readonly flags?: readonly string[];
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number }[];
}

/** Interfaces by name, from the JSON of `ip -json address show`. */
export function parseInterfaces(json: string): { [name: string]: PlainValue } {
  const links = JSON.parse(json) as readonly IpLink[];
  return Object.fromEntries(links.map((link) => [link.ifname, {
    state: (link.operstate ?? "unknown").toLowerCase(),
    up: link.flags?.includes("UP") ?? false,
    mac: link.address ?? "",
    mtu: link.mtu ?? 0,
    addresses: (link.addr_info ?? []).map(({ local, prefixlen }) => `${local}/${prefixlen}`),
  }]));
}

/** Sockets, from the rows of `ss -H -tulpn`. */
export function parseListening(text: string): PlainValue[] {
  return text.split("\n").flatMap((row) => {
    const [protocol, , , , local, , users = ""] = row.trim().split(/\s+/, 7);
    const split = local?.lastIndexOf(":") ?? -1;
    if (protocol === undefined || local === undefined || split < 0) return [];
    const programs = [...users.matchAll(/"([^"]+)",pid=(\d+)/g)];
    return [{
      protocol,
      address: local.slice(0, split),
      port: Number(local.slice(split + 1)),
      programs: programs.map(([, program, pid]) => ({ program: program!, pid: Number(pid) })),
    }];
  });
}
