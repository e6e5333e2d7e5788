/**
 * Takes from the global scope of a worker what a module has no use for. The permissions of the worker are the wall; this
 * removes what stands outside of them: signals to the peel's own process, flags of the engine, its output, downloads of
 * packages, further workers, and above all the making of code from text, through which a module of the state tree would get
 * at `import` although its source must not name it.
 */

/** All that stays, besides what has no name. No timers: loading them takes a quarter of a worker's start, and the host sleeps. */
const KEPT: ReadonlySet<string> = new Set(
  `Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp Error
  AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis JSON Math
  Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array BigUint64Array BigInt64Array
  Uint8ClampedArray Float16Array Float32Array Float64Array DataView Map BigInt Set Iterator WeakMap WeakSet Proxy Reflect
  FinalizationRegistry WeakRef decodeURI decodeURIComponent encodeURI encodeURIComponent escape unescape isFinite isNaN
  DisposableStack AsyncDisposableStack Temporal queueMicrotask AbortController AbortSignal DOMException Event EventTarget
  TextDecoder TextEncoder URL URLSearchParams atob btoa crypto performance structuredClone`.split(
    /\s+/,
  ),
);

/** Leaves only what a module may use. Whoever needs more of the scope takes hold of it before. */
export function lockDown(scope: object): void {
  // Some are made when they are first looked at, and out of others that will be gone.
  for (const name of KEPT) Reflect.get(scope, name);
  for (const name of Object.getOwnPropertyNames(scope)) {
    if (!KEPT.has(name)) Reflect.deleteProperty(scope, name);
  }
  fix(scope, "console", silentConsole());
  forbidCodeFromText(scope);
  // A function of the module's would be handed the frames of ours.
  fix(Error, "prepareStackTrace", undefined);
}

/** There are four ways to write a function, and each has a maker of its own. */
function forbidCodeFromText(scope: object): void {
  const refuse = function Function(): never {
    throw new EvalError("code cannot be made from text here");
  };
  refuse.prototype = Object.getPrototypeOf(refuse);
  const functions = [function () {}, async function () {}, function* () {}, async function* () {}];
  for (const each of functions) fix(Object.getPrototypeOf(each), "constructor", refuse);
  fix(scope, "Function", refuse);
}

function fix(owner: object, name: string, value: unknown): void {
  Object.defineProperty(owner, name, { value, writable: false, configurable: false });
}

/** What a module prints would end up in the log of the peel; it has results to say something. */
function silentConsole(): object {
  const ignore = () => undefined;
  const names = ["debug", "log", "info", "warn", "error", "trace", "dir", "table", "assert"];
  return Object.freeze(Object.fromEntries(names.map((name) => [name, ignore])));
}
