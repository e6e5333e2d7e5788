/**
 * What a module can do outside of its own computing: the host calls. A worker has no permission of any kind; each of
 * these travels to the peel, which checks it against the grant of the call it belongs to and does it. One table says what
 * every call needs, so that no call is without a check.
 */
import type { Facts, PlainValue } from "../module.ts";
import type { Need, Program } from "./grant.ts";

export interface FileInfo {
  readonly kind: "file" | "folder" | "link" | "other";
  /** Permission and special bits only. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly modifiedMs: number;
  /** Where a link points, as it is written in it. */
  readonly target?: string;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: FileInfo["kind"];
}

/** What is absent is left as it is, or as the system would make it. */
export interface Attributes {
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
}

export interface ReplaceOptions extends Attributes {
  /** Write to where a link at the path points; without it a link there is an error. */
  readonly follow?: boolean;
}

export interface RunOptions {
  readonly stdin?: string;
  /** Added to the small environment that every program gets. What is not harmless must be granted (`env`). */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** Run as this user, with its groups. */
  readonly user?: string;
  readonly umask?: number;
  /** Bytes kept of stdout and of stderr each; the rest is counted, not kept. */
  readonly outputBytesMax?: number;
}

export interface RunResult {
  /** Exit status; 128 + the signal's number when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes that were left out of the output. */
  readonly droppedBytes: number;
  /** It was ended because its time was up. */
  readonly timedOut: boolean;
}

export interface FetchOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs?: number;
  readonly bytesMax?: number;
}

export interface FetchResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** What `sys.doc`, `sys.list_functions` and `sys.grants` ask the peel for. */
export interface CatalogQuestion {
  readonly about: "functions" | "doc" | "grants";
  readonly name?: string;
  readonly params?: Readonly<Record<string, unknown>>;
}

export interface HostCalls {
  /**
   * What is at the path; null when nothing is. Any other failure to look is an error. A link there is reported as one, or
   * with `follow` followed where nobody but root could have put it.
   */
  stat(path: string, options?: { follow?: boolean }): Promise<FileInfo | null>;
  /** Content of a regular file; null when nothing is there. Follows links only where nobody but root could have put them. */
  readFile(path: string, options?: { bytesMax?: number }): Promise<Uint8Array | null>;
  /** SHA-256 (or another digest) of a regular file in hex; null when nothing is there. */
  hashFile(path: string, algorithm?: string): Promise<string | null>;
  /** The same of bytes at hand. The peel does it: what a worker would have to load for it costs more than the worker. */
  digest(bytes: Uint8Array, algorithm?: string): Promise<string>;
  /** What is in a folder, sorted by name; null when nothing is there. */
  listFolder(path: string): Promise<FolderEntry[] | null>;
  /** Old or new, never between. Keeps mode and owner of what was there unless told; 0644 for a new file. */
  replaceFile(path: string, content: Uint8Array | string, options?: ReplaceOptions): Promise<void>;
  /** Copies a regular file whose content need not pass through the worker. */
  copyFile(from: string, to: string, options?: ReplaceOptions): Promise<void>;
  /** Makes one folder; fine if it is there. `parents`: those too, 0755. */
  makeFolder(path: string, options?: Attributes & { parents?: boolean }): Promise<void>;
  makeLink(path: string, target: string): Promise<void>;
  /** Removes a file, a link, or with `tree` a whole folder, never through a link. Fine if it is gone. */
  remove(path: string, options?: { tree?: boolean }): Promise<void>;
  /** Changes mode, owner or time of what is at the path, never through a link. */
  setAttributes(path: string, attributes: Attributes & { modifiedMs?: number }): Promise<void>;
  /** Runs a program by its argument array. A status other than 0 is an answer, not an error. */
  run(program: Program, options?: RunOptions): Promise<RunResult>;
  /** HTTP. A redirect to a host that was not granted is refused. */
  fetch(url: string, options?: FetchOptions): Promise<FetchResult>;
  signal(pid: number, signal: string): Promise<void>;
  /** Waits. A worker has no timers of its own: loading them takes a quarter of its start. */
  sleep(ms: number): Promise<void>;
  /** A file of the state tree; null when there is none. */
  treeFile(path: string): Promise<Uint8Array | null>;
  /** Paths of the state tree below a folder of it. */
  treeList(path: string): Promise<string[]>;
  sendEvent(tag: string, data: Readonly<Record<string, PlainValue>>): Promise<void>;
  setFact(key: string, value: PlainValue): Promise<void>;
  settings(): Promise<Readonly<Record<string, PlainValue>>>;
  catalog(question: CatalogQuestion): Promise<PlainValue>;
  /** Renders a template with the facts and these values, apart from everything else. */
  render(source: string, values: Readonly<Record<string, unknown>>): Promise<string>;
}

/** The host as a module sees it. */
export interface Host extends HostCalls {
  readonly facts: Facts;
}

export type HostCallName = keyof HostCalls;

type Arguments<Name extends HostCallName> = Parameters<HostCalls[Name]>;

type NeedsTable = { readonly [Name in HostCallName]: (...args: Arguments<Name>) => Need[] };

const path = (kind: "read" | "write") => (what: string): Need[] => [{ kind, what }];
const peel = (what: string) => (): Need[] => [{ kind: "peel", what }];

/** What each call needs, worked out from its arguments. */
export const HOST_CALLS: NeedsTable = {
  stat: path("read"),
  readFile: path("read"),
  hashFile: path("read"),
  digest: () => [],
  listFolder: path("read"),
  replaceFile: path("write"),
  copyFile: (from, to) => [{ kind: "read", what: from }, { kind: "write", what: to }],
  makeFolder: path("write"),
  makeLink: path("write"),
  remove: (what, options) => [
    { kind: "write", what },
    ...(options?.tree ? [{ kind: "write", what: `${what}/**` } as const] : []),
  ],
  setAttributes: path("write"),
  run: (program, options) => [
    { kind: "run", program },
    ...Object.keys(options?.env ?? {}).map((what) => ({ kind: "env", what }) as const),
  ],
  fetch: (url) => [{ kind: "net", what: netOf(url) }],
  signal: (pid) => [{ kind: "signal", what: String(pid) }],
  sleep: () => [],
  treeFile: (what) => [{ kind: "tree", what }],
  treeList: (what) => [{ kind: "tree", what }],
  sendEvent: peel("event"),
  setFact: peel("facts"),
  settings: peel("settings"),
  catalog: peel("catalog"),
  render: () => [],
};

const PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/** `host:port` of a URL, as grants spell it. Throws on what is no http or https URL. */
export function netOf(url: string): string {
  const parsed = URL.parse(url);
  const port = parsed === null ? undefined : PORTS[parsed.protocol];
  if (parsed === null || port === undefined) {
    throw new TypeError(`${JSON.stringify(url)} is no http or https address`);
  }
  return `${parsed.hostname}:${parsed.port || port}`;
}
