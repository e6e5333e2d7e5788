/**
 * The module's half of the talk: loads modules, works on tasks, and turns the host calls of a module into messages. Runs in a
 * worker or in a process of its own, without any permission, together with code that may be anybody's; so the peel
 * believes nothing of what it says.
 */
import * as zester from "../../core/module.ts";
import { type Module, StateFailure, type StateModule } from "../../core/module.ts";
import { type Host, HOST_CALLS, type HostCallName } from "../../core/module/host.ts";
import { prepareCall } from "../../core/module/prepare.ts";
import { modulePath, placeIn, ZESTER_GLOBAL } from "./custom_source.ts";
import type {
  Answer,
  FromWorker,
  ModuleSource,
  PassedError,
  Reply,
  Task,
  ToWorker,
} from "./protocol.ts";

export interface PerformerPorts {
  post(message: FromWorker): void;
  /** What comes along with the peel, by name. */
  readonly shipped: Readonly<Record<string, () => Promise<{ readonly default: Module }>>>;
}

export interface Performer {
  take(message: ToWorker): void;
  /** Tells the peel, and nobody else, of what is thrown outside of a task. */
  watch(scope: EventTarget): void;
}

/** Begins to work. */
export function openPerformer({ post, shipped }: PerformerPorts): Performer {
  const waiting = new Map<number, (answer: Answer) => void>();
  let lastCall = 0;
  let ended: Int32Array | null = null;

  async function perform(task: Task): Promise<void> {
    const reply = await replyTo(task);
    try {
      post({ kind: "reply", task: task.id, reply });
    } catch (thrown) {
      // It holds what cannot be passed on, such as a function.
      post({ kind: "reply", task: task.id, reply: { ok: false, error: passed(thrown) } });
    }
  }

  async function replyTo(task: Task): Promise<Reply> {
    try {
      return { ok: true, value: await work(await load(task.module), task) };
    } catch (thrown) {
      return { ok: false, error: passed(thrown, task.module) };
    }
  }

  async function load(source: ModuleSource): Promise<Module> {
    if (source.from === "tree") return await loadFromTree(source);
    const found = Object.hasOwn(shipped, source.name) ? shipped[source.name] : undefined;
    if (found === undefined) throw new Error(`no module ${source.name}`);
    return (await found()).default;
  }

  function work(module: Module, { id, params, facts, work }: Task): unknown {
    const host = hostOf(id, facts);
    switch (work.do) {
      case "prepare":
        return prepareCall(module, { id: work.id, args: params }, facts);
      case "run":
        if (module.kind !== "function") throw new Error(`${module.name} is no function`);
        return module.run(params, host);
      case "check":
        return stateOf(module).check(params, host);
      case "apply":
        return stateOf(module).apply(params, host, work.context);
      case "revert":
        return stateOf(module).revert?.(params, work.memo, host);
    }
  }

  /** The host calls of one task, each a message to the peel. */
  function hostOf(task: number, facts: Task["facts"]): Host {
    const names = Object.keys(HOST_CALLS) as HostCallName[];
    const calls = Object.fromEntries(
      names.map((name) => [name, (...args: unknown[]) => ask(task, name, args)]),
    ) as unknown as Host;
    const { render } = calls;
    return { ...calls, facts, render: (source, values) => render(source, { facts, ...values }) };
  }

  function ask(task: number, name: HostCallName, args: readonly unknown[]): Promise<unknown> {
    if (ended !== null && Atomics.load(ended, 0) === 1) Atomics.wait(ended, 0, 1);
    const call = ++lastCall;
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    waiting.set(call, (answer) => answer.ok ? resolve(answer.value) : reject(failed(answer.error)));
    try {
      post({ kind: "call", call, task, name, args });
    } catch (thrown) {
      waiting.delete(call);
      reject(new TypeError(`${name}: its arguments cannot be passed on`, { cause: thrown }));
    }
    return promise;
  }

  return {
    take(message) {
      if (message.kind === "begin") return void (ended = message.ended);
      if (message.kind === "task") return void perform(message.task);
      waiting.get(message.call)?.(message.answer);
      waiting.delete(message.call);
    },
    watch(scope) {
      const tell = (event: Event, thrown: unknown) => {
        event.preventDefault();
        post({ kind: "broken", message: passed(thrown).message });
      };
      scope.addEventListener("error", (event) => tell(event, (event as ErrorEvent).error));
      scope.addEventListener(
        "unhandledrejection",
        (event) => tell(event, (event as PromiseRejectionEvent).reason),
      );
    },
  };
}

function stateOf(module: Module): StateModule {
  if (module.kind === "state") return module;
  throw new Error(`${module.name} is no state`);
}

// ---- modules of the state tree -------------------------------------------------------------------------------

/** The peel has checked that the source imports nothing but `zester`, which is put in place here. */
async function loadFromTree({ name, source }: ModuleSource & { from: "tree" }): Promise<Module> {
  Object.defineProperty(globalThis, ZESTER_GLOBAL, { value: zester, configurable: true });
  const url = `data:application/typescript;base64,${encodeBase64(source)}`;
  const { default: module } = await importFromTree(name, url);
  const path = modulePath(name);
  if (typeof module !== "object" || module === null) {
    throw badModule(`${path}: it has no \`export default defineModule(…)\` or defineFunction(…)`);
  }
  if (module.name === name) return module;
  throw badModule(`${path}: it declares ${JSON.stringify(module.name)}, its path says "${name}"`);
}

async function importFromTree(name: string, url: string): Promise<{ default?: Module }> {
  try {
    return await import(url);
  } catch (thrown) {
    const { line, column, message } = placeIn(thrown);
    const at = line === undefined ? "" : `:${line}:${column}`;
    throw badModule(`${modulePath(name)}${at}: ${message}`);
  }
}

function badModule(message: string): Error {
  return Object.assign(new Error(message), { code: "bad_module" });
}

function encodeBase64(source: string): string {
  return (new TextEncoder().encode(source) as Uint8Array & { toBase64(): string }).toBase64();
}

// ---- errors --------------------------------------------------------------------------------------------------

function failed({ message, code }: PassedError): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

function passed(thrown: unknown, source?: ModuleSource): PassedError {
  try {
    return described(thrown, source);
  } catch {
    // An error may be made so that looking at it throws.
    return { message: "it failed with an error that cannot be told" };
  }
}

function described(thrown: unknown, source: ModuleSource | undefined): PassedError {
  if (!(thrown instanceof Error)) return { message: String(thrown) };
  const { details, changed, memo } = thrown instanceof StateFailure ? thrown : {};
  const code = (thrown as { code?: PassedError["code"] }).code;
  return {
    message: `${thrown.message}${placeOfBug(thrown, source)}`,
    ...(typeof code === "string" ? { code } : {}),
    ...(details === undefined ? {} : { details }),
    ...(changed === undefined ? {} : { changed }),
    ...(memo === undefined ? {} : { memo }),
  };
}

/** Errors that the language itself throws are mistakes in the module: whoever wrote it wants to know where. */
const BUGS = [TypeError, ReferenceError, RangeError, SyntaxError, EvalError];

function placeOfBug(error: Error, source: ModuleSource | undefined): string {
  if (source?.from !== "tree" || !BUGS.some((kind) => error.constructor === kind)) return "";
  const { line, column } = placeIn(error);
  return line === undefined ? "" : ` (${modulePath(source.name)}:${line}:${column})`;
}
