/** IP addresses and subnets: reads both families, and says whether one holds the other. */

export interface Address {
  readonly family: 4 | 6;
  readonly bits: bigint;
}

/** All addresses that begin with the same bits; a single address is a subnet of full length. */
export interface Subnet {
  readonly family: 4 | 6;
  readonly network: bigint;
  readonly hostBits: bigint;
}

const WIDTH = { 4: 32, 6: 128 } as const;
/** Longest text of an address: eight groups, the last two of them dotted. */
const TEXT_LENGTH_MAX = 45;

/** Reads `10.1.2.3` or `2001:db8::1`; a zone (`%eth0`) and a prefix length behind it are ignored. Null for other text. */
export function parseAddress(text: string): Address | null {
  const bare = /^[^%/]*/.exec(text)![0];
  if (bare.length > TEXT_LENGTH_MAX) return null;
  const bits = bare.includes(":") ? sixBits(bare) : fourBits(bare);
  return bits === null ? null : { family: bare.includes(":") ? 6 : 4, bits };
}

/** Reads `10.0.0.0/8`, `2001:db8::/32` or one address. Null for other text. */
export function parseSubnet(text: string): Subnet | null {
  const [head = "", length, ...rest] = text.split("/");
  const address = /%/.test(head) ? null : parseAddress(head);
  if (address === null || rest.length > 0) return null;
  const width = WIDTH[address.family];
  if (length !== undefined && !/^\d{1,3}$/.test(length)) return null;
  const prefix = length === undefined ? width : Number(length);
  if (prefix > width) return null;
  const hostBits = BigInt(width - prefix);
  return { family: address.family, network: address.bits >> hostBits, hostBits };
}

/** Whether the subnet holds the address. */
export function holds({ family, network, hostBits }: Subnet, address: Address): boolean {
  return address.family === family && address.bits >> hostBits === network;
}

/** Leading zeros are refused: some readers take them for octal. */
function fourBits(text: string): bigint | null {
  const parts = text.split(".");
  if (parts.length !== 4) return null;
  let bits = 0;
  for (const part of parts) {
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return null;
    bits = bits * 256 + Number(part);
  }
  return BigInt(bits);
}

function sixBits(text: string): bigint | null {
  const halves = text.split("::");
  if (halves.length > 2) return null;
  const [head, tail] = halves.map((half, at) =>
    half === "" ? [] : groupsOf(half, at === halves.length - 1)
  );
  if (head === null || tail === null || head === undefined) return null;
  const count = head.length + (tail?.length ?? 0);
  if (tail === undefined ? count !== 8 : count > 7) return null;
  const zeros: number[] = new Array(8 - count).fill(0);
  return [...head, ...zeros, ...(tail ?? [])].reduce(
    (bits, group) => bits << 16n | BigInt(group),
    0n,
  );
}

/** Groups of 16 bits; the last two of all may be written as an address of the other family. */
function groupsOf(half: string, isLast: boolean): number[] | null {
  const parts = half.split(":");
  const last = parts.at(-1)!;
  const dotted = isLast && last.includes(".") ? fourBits(last) : undefined;
  if (dotted === null) return null;
  if (dotted !== undefined) parts.pop();
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return null;
  const groups = parts.map((part) => parseInt(part, 16));
  return dotted === undefined
    ? groups
    : [...groups, Number(dotted >> 16n), Number(dotted & 0xffffn)];
}
