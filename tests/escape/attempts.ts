/** What modules try, and what comes of it. Each row is one attempt: its name, its code, and the text of its outcome. */
import type { Attempt } from "./playground.ts";

export type Row = readonly [what: string, body: string, wanted: RegExp, attempt?: Attempt];

const NO_CODE = /code cannot be made from text|is not defined|is not a function/;
const NOT_GRANTED = /not granted|not an absolute path without/;
const NOT_SOUND = /not what they should be|must be|is no|plain data|not granted/;

function gone(...names: string[]): Row[] {
  return names.map((name) => [name, `return String(${name})`, /is not defined/]);
}

/** What the scope of a module does not hold, since no permission of a worker stands before it. */
export const SCOPE: readonly Row[] = [
  ...gone("Deno", "process", "Buffer", "global", "self", "Worker", "fetch", "WebSocket"),
  ...gone("EventSource", "BroadcastChannel", "MessageChannel", "SharedArrayBuffer", "postMessage"),
  ...gone("WebAssembly", "caches", "navigator", "localStorage", "close", "importScripts", "eval"),
  ...gone("setTimeout", "setInterval", "setImmediate"),
  ["globalThis.eval", "return globalThis.eval('1')", NO_CODE],
  ["new Function", "return new Function('return 1')()", NO_CODE],
  ["Function as a call", "return Function('return 1')()", NO_CODE],
  ["the maker of a function", "return (() => 1).constructor('return 1')()", NO_CODE],
  ["the maker of a method", "return [].map.constructor('return 1')()", NO_CODE],
  ["the maker of a class", "return (class {}).constructor('return 1')()", NO_CODE],
  ["the maker of async functions", "return (async () => {}).constructor('return 1')()", NO_CODE],
  ["the maker of generators", "return (function* () {}).constructor('yield 1')().next()", NO_CODE],
  ["the maker of async generators", "return (async function* () {}).constructor('')()", NO_CODE],
  ["Reflect.construct", "return Reflect.construct(Function, ['return 1'])()", NO_CODE],
  [
    "a class that extends Function",
    "return new (class extends Function {})('return 1')()",
    NO_CODE,
  ],
  [
    "the maker by its descriptor",
    "const f = Object.getPrototypeOf(async () => {}); return Object.getOwnPropertyDescriptor(f, 'constructor').value('')()",
    NO_CODE,
  ],
  [
    "the maker put back",
    "Object.defineProperty(Function.prototype, 'constructor', { value: 1 }); return 'put'",
    /Cannot redefine/,
  ],
  ["frames of its callers", "Error.prepareStackTrace = (e, s) => s; return 1", /read only/],
  [
    "functions of its callers",
    "const h = {}; Error.captureStackTrace(h); return typeof h.stack",
    /ok: "string"/,
  ],
  [
    "what can be reached from the scope",
    `const seen = new Set(), found = [];
     const wanted = /^(op_|Worker$|fetch$|kill$|exit$|postMessage$|eval$|readFile|Command$|dlopen$|createRequire$)/;
     const walk = (value) => {
       if (value === null || !/object|function/.test(typeof value) || seen.has(value)) return;
       seen.add(value);
       for (const key of Reflect.ownKeys(value)) {
         const { value: part, get } = Reflect.getOwnPropertyDescriptor(value, key);
         if (wanted.test(String(key)) && !seen.has(host)) found.push(String(key));
         walk(part); walk(get);
       }
       walk(Object.getPrototypeOf(value));
     };
     walk(globalThis);
     return [seen.size > 1000, ...found]`,
    /^ok: \[true\]$/,
  ],
];

/** Whole files that the look at their source refuses, naming file and line. */
export const SOURCES: readonly Row[] = ([
  ["a static import of a file", "import x from 'file://OUT/canary.ts'; export default x;"],
  ["a text import", "import x from 'file://OUT/canary' with { type: 'text' }; export default x;"],
  [
    "a JSON import",
    "import x from 'file://OUT/canary.json' with { type: 'json' }; export default x;",
  ],
  ["a bytes import", "import x from 'file://OUT/canary' with { type: 'bytes' }; export default x;"],
  ["an import of node:fs", "import fs from 'node:fs'; export default fs;"],
  ["a dynamic import", "export default await import('file://OUT/canary.ts');"],
  ["a dynamic import in a template", "export default `${await import('node:fs')}`;"],
  ["an npm import", "import x from 'npm:left-pad@1.3.0'; export default x;"],
  ["a remote import", "import x from 'http://127.0.0.1:PORT/x.ts'; export default x;"],
  ["a data: import", "import x from 'data:text/javascript,export default 1'; export default x;"],
  ["a re-export", "export { default } from 'file://OUT/canary.ts';"],
  ["import.meta", "export default import.meta.resolve('file://OUT/canary');"],
  ["code among the names", "import { a = import('node:fs') } from 'zester'; export default a;"],
  ["a source map", "//# sourceMappingURL=file://OUT/canary\nexport default 1;"],
  ["a directive", "/// <reference types='file://OUT/canary.ts' />\nimport { a } from 'zester';"],
] as const).map(([what, source]) => [what, source, /^_modules\/t\/t\.ts:[12]:\d+: /]);

/** Files that break when they are loaded. */
export const LOADS: readonly Row[] = [
  [
    "broken syntax",
    "const a = 1;\nexport default { a: };",
    /^_modules\/t\/t\.ts:2:21: .*Expression expected/,
  ],
  [
    "a name declared twice",
    "let a = 1;\nlet a = 2;\nexport default a;",
    /^_modules\/t\/t\.ts:2:5: /,
  ],
  ["an error at load", "\n\nthrow new Error('at load');", /^_modules\/t\/t\.ts:3:7: at load$/],
  ["a text thrown at load", "throw 'words';", /^_modules\/t\/t\.ts: it threw words$/],
  ["no default export", "const a = 1;", /^_modules\/t\/t\.ts: it has no `export default/],
  ["a number as export", "export default 5;", /^_modules\/t\/t\.ts: it has no `export default/],
  [
    "another name",
    "export default { name: 'cmd.run' };",
    /declares "cmd\.run", its path says "t\.t"/,
  ],
  [
    "a name that it does not export",
    "import { nothing } from 'zester';\nexport default nothing();",
    /_modules\/t\/t\.ts:2:\d+: nothing is not a function/,
  ],
  ["no end at load", "await new Promise(() => {});", /still running after 5000 ms/],
  ["a module without methods", "export default { name: 't.t' };", /_modules\/t\/t\.ts/],
];

const content = (call: string) =>
  `const b = await ${call}; return b === null ? null : typeof b === 'string' ? b : new TextDecoder().decode(b)`;

/** Host calls beyond the grant of the folder IN, or with what no argument should be. */
export const HOST: readonly Row[] = [
  ["reading outside", content("host.readFile('OUT/canary')"), NOT_GRANTED],
  ["reading by dots", content("host.readFile('IN/../out/canary')"), NOT_GRANTED],
  ["reading by a dot", content("host.readFile('IN/./file')"), NOT_GRANTED],
  ["reading by slashes", content("host.readFile('IN//file')"), NOT_GRANTED],
  ["reading a relative path", content("host.readFile('../out/canary')"), NOT_GRANTED],
  ["reading with a NUL", content("host.readFile('IN/file\\0')"), NOT_GRANTED],
  ["the granted folder itself", "return await host.listFolder('IN/file/..')", NOT_GRANTED],
  ["a name that only begins alike", content("host.readFile('OUT')"), NOT_GRANTED],
  ["the memory of the peel", content("host.readFile('/proc/self/environ')"), NOT_GRANTED],
  ["a path in a list", content("host.readFile(['OUT/canary'])"), NOT_SOUND],
  ["a path in disguise", content("host.readFile({ toString: 'OUT/canary' })"), NOT_SOUND],
  [
    "a path that changes when it is looked at",
    "let n = 0; return await host.readFile({ get path() { return n++ ? 'OUT/canary' : 'IN/file' } })",
    NOT_SOUND,
  ],
  [
    "a path with methods",
    content("host.readFile({ toString: () => 'OUT/canary' })"),
    /cannot be passed on/,
  ],
  ["no path", content("host.readFile()"), NOT_SOUND],
  [
    "a path of a million letters",
    content("host.readFile('IN/' + 'a'.repeat(1e6))"),
    /^read "/,
  ],
  ["reading through a link", content("host.readFile('IN/link')"), /leads to .* not granted/],
  [
    "reading through a linked folder",
    content("host.readFile('IN/dir/canary')"),
    /leads to .* not granted/,
  ],
  [
    "reading through a relative link",
    content("host.readFile('IN/relative/canary')"),
    /leads to .* not granted/,
  ],
  [
    "looking through a link",
    "return await host.stat('IN/link', { follow: true })",
    /leads to .* not granted/,
  ],
  [
    "looking for what is outside",
    "return await host.stat('IN/dir/nothing')",
    /leads to .* not granted/,
  ],
  ["hashing through a link", "return await host.hashFile('IN/link')", /leads to .* not granted/],
  ["listing through a link", "return await host.listFolder('IN/dir')", /leads to .* not granted/],
  [
    "copying what a link leads to",
    "return await host.copyFile('IN/link', 'IN/copy')",
    /leads to .* not granted/,
  ],
  ["copying outside", "return await host.copyFile('IN/file', 'OUT/copy')", NOT_GRANTED],
  ["copying from outside", "return await host.copyFile('OUT/canary', 'IN/copy')", NOT_GRANTED],
  ["writing outside", "return await host.replaceFile('OUT/canary', 'x')", NOT_GRANTED],
  ["writing over a link", "return await host.replaceFile('IN/link', 'x')", /is a link/],
  [
    "writing through a link",
    "return await host.replaceFile('IN/link', 'x', { follow: true })",
    /leads to .* not granted/,
  ],
  [
    "writing through a linked folder",
    "return await host.replaceFile('IN/dir/new', 'x')",
    /leads to .* not granted/,
  ],
  ["writing over a second name", "await host.replaceFile('IN/hard', 'x'); return 1", /ok: 1/],
  [
    "a folder through a link",
    "return await host.makeFolder('IN/dir/a/b', { parents: true })",
    /leads to .* not granted/,
  ],
  [
    "a mode through a linked folder",
    "return await host.setAttributes('IN/dir/canary', { mode: 0o777 })",
    /leads to .* not granted/,
  ],
  [
    "a mode through a link",
    "return await host.setAttributes('IN/link', { mode: 0o777 })",
    /is a link/,
  ],
  [
    "removing through a link",
    "return await host.remove('IN/dir/canary')",
    /leads to .* not granted/,
  ],
  [
    "removing a tree that is a link",
    "await host.remove('IN/dir', { tree: true }); return 1",
    /ok: 1/,
  ],
  [
    "removing a tree that was not granted",
    "return await host.remove('OUT', { tree: true })",
    NOT_GRANTED,
  ],
  ["a link to outside", "return await host.makeLink('IN/l', 'OUT/canary')", NOT_GRANTED],
  ["a link to outside by dots", "return await host.makeLink('IN/l', '../out/canary')", NOT_GRANTED],
  [
    "a link to another link",
    "await host.makeLink('IN/l', 'IN/dir'); return await host.listFolder('IN/l')",
    /leads to .* not granted/,
  ],
  ["a link outside", "return await host.makeLink('OUT/l', 'IN/file')", NOT_GRANTED],
  [
    "content in disguise",
    "return await host.replaceFile('IN/new', { length: 5 })",
    /must be text or bytes/,
  ],
  [
    "a mode beyond modes",
    "return await host.replaceFile('IN/new', 'x', { mode: 1e9 })",
    /must be a whole number/,
  ],
  ["a program", "return await host.run(['id'])", NOT_GRANTED],
  ["a program as text", "return await host.run('id')", NOT_SOUND],
  ["no program", "return await host.run([])", NOT_SOUND],
  ["a program with a NUL", "return await host.run(['true\\0'])", NOT_SOUND, {
    grant: { run: [["true"]] },
  }],
  ["another program by a longer name", "return await host.run(['/tmp/true'])", NOT_GRANTED, {
    grant: { run: [["true"]] },
  }],
  ["other arguments than granted", "return await host.run(['echo', 'b'])", NOT_GRANTED, {
    grant: { run: [["echo", "a"]] },
  }],
  ["arguments in a list", "return await host.run(['echo', ['a']])", NOT_SOUND, {
    grant: { run: [["echo", "a"]] },
  }],
  [
    "PATH for a program",
    "return await host.run(['true'], { env: { PATH: 'IN/' } })",
    /env "PATH" was not granted/,
    { grant: { run: [["true"]] } },
  ],
  [
    "LD_PRELOAD",
    "return await host.run(['true'], { env: { LD_PRELOAD: 'IN/x.so' } })",
    NOT_GRANTED,
    { grant: { run: [["true"]] } },
  ],
  [
    "LD_PRELOAD with a grant",
    "return await host.run(['true'], { env: { LD_PRELOAD: 'IN/x.so' } })",
    /must not be set/,
    { grant: { run: [["true"]], env: ["LD_PRELOAD"] } },
  ],
  [
    "BASH_ENV with a grant",
    "return await host.run(['true'], { env: { BASH_ENV: 'IN/x' } })",
    /must not be set/,
    { grant: { run: [["true"]], env: ["BASH_ENV"] } },
  ],
  [
    "a variable with a value that is a list",
    "return await host.run(['true'], { env: { LANG: ['C'] } })",
    /must be text/,
    { grant: { run: [["true"]] } },
  ],
  ["variables as a list", "return await host.run(['true'], { env: ['PATH=x'] })", NOT_GRANTED, {
    grant: { run: [["true"]] },
  }],
  [
    "the environment of the peel",
    "return (await host.run(['env'])).stdout",
    /^ok: "HOME=[^"]*PATH=[^"]*"$/,
    {
      grant: { run: [["env"]] },
    },
  ],
  [
    "a user that is an option",
    "return await host.run(['true'], { user: '--help' })",
    /is no name of a user/,
    { grant: { run: [["true"]] } },
  ],
  [
    "a folder by dots",
    "return await host.run(['true'], { cwd: 'IN/../out' })",
    /not an absolute path/,
    { grant: { run: [["true"]] } },
  ],
  [
    "a mask that is a command",
    "return await host.run(['true'], { umask: '0; id' })",
    /must be a whole number/,
    { grant: { run: [["true"]] } },
  ],
  ["the network", "return await host.fetch('http://127.0.0.1:PORT/')", NOT_GRANTED],
  ["a file by fetch", "return await host.fetch('file://OUT/canary')", /no http or https address/],
  ["another port", "return await host.fetch('http://127.0.0.1:PORT/')", NOT_GRANTED, {
    grant: { net: ["127.0.0.1:1"] },
  }],
  [
    "an address in a list",
    "return await host.fetch(['http://127.0.0.1:PORT/'])",
    /must be text|not granted/,
  ],
  [
    "an address that begins as another",
    "return await host.fetch('http://granted:80@127.0.0.1:PORT/')",
    NOT_GRANTED,
    { grant: { net: ["granted:80"] } },
  ],
  ["a signal to the first process", "return await host.signal(1, 'TERM')", /is not sent signals/, {
    grant: { signal: ["1"] },
  }],
  ["a signal to every process", "return await host.signal(-1, 'TERM')", /is not sent signals/, {
    grant: { signal: ["-1"] },
  }],
  ["a signal without a grant", "return await host.signal(2, 'TERM')", NOT_GRANTED],
  ["a process in a list", "return await host.signal([2], 'TERM')", /is not sent signals/, {
    grant: { signal: ["2"] },
  }],
  ["the state tree by dots", content("host.treeFile('../out/canary')"), NOT_GRANTED, {
    grant: { tree: ["**", "../**", "/**"] },
  }],
  ["other files of the state tree", content("host.treeFile('_modules/t/t.ts')"), NOT_GRANTED],
  ["an event", "return await host.sendEvent('a/b', {})", NOT_GRANTED],
  ["a fact", "return await host.setFact('a', 1)", NOT_GRANTED],
  ["the settings", "return await host.settings()", NOT_GRANTED],
  ["the catalog", "return await host.catalog({ about: 'functions' })", NOT_GRANTED],
  ["a call that is none", "return await host.constructor('x')", /no plain data/],
];

/** Grants that say other than they seem to. */
export const GRANTS: readonly Row[] = [
  ...["//**", "/etc/../**", "etc/**", "**", "/etc/*", "/etc/./**", "", "/etc/hostname/"].map((
    path,
  ): Row => [
    `the grant ${JSON.stringify(path)}`,
    content("host.readFile('/etc/hostname')"),
    NOT_GRANTED,
    { grant: { read: [path] } },
  ]),
  ["a kind that is none", "return 1", /no kind "all"/, { permissions: "() => ({ all: ['/'] })" }],
  ["a prototype as a kind", "return 1", /no kind "__proto__"|no plain data/, {
    permissions: `() => JSON.parse('{"__proto__": {"read": ["/**"]}}')`,
  }],
  ["a text for a list", "return 1", /read is no list/, { permissions: "() => ({ read: '/**' })" }],
  ["a number in a list", "return 1", /holds what cannot be granted/, {
    permissions: "() => ({ read: [1] })",
  }],
  ["an empty program", "return 1", /holds what cannot be granted/, {
    permissions: "() => ({ run: [[]] })",
  }],
  ["a service that is none", "return 1", /holds what cannot be granted/, {
    permissions: "() => ({ peel: ['constructor'] })",
  }],
  ["a promise for a grant", "return 1", /_modules\/t\/t\.ts/, { permissions: "async () => ({})" }],
  ["an error in permissions()", "return 1", /^_modules\/t\/t\.ts: .*broken/, {
    permissions: "() => { throw new Error('broken') }",
  }],
  ["no end in permissions()", "return 1", /still running after 5000 ms/, {
    permissions: "() => { const end = Date.now() + 8_000; while (Date.now() < end); }",
  }],
  ["a host in permissions()", "return 1", /_modules\/t\/t\.ts.*(undefined|not a function)/, {
    permissions: "(params, facts, host) => host.readFile('OUT/canary')",
  }],
  [
    "a grant that is another one each time",
    content("host.readFile('OUT/canary')"),
    NOT_GRANTED,
    { permissions: "(() => { let n = 0; return () => n++ ? { read: ['OUT/canary'] } : {} })()" },
  ],
  ["more than a policy denies: a probe for a run", "return 1", /denied by the row/, {
    grant: { probe: [["sh"]] },
    policy: { deny: { "*": { run: ["sh*"] } } },
  }],
  ["more than a policy denies: a write for a read", "return 1", /denied by the row/, {
    grant: { write: ["/etc/shadow"] },
    policy: { deny: { "*": { read: ["/etc/shadow"] } } },
  }],
  ["more than a policy denies: all for a part", "return 1", /denied by the row/, {
    grant: { read: ["/**"] },
    policy: { deny: { "*": { read: ["/etc/shadow"] } } },
  }],
  ["more than a policy allows: dots", "return 1", /allowed by no row/, {
    grant: { read: ["/etc/shadow"] },
    policy: { allow: { "t.*": { read: ["/srv/**"] } } },
  }],
  [
    "more than a policy allows: a file like a pattern",
    content("host.readFile('/srv/../etc/hostname')"),
    NOT_GRANTED,
    {
      grant: { read: ["/srv/../etc/hostname"] },
      policy: { allow: { "t.*": { read: ["/srv/**"] } } },
    },
  ],
];

/** Results and parameters that are made to hurt whoever looks at them. */
export const VALUES: readonly Row[] = [
  ["a proxy", "return new Proxy({}, {})", /clone/],
  ["a function", "return () => 1", /clone/],
  ["a value that holds itself", "const a = {}; a.a = a; return a", /nested too deeply/],
  ["a getter that throws", "return { get a() { throw new Error('got') } }", /got/],
  ["a Map", "return new Map([[1, 2]])", /no plain data/],
  ["a result of 100 MB", "return 'x'.repeat(1e8)", /too large/],
  [
    "a list that claims to be long",
    "const a = []; a.length = 4e9; return a",
    /too many parts|no plain data/,
  ],
  ["a result with toJSON", "return { toJSON: 1, a: 2 }", /^ok: \{"toJSON":1,"a":2\}$/],
  ["null as an error", "throw null", /^null$/],
  [
    "an error that cannot be looked at",
    "throw new (class extends Error { get message() { throw 1 } })()",
    /cannot be told/,
  ],
  ["an error that is text only when asked", "throw { toString() { throw 1 } }", /cannot be told/],
  ["an error of a million letters", "throw new Error('x'.repeat(1e6))", /^x{5000}$/],
  [
    "an error that claims to be an end from outside",
    "throw Object.assign(new Error('mine'), { code: 'closed' })",
    /^mine$/,
  ],
  ["a polluted answer", `return JSON.parse('{"__proto__": {"polluted": 1}}')`, /^ok: /],
  ["polluted parameters", "return [({}).polluted ?? null, Object.keys(params)]", /^ok: \[null,/, {
    args: JSON.parse(
      '{"__proto__": {"polluted": 1}, "constructor": {"prototype": {"polluted": 1}}}',
    ),
  }],
  [
    "polluted prototypes",
    "Object.prototype.polluted = 1; Array.prototype.map = () => 'mapped'; Promise.prototype.then = null; return 1",
    /ok: 1|still running|not a function/,
    { timeoutMs: 2_000 },
  ],
  [
    "an error outside of its task",
    "queueMicrotask(() => { throw new Error('late') }); await new Promise(() => {})",
    /late/,
  ],
  [
    "a loop",
    "const end = Date.now() + 4_000; while (Date.now() < end);",
    /still running after 1\d{3} ms/,
    {
      timeoutMs: 2_000,
    },
  ],
  [
    "a flood of calls",
    "for (;;) { for (let i = 0; i < 1e4; i++) host.stat('/x').catch(() => {}); await null }",
    /too fast|still running/,
    { timeoutMs: 2_000 },
  ],
];

/** Code in a worker that the worker makes, which asks for all that its maker has. */
function nested(code: string): string {
  const entry = `Promise.resolve().then(async () => { ${code} }).then(
    (value) => self.postMessage("got " + value), (thrown) => self.postMessage("refused: " + thrown.message))`;
  return `const w = new Worker("data:text/javascript," + encodeURIComponent(${
    JSON.stringify(entry)
  }),
      { type: "module", deno: { permissions: "inherit" } });
    return await new Promise((done) => {
      w.onmessage = ({ data }) => done(data);
      w.onerror = (event) => { event.preventDefault(); done("refused: " + event.message); };
    })`;
}

const DENIED = /Requires \w+ access|refused: Requires|EPERM|not supported|escalate/;

/** What code with all of a worker's scope and `import` meets: only that the worker has no permissions stands before it. */
export const BARE: readonly Row[] = [
  ["Deno: read", "return Deno.readTextFileSync('OUT/canary')", DENIED],
  ["Deno: read through a link", "return Deno.readTextFileSync('IN/link')", DENIED],
  ["Deno: write", "return Deno.writeTextFileSync('OUT/canary', 'x')", DENIED],
  ["Deno: environment", "return Deno.env.toObject()", DENIED],
  ["Deno: a socket", "return String(await Deno.connect({ port: PORT }))", DENIED],
  ["Deno: a program", "return String(new Deno.Command('id').outputSync())", DENIED],
  ["Deno: a library", "return String(Deno.dlopen('libc.so.6', {}))", DENIED],
  [
    "Deno: asking for more",
    "return (await Deno.permissions.request({ name: 'run' })).state",
    /^ok: "denied"$/,
  ],
  [
    "Deno: the core",
    "return typeof (globalThis.__bootstrap ?? Deno.core?.ops?.op_read_file_sync)",
    /^ok: "undefined"$/,
  ],
  [
    "a channel to the peel",
    "const c = new BroadcastChannel('zester'); c.postMessage('x'); return await new Promise((done) => { c.onmessage = done; setTimeout(() => done('silence'), 50) })",
    /silence/,
  ],
  ["node:fs read", "return (await import('node:fs')).readFileSync('OUT/canary', 'utf8')", DENIED],
  ["node:fs write", "return (await import('node:fs')).writeFileSync('OUT/new', 'x')", DENIED],
  ["node:fs by dots", "return (await import('node:fs')).readFileSync('IN/../out/canary')", DENIED],
  ["node:fs through a link", "return (await import('node:fs')).readFileSync('IN/link')", DENIED],
  ["node:fs copy", "return (await import('node:fs')).copyFileSync('OUT/canary', 'OUT/b')", DENIED],
  ["node:fs folder", "return (await import('node:fs')).readdirSync('OUT')", DENIED],
  ["node:fs exists", "return (await import('node:fs')).existsSync('OUT/canary')", DENIED],
  [
    "node:fs symlink",
    "return (await import('node:fs')).symlinkSync('OUT/canary', 'OUT/l')",
    /requires unscoped|Requires/,
  ],
  ["node:fs link", "return (await import('node:fs')).linkSync('OUT/canary', 'OUT/l')", DENIED],
  ["node:fs rename", "return (await import('node:fs')).renameSync('OUT/canary', 'OUT/b')", DENIED],
  ["node:fs/promises", "return (await import('node:fs/promises')).readFile('OUT/canary')", DENIED],
  [
    "node:child_process exec",
    "return (await import('node:child_process')).execSync('cat OUT/canary').toString()",
    DENIED,
  ],
  [
    "node:child_process spawn",
    "return (await import('node:child_process')).spawnSync('id', [], { env: {} }).error.message",
    /Requires|EPERM|ok/,
  ],
  [
    "node:process environment",
    "return (await import('node:process')).env.ZESTER_ESCAPE_CANARY",
    DENIED,
  ],
  ["node:process chdir", "return (await import('node:process')).chdir('/')", DENIED],
  ["node:process setuid", "return (await import('node:process')).setuid(1)", DENIED],
  [
    "node:process dlopen",
    "return (await import('node:process')).dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libc.so.6')",
    DENIED,
  ],
  [
    "node:process binding",
    "return Object.keys((await import('node:process')).default.binding('fs'))",
    /ok: \[\]|not a function|No such/,
  ],
  ["node:process kill of others", "return (await import('node:process')).kill(1, 0)", DENIED],
  ["node:os", "return (await import('node:os')).hostname()", DENIED],
  ["node:os priority", "return (await import('node:os')).setPriority(0, 19)", DENIED],
  [
    "node:net connect",
    "const net = await import('node:net'); return await new Promise((done, fail) => net.connect(PORT, '127.0.0.1', done).on('error', fail))",
    DENIED,
  ],
  [
    "node:net listen",
    "const net = await import('node:net'); return await new Promise((done, fail) => net.createServer().listen(0, () => done('listens')).on('error', fail))",
    DENIED,
  ],
  [
    "node:net unix",
    "const net = await import('node:net'); return await new Promise((done, fail) => net.connect('/run/x.sock', done).on('error', fail))",
    DENIED,
  ],
  [
    "node:http",
    "const http = await import('node:http'); return await new Promise((done, fail) => http.get('http://127.0.0.1:PORT/', done).on('error', fail))",
    DENIED,
  ],
  ["node:dns", "return await (await import('node:dns/promises')).lookup('localhost')", DENIED],
  [
    "node:dgram",
    "const s = (await import('node:dgram')).createSocket('udp4'); return await new Promise((done, fail) => { s.on('error', fail); s.bind(0, () => done('bound')) })",
    DENIED,
  ],
  ["node:inspector", "return (await import('node:inspector')).open(0)", DENIED],
  [
    "node:inspector session",
    "return new (await import('node:inspector')).Session().connect()",
    DENIED,
  ],
  ["node:sqlite", "return new (await import('node:sqlite')).DatabaseSync('OUT/db')", DENIED],
  [
    "node:sqlite attach",
    "return new (await import('node:sqlite')).DatabaseSync(':memory:').exec(\"ATTACH 'OUT/db' AS x\")",
    /too many attached|Requires/,
  ],
  [
    "node:v8 heap snapshot",
    "return (await import('node:v8')).writeHeapSnapshot('OUT/heap')",
    DENIED,
  ],
  ["node:vm", "return (await import('node:vm')).runInNewContext('typeof Deno')", /ok: "undefined"/],
  [
    "node:module",
    "return (await import('node:module')).createRequire('file:///x.js')('OUT/canary.json')",
    DENIED,
  ],
  ["node:cluster", "return String((await import('node:cluster')).default.fork())", DENIED],
  ["a file of ours", "return (await import('file://OUT/canary.ts')).default", DENIED],
  [
    "a text import",
    "return (await import('file://OUT/canary', { with: { type: 'text' } })).default",
    DENIED,
  ],
  [
    "a JSON import",
    "return (await import('file://OUT/canary.json', { with: { type: 'json' } })).default",
    DENIED,
  ],
  [
    "a computed import",
    "const name = ['file://OUT', 'canary.ts'].join('/'); return (await import(name)).default",
    DENIED,
  ],
  [
    "a data: module that imports",
    "return (await import('data:text/javascript,' + encodeURIComponent(\"export { default } from 'file://OUT/canary.ts'\"))).default",
    DENIED,
  ],
  [
    "a data: module that imports text",
    "return (await import('data:text/javascript,' + encodeURIComponent(\"import x from 'file://OUT/canary' with { type: 'text' }; export default x\"))).default",
    DENIED,
  ],
  ["a remote import", "return (await import('http://127.0.0.1:PORT/x.js')).default", DENIED],
  ["a nested worker: read", nested("return Deno.readTextFileSync('OUT/canary')"), DENIED],
  [
    "a nested worker: environment",
    nested("return process.env.ZESTER_ESCAPE_CANARY"),
    /Requires env|refused|undefined/,
  ],
  [
    "a nested worker: fetch",
    nested("return await (await fetch('http://127.0.0.1:PORT/')).text()"),
    DENIED,
  ],
  [
    "a nested worker: a socket",
    nested("return String(await Deno.connect({ port: PORT }))"),
    DENIED,
  ],
  [
    "a nested worker: WebSocket",
    nested("return String(new WebSocket('ws://127.0.0.1:PORT/'))"),
    DENIED,
  ],
  [
    "a nested worker: a program",
    nested("return String(new Deno.Command('id').outputSync())"),
    DENIED,
  ],
  [
    "a nested worker: a library",
    nested("return String(Deno.dlopen('libc.so.6', {}))"),
    DENIED,
  ],
  ["a nested worker: the system", nested("return Deno.hostname()"), DENIED],
  [
    "a nested worker: asking",
    nested("return (await Deno.permissions.request({ name: 'read' })).state"),
    /got denied/,
  ],
  [
    "a nested worker: more for another",
    nested(
      "return String(new Worker('data:text/javascript,1', { type: 'module', deno: { permissions: { read: true } } }))",
    ),
    DENIED,
  ],
  [
    "a nested worker: a file by fetch",
    nested("return await (await fetch('file://OUT/canary')).text()"),
    DENIED,
  ],
  [
    "a nested worker: signals to others",
    nested("return String(Deno.kill(1, 'SIGCONT'))"),
    DENIED,
  ],
  [
    "a nested worker: a link",
    nested("return String(Deno.symlinkSync('OUT/canary', 'OUT/l'))"),
    /requires unscoped|refused/,
  ],
];
