/** Where the content of a file may come from: the host itself, the state tree, or a web server with a digest. */
import { type Digest, type Grant, type Host, netOf, parseDigest } from "../../core/module.ts";

const TREE = "zester://";

type SourceKind = "tree" | "web" | "host";

function kindOf(source: string): SourceKind {
  if (source.startsWith(TREE)) return "tree";
  return /^https?:\/\//.test(source) ? "web" : "host";
}

/** The path of a source in the state tree. */
export function treePath(source: string): string {
  return source.slice(TREE.length).replace(/\/+$/, "");
}

/** Whether a source is in the state tree. */
export function isTreeSource(source: string): boolean {
  return kindOf(source) === "tree";
}

/** Whether a source is a file of the host. */
export function isHostSource(source: string): boolean {
  return kindOf(source) === "host";
}

/** Whether a source is on a web server: a look does not fetch it. */
export function isWebSource(source: string): boolean {
  return kindOf(source) === "web";
}

/** What reading the source needs. */
export function sourceGrant(source: string | undefined): Grant {
  if (source === undefined) return {};
  switch (kindOf(source)) {
    case "tree":
      return { tree: [treePath(source)] };
    case "web":
      return { net: [netOf(source)] };
    case "host":
      return { read: [source] };
  }
}

/** The bytes of the source, with its digest verified if one is declared. */
export async function readSource(
  host: Host,
  source: string,
  digest: Digest | null,
): Promise<Uint8Array> {
  const bytes = await fetchSource(host, source);
  if (digest !== null) verify(source, digest, await host.digest(bytes, digest.algorithm));
  return bytes;
}

async function fetchSource(host: Host, source: string): Promise<Uint8Array> {
  const kind = kindOf(source);
  if (kind === "web") {
    const { status, body } = await host.fetch(source);
    if (status !== 200) throw new Error(`source ${source}: the server answered ${status}`);
    return body;
  }
  const bytes = kind === "tree"
    ? await host.treeFile(treePath(source))
    : await host.readFile(source);
  if (bytes === null) throw new Error(`source ${source} does not exist`);
  return bytes;
}

/** The digest that is declared for a source; null when none is. A web source must have one. */
export function declaredDigest(source: string, text: string | undefined): Digest | null {
  if (text !== undefined) return parseDigest(text);
  if (!isWebSource(source)) return null;
  throw new Error(`source ${source}: a web source needs a source_hash`);
}

/** Throws when what was found is not what was declared. */
export function verify(source: string, { algorithm, hex }: Digest, found: string): void {
  if (found === hex) return;
  throw new Error(`source ${source}: its ${algorithm} is ${found}, wanted ${hex}`);
}
