/** Who matches a target, over fleets of 5,000 and 100,000 peels with 50 facts each, beside a plain look at every id. */
import { parseTarget } from "../core/target/parse.ts";
import { matchTarget } from "../core/target/match.ts";
import { FactIndex, type PeelIndex, peelIndexOf } from "../core/target/peel_index.ts";
import { cpuOf } from "./cpu.ts";
import { type Opened, sample, type Scenario, type Side } from "./harness.ts";

const FACTS_PER_PEEL = 50;
/** One resolution of the small fleet is too short to time. */
const ROUNDS = 10;

const SYSTEMS = ["ubuntu", "debian", "rocky", "alpine"] as const;
const TARGETS = {
  fact_and_glob: "G@os:ubuntu and web*",
  glob: "*-7*",
  not: "not G@os:ubuntu",
  order: "G@fact_7:>=3 and E@^web",
} as const;

type Fleet = { readonly ids: readonly string[]; readonly index: PeelIndex };

const SMALL = 5_000;
const LARGE = 100_000;

/** Every kind of target on both fleets, and how the cost grows from one to the other. */
export function open(): Promise<Opened> {
  const [small, large] = [lazily(() => fleetOf(SMALL)), lazily(() => fleetOf(LARGE))];
  const scenarios = [
    ...scenariosFor(SMALL, small),
    ...scenariosFor(LARGE, large),
    ...Object.entries(TARGETS).map(([name, text]) => growth(name, text, small, large)),
  ];
  return Promise.resolve({ scenarios, close: () => Promise.resolve() });
}

function lazily(make: () => Fleet): () => Fleet {
  let fleet: Fleet | undefined;
  return () => fleet ??= make();
}

/**
 * The large fleet once, beside the small one as often as it fits into the large one: linear growth is a ratio of 1. The aim
 * leaves room for caches, which hold the small fleet and not the large one.
 */
function growth(name: string, text: string, small: () => Fleet, large: () => Fleet): Scenario {
  const times = LARGE / SMALL;
  return {
    name: `targets/growth/${name}`,
    what: `${text} over ${LARGE} peels, beside ${times} times over ${SMALL}`,
    floor: side(`${times} small`, () => {
      for (let at = 0; at < times; at++) resolve(text, small());
    }),
    subject: side("1 large", () => resolve(text, large())),
    aim: { ratio: 2, of: "seconds" },
  };
}

function resolve(text: string, { index }: Fleet): void {
  if (matchTarget(parseTarget(text), index).length === 0) throw new Error(`nobody matches ${text}`);
}

function scenariosFor(peels: number, made: () => Fleet): Scenario[] {
  const floor = side("look at every id", () => {
    const found = made().ids.filter((id) => id.startsWith("web"));
    if (found.length === 0) throw new Error("nobody is called web");
  });
  return Object.entries(TARGETS).map(([name, text]): Scenario => ({
    name: `targets/${peels}/${name}`,
    what: `${text} over ${peels} peels with ${FACTS_PER_PEEL} facts`,
    floor,
    subject: side("parse and match", () => resolve(text, made())),
  }));
}

function side(name: string, work: () => void): Side {
  return {
    name,
    run: async () => {
      const { seconds, cpuSeconds } = await sample(() => {
        for (let round = 0; round < ROUNDS; round++) work();
        return Promise.resolve();
      }, () => cpuOf("self"));
      return { seconds: seconds / ROUNDS, cpuSeconds: cpuSeconds / ROUNDS };
    },
  };
}

function fleetOf(peels: number): Fleet {
  const facts = new FactIndex();
  const ids = Array.from({ length: peels }, (_, at) => `${at % 3 === 0 ? "web" : "app"}-${at}`);
  ids.forEach((id, at) => facts.put(id, factsOf(id, at)));
  const members = new Set(ids);
  return { ids, index: peelIndexOf({ ids: () => ids, has: (id) => members.has(id) }, facts) };
}

function factsOf(id: string, at: number): Record<string, unknown> {
  const rest = Array.from({ length: FACTS_PER_PEEL - 3 }, (_, n) => [`fact_${n}`, (at * n) % 11]);
  return {
    host: id,
    os: SYSTEMS[at % SYSTEMS.length],
    ipv4: [`10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`],
    ...Object.fromEntries(rest),
  };
}
