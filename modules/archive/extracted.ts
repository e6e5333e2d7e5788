/** `archive.extracted`: keeps the content of an archive in a folder. */
import {
  absolutePath,
  checked,
  defaulted,
  defineModule,
  flag,
  type Grant,
  type Host,
  line,
  netOf,
  oneOf,
  optional,
  parseDigest,
  primary,
  type Program,
  shortHash,
} from "../../core/module.ts";

export default defineModule({
  name: "archive.extracted",
  summary: "Keeps the content of a tar or zip archive in a folder.",
  description:
    `The folder, or \`if_missing\`, says whether the archive was extracted; with \`source_hash\` a marker in the folder says
which one. An archive from a web server is verified before it is opened; one over plain http must have a digest.`,
  params: {
    name: primary(absolutePath("Folder to extract to.")),
    source: checked(line("Archive: a file of the host, or an http or https address."), wrongSource),
    archive_format: defaulted(
      oneOf(["auto", "tar", "zip"], "Which kind; by the name of the source when auto."),
      "auto",
    ),
    if_missing: optional(absolutePath("Extract only if this does not exist."), "the folder itself"),
    source_hash: optional(checked(line("Digest of the archive: `sha256=…`."), wrongDigest)),
    makedirs: defaulted(flag("Make the folder and its parents."), false),
    skip_verify: defaulted(flag("Take what a server sends without a digest."), false),
  },
  permissions(p): Grant {
    const isWeb = webSource(p.source);
    return {
      read: [p.if_missing ?? p.name, ...(isWeb ? [] : [p.source])],
      write: [p.name, ...(p.source_hash === undefined && !isWeb ? [] : [`${p.name}/**`])],
      run: [extractProgram(p)],
      ...(isWeb ? { net: [netOf(p.source)] } : {}),
    };
  },
  async check(p, host) {
    refuseUnverified(p);
    const diff = await driftOf(p, host);
    return diff === null ? null : { diff };
  },
  async apply(p, host) {
    refuseUnverified(p);
    if (await driftOf(p, host) === null) return null;
    const isNew = await host.stat(p.name) === null;
    if (isNew && !p.makedirs) {
      throw new Error(`folder ${p.name} does not exist (set makedirs: true to create it)`);
    }
    if (isNew) await host.makeFolder(p.name, { parents: true });
    try {
      await extract(p, host);
    } catch (thrown) {
      // A half extracted folder of our own must not count as done at the next look.
      if (isNew) await host.remove(p.name, { tree: true });
      throw thrown;
    }
    return {
      diff: `extracted ${p.source} to ${p.name}`,
      details: { source: p.source, target: p.name, format: formatOf(p) },
      memo: { isNew },
    };
  },
  async revert(p, { isNew }: { isNew: boolean }, host) {
    if (!isNew) return { diff: `${p.name} was there before and stays`, changed: false };
    await host.remove(p.name, { tree: true });
    return { diff: `removed ${p.name} (revert extract)` };
  },
  examples: [{
    title: "As a state",
    code: `/opt/app:
  archive.extracted:
    - source: https://example.org/app-1.2.tar.gz
    - source_hash: sha256=0123…
    - makedirs: true`,
  }, {
    title: "On the command line",
    code: "zester 'web*' archive.extracted /opt/app source=/srv/app.tgz makedirs=true",
  }],
});

interface Params {
  readonly name: string;
  readonly source: string;
  readonly archive_format: "auto" | "tar" | "zip";
  readonly if_missing?: string | undefined;
  readonly source_hash?: string | undefined;
  readonly skip_verify: boolean;
}

function webSource(source: string): boolean {
  return /^https?:/.test(source);
}

function wrongSource(source: string): string | null {
  return webSource(source) || source.startsWith("/")
    ? null
    : "an absolute path, or an http or https address is wanted";
}

function wrongDigest(text: string): string | null {
  try {
    parseDigest(text);
    return null;
  } catch (thrown) {
    return (thrown as Error).message;
  }
}

/** What came over plain http could have been changed by anybody on the way. */
function refuseUnverified(p: Params): void {
  if (!p.source.startsWith("http:") || p.source_hash !== undefined || p.skip_verify) return;
  throw new Error(`${p.source} needs a source_hash: plain http can be changed on the way`);
}

function formatOf({ archive_format, source }: Params): "tar" | "zip" {
  if (archive_format !== "auto") return archive_format;
  return /\.zip$/i.test(source.split(/[?#]/)[0]!) ? "zip" : "tar";
}

function idOf({ source }: Params): string {
  return shortHash(source);
}

function markerOf(p: Params): string {
  return `${p.name}/.zester-archive-${idOf(p)}.hash`;
}

/** Where the archive lies while it is extracted. */
function archivePath(p: Params): string {
  return webSource(p.source) ? `${p.name}/.zester-archive-${idOf(p)}.download` : p.source;
}

function extractProgram(p: Params): Program {
  return formatOf(p) === "zip"
    ? ["unzip", "-q", "-o", archivePath(p), "-d", p.name]
    : ["tar", "--no-same-owner", "-xf", archivePath(p), "-C", p.name];
}

async function driftOf(p: Params, host: Host): Promise<string | null> {
  const witness = p.if_missing ?? p.name;
  if (await host.stat(witness) === null) return `${witness} does not exist`;
  if (p.source_hash === undefined) return null;
  const marker = await host.readFile(markerOf(p));
  const found = marker === null ? null : new TextDecoder().decode(marker).trim();
  return found === p.source_hash.trim()
    ? null
    : `${p.name} does not hold the archive ${p.source_hash.trim()}`;
}

async function extract(p: Params, host: Host): Promise<void> {
  const archive = archivePath(p);
  if (webSource(p.source)) await download(p, host, archive);
  else await verifyFile(p, host);
  const { code, stderr } = await host.run(extractProgram(p));
  if (webSource(p.source)) await host.remove(archive);
  if (code !== 0) throw new Error(`${formatOf(p)}: ${stderr.trim() || `exit status ${code}`}`);
  if (p.source_hash !== undefined) await host.replaceFile(markerOf(p), `${p.source_hash.trim()}\n`);
}

async function download(p: Params, host: Host, path: string): Promise<void> {
  const { status, body } = await host.fetch(p.source);
  if (status !== 200) throw new Error(`${p.source}: the server answered ${status}`);
  if (p.source_hash !== undefined) {
    const { algorithm, hex } = parseDigest(p.source_hash);
    verify(p.source, await host.digest(body, algorithm), hex);
  }
  await host.replaceFile(path, body, { mode: 0o600 });
}

async function verifyFile({ source, source_hash }: Params, host: Host): Promise<void> {
  if (source_hash === undefined) {
    if (await host.stat(source) === null) throw new Error(`${source} does not exist`);
    return;
  }
  const { algorithm, hex } = parseDigest(source_hash);
  const found = await host.hashFile(source, algorithm);
  if (found === null) throw new Error(`${source} does not exist`);
  verify(source, found, hex);
}

function verify(source: string, found: string, wanted: string): void {
  if (found !== wanted) throw new Error(`${source}: its digest is ${found}, wanted ${wanted}`);
}
