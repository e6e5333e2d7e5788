import assert from "node:assert/strict";
import { parseInterfaces, parseListening } from "./_ip.ts";

Deno.test("parseInterfaces() reads the JSON of ip", () => {
  const json = JSON.stringify([{
    ifname: "eth0",
    flags: ["BROADCAST", "UP"],
    mtu: 1500,
    operstate: "UP",
    address: "02:42:ac:11:00:02",
    addr_info: [{ family: "inet", local: "172.17.0.2", prefixlen: 16 }],
  }]);
  assert.deepEqual(parseInterfaces(json), {
    eth0: {
      state: "up",
      up: true,
      mac: "02:42:ac:11:00:02",
      mtu: 1500,
      addresses: ["172.17.0.2/16"],
    },
  });
});

Deno.test("parseListening() reads addresses of both kinds and the programs behind them", () => {
  const text =
    `udp   UNCONN 0      0            0.0.0.0:68        0.0.0.0:*    users:(("dhclient",pid=5,fd=7))
tcp   LISTEN 0      511             [::]:80           [::]:*    users:(("nginx",pid=12,fd=6),("nginx",pid=13,fd=6))
tcp   LISTEN 0      128      127.0.0.1:22         0.0.0.0:*
`;
  assert.deepEqual(parseListening(text), [
    { protocol: "udp", address: "0.0.0.0", port: 68, programs: [{ program: "dhclient", pid: 5 }] },
    {
      protocol: "tcp",
      address: "[::]",
      port: 80,
      programs: [{ program: "nginx", pid: 12 }, { program: "nginx", pid: 13 }],
    },
    { protocol: "tcp", address: "127.0.0.1", port: 22, programs: [] },
  ]);
});
