/** `file.managed`: keeps one regular file at a given content, mode and owner. */
import {
  absolutePath,
  aliased,
  type Attributes,
  defaulted,
  defineModule,
  type Digest,
  type Drift,
  type FileInfo,
  fileMode,
  flag,
  type Grant,
  type Host,
  line,
  map,
  optional,
  primary,
  sensitive,
  templateFlag,
  text,
  textOf,
} from "../../core/module.ts";
import { contentDiff, holds, sizeOf, type Wanted, write } from "./_content.ts";
import {
  declaredDigest,
  isHostSource,
  isWebSource,
  readSource,
  sourceGrant,
  verify,
} from "./_source.ts";
import {
  attributeDrift,
  ensureParents,
  FILE_MODE,
  makedirs,
  octal,
  ownerIds,
  ownerReads,
  ownership,
  parentDrift,
  parentGrant,
  statRegular,
} from "./_state.ts";
import { attributeMemo, type Memo, memoAt, putBack } from "./_undo.ts";

export default defineModule({
  name: "file.managed",
  summary: "Keeps one regular file at a given content, mode and owner.",
  description:
    `The content is given in \`content\`, or comes from \`source\`: a file of the host, of the state tree (\`zester://…\`), or
of a web server together with its \`source_hash\`. With \`template\` it is rendered first, with facts, settings, \`defaults\` and
\`context\`. The file is replaced at once: readers see the old content or the new one. Without \`content\` and \`source\` only
mode and owner are kept, and a missing file is made empty.

A dry run does not ask web servers: it compares the file with \`source_hash\`, and of a template from there it cannot tell.`,
  params: {
    name: primary(absolutePath("File to keep."), "path"),
    content: optional(aliased(text("Exact content wanted, UTF-8."), "contents")),
    secret_content: optional(
      sensitive(
        text("The same for a secret: never shown, and old content is not kept for an undo."),
      ),
    ),
    source: optional(line("Where the content comes from; wins over content.")),
    source_hash: optional(line("Digest of the source: `sha256=…`; a web source must have one.")),
    template: defaulted(templateFlag("Render the content as a template."), false),
    context: optional(map("Values for the template.")),
    defaults: optional(map("Values for the template where context has none.")),
    mode: optional(
      fileMode("Permission bits such as 0644; left alone when absent."),
      "0644 for a new file",
    ),
    ...ownership,
    makedirs,
    replace: defaulted(flag("Replace the content of a file that is there."), true),
    follow: defaulted(flag("Write to where a link at the path leads."), false),
    show_changes: defaulted(flag("Show what changed in the content."), true),
  },
  permissions(p): Grant {
    const parents = parentGrant({ path: p.name, makedirs: p.makedirs });
    const source = sourceGrant(p.source);
    return {
      ...source,
      read: [...parents.read, ...ownerReads(p), ...(source.read ?? [])],
      write: [p.name, ...parents.write],
    };
  },
  async check(p, host) {
    const missing = await parentDrift(host, { path: p.name, makedirs: p.makedirs });
    if (missing !== null) return { diff: missing };
    const before = await statRegular(host, p.name, p);
    const attributes = await attributesOf(p, host);
    if (p.source !== undefined && isWebSource(p.source) && (before === null || p.replace)) {
      return await webDrift(p, host, { before, attributes, source: p.source });
    }
    return await driftOf(p, host, { before, attributes, want: await wantedOf(p, host, before) });
  },
  async apply(p, host) {
    await ensureParents(host, { path: p.name, makedirs: p.makedirs });
    const before = await statRegular(host, p.name, p);
    const attributes = await attributesOf(p, host);
    const want = await wantedOf(p, host, before);
    const drift = await driftOf(p, host, { before, attributes, want });
    if (drift === null) return null;
    const mode = attributes.mode ?? before?.mode ?? FILE_MODE;
    const memo = await memoFor(p, host, before, drift);
    if (drift.hasContent || p.follow) {
      const whole = want ?? { from: "file", path: p.name, size: before?.size ?? 0 };
      await write(host, p.name, whole, { ...attributes, mode, follow: p.follow });
    } else {
      await host.setAttributes(p.name, attributes);
    }
    const bytes = want === null ? before?.size ?? 0 : sizeOf(want);
    const wrote = `wrote ${bytes} bytes to ${p.name} (mode ${octal(mode)})`;
    return {
      diff: drift.hasContent ? `${wrote}\n${drift.changes}`.trim() : drift.diff,
      details: { path: p.name, bytes: String(bytes), mode: octal(mode) },
      memo,
    };
  },
  revert: (p, memo: Memo, host) => putBack(host, p.name, memo, p),
  examples: [
    {
      title: "A message of the day",
      code: "zester '*' file.managed /etc/motd content='Mind the gap'",
    },
    {
      title: "From the state tree, rendered",
      code: `/etc/nginx/nginx.conf:
  file.managed:
    - source: zester://nginx/nginx.conf
    - template: jinja
    - context:
        workers: 4
    - user: root
    - mode: "0644"`,
    },
  ],
  differences: [
    "Sources are addressed with `zester://`, not `salt://`.",
    "A link at the path is an error unless `follow` is set.",
    "A backup for `zester job undo` is always kept, up to a size; `backup` is not a parameter.",
    "The content is exact: no newline is added to it.",
  ],
});

interface Params {
  readonly name: string;
  readonly content?: string | undefined;
  readonly secret_content?: string | undefined;
  readonly source?: string | undefined;
  readonly source_hash?: string | undefined;
  readonly template: boolean;
  readonly context?: Readonly<Record<string, unknown>> | undefined;
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
  readonly mode?: number | undefined;
  readonly user?: string | undefined;
  readonly group?: string | undefined;
  readonly replace: boolean;
  readonly follow: boolean;
  readonly show_changes: boolean;
}

async function attributesOf(p: Params, host: Host): Promise<Attributes> {
  return { ...(p.mode === undefined ? {} : { mode: p.mode }), ...await ownerIds(host, p) };
}

// ---- what is wanted ------------------------------------------------------------------------------------------

/** The content wanted; null when what is there stays. */
async function wantedOf(p: Params, host: Host, before: FileInfo | null): Promise<Wanted | null> {
  if (before !== null && !p.replace) return null;
  if (p.source !== undefined) return await wantedFrom(p, host, { source: p.source, before });
  const content = p.secret_content ?? p.content;
  if (content === undefined) return before === null ? bytesOf("") : null;
  return p.template ? await rendered(p, host, content) : bytesOf(content);
}

async function wantedFrom(
  p: Params,
  host: Host,
  { source, before }: { source: string; before: FileInfo | null },
): Promise<Wanted | null> {
  const digest = declaredDigest(source, p.source_hash);
  if (p.template) {
    const content = textOf(await readSource(host, source, digest));
    if (content === null) throw new Error(`${source} is no text and cannot be a template`);
    return await rendered(p, host, content);
  }
  if (isHostSource(source)) return await hostFile(host, source, digest);
  // What is there is right already: it need not be fetched again.
  const isThere = before !== null && digest !== null && isWebSource(source) &&
    await host.hashFile(p.name, digest.algorithm) === digest.hex;
  return isThere ? null : { from: "bytes", bytes: await readSource(host, source, digest) };
}

async function hostFile(
  host: Host,
  source: string,
  digest: Digest | null,
): Promise<Wanted> {
  const info = await statRegular(host, source, { follow: true });
  if (info === null) throw new Error(`source ${source} does not exist`);
  if (digest !== null) {
    verify(source, digest, await host.hashFile(source, digest.algorithm) ?? "");
  }
  return { from: "file", path: source, size: info.size };
}

async function rendered(p: Params, host: Host, source: string): Promise<Wanted> {
  return bytesOf(await host.render(source, { ...p.defaults, ...p.context }));
}

function bytesOf(text: string): Wanted {
  return { from: "bytes", bytes: new TextEncoder().encode(text) };
}

// ---- what differs --------------------------------------------------------------------------------------------

interface Compared {
  readonly before: FileInfo | null;
  readonly attributes: Attributes;
  readonly want: Wanted | null;
}

interface ContentDrift extends Drift {
  readonly hasContent: boolean;
  readonly changes: string;
}

/** What differs, and how the content does; null when nothing does. */
async function driftOf(
  p: Params,
  host: Host,
  { before, attributes, want }: Compared,
): Promise<ContentDrift | null> {
  if (before !== null && (want === null || await holds(host, p.name, before, want))) {
    const diff = attributeDrift(p.name, before, attributes);
    return diff === null ? null : { diff, hasContent: false, changes: "" };
  }
  const changes = p.show_changes && p.secret_content === undefined
    ? await contentDiff(host, p.name, before, want ?? bytesOf(""))
    : "(not shown)";
  return { diff: `${whyOf(p, before)}\n${changes}`.trim(), hasContent: true, changes };
}

function whyOf({ name }: Params, before: FileInfo | null): string {
  return before === null ? `file ${name} does not exist` : `content differs for ${name}`;
}

/** What a look can say without asking a web server. */
async function webDrift(
  p: Params,
  host: Host,
  { before, attributes, source }: Omit<Compared, "want"> & { source: string },
): Promise<Drift | null> {
  const digest = declaredDigest(source, p.source_hash);
  if (p.template && before !== null) {
    return { diff: `${p.name} is rendered from ${source}, which was not asked`, isUnsure: true };
  }
  const isRight = before !== null && digest !== null &&
    await host.hashFile(p.name, digest.algorithm) === digest.hex;
  if (!isRight) return { diff: `${whyOf(p, before)} (it comes from ${source})` };
  const diff = attributeDrift(p.name, before, attributes);
  return diff === null ? null : { diff };
}

async function memoFor(
  p: Params,
  host: Host,
  before: FileInfo | null,
  { hasContent }: ContentDrift,
): Promise<Memo> {
  if (before === null) return { was: "absent", made: "file" };
  if (!hasContent && !p.follow) return attributeMemo(before);
  if (p.secret_content !== undefined) {
    return { was: "lost", why: "it held a secret, which is not kept" };
  }
  return await memoAt(host, p.name, before);
}
