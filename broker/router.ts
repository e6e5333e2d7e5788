/**
 * Decides who gets a message: subscriptions by subject, one member per queue group, permissions in both directions.
 * Knows nothing of streams.
 */
import type { Random } from "../core/ports.ts";
import type {
  BrokerMessage,
  ConnectOptions,
  Permissions,
  SubjectRules,
  Verdict,
} from "./engine.ts";
import { isLiteralSubject, isPattern, isSubset, overlap, SubjectIndex } from "./subject_match.ts";

const API_PREFIX = "$JS.API.";

interface Subscription {
  readonly client: Client;
  readonly sid: string;
  readonly pattern: string;
  readonly queue: string | undefined;
  /** Denied subjects that the pattern overlaps: such messages are not delivered. */
  readonly denied: SubjectIndex<true> | undefined;
  delivered: number;
  /** Ends after this many deliveries. */
  max: number | undefined;
}

/** What the router keeps of a session. */
export interface Client {
  readonly options: ConnectOptions;
  readonly mayPublish: (subject: string) => boolean;
  readonly subscriptions: Map<string, Subscription>;
}

/** Told when a subscription came or went, with its pattern. */
export type InterestListener = (pattern: string) => void;

/** Holds all subscriptions. */
export class Router {
  readonly #index = new SubjectIndex<Subscription>();
  readonly #random: Random;
  readonly #onGained: InterestListener;
  readonly #onLost: InterestListener;

  constructor(
    random: Random,
    listeners: { gained: InterestListener; lost: InterestListener },
  ) {
    this.#random = random;
    this.#onGained = listeners.gained;
    this.#onLost = listeners.lost;
  }

  connect(options: ConnectOptions): Client {
    return {
      options,
      mayPublish: publishRule(options.permissions),
      subscriptions: new Map(),
    };
  }

  disconnect(client: Client): void {
    for (const sid of [...client.subscriptions.keys()]) this.unsubscribe(client, sid);
  }

  subscribe(client: Client, sid: string, pattern: string, queue?: string): Verdict {
    if (!isPattern(pattern)) return "denied";
    const rules = client.options.permissions?.subscribe;
    if (!maySubscribe(rules, pattern)) return "denied";
    if (client.subscriptions.has(sid)) this.unsubscribe(client, sid);
    const subscription: Subscription = {
      client,
      sid,
      pattern,
      queue,
      denied: deniedWithin(rules, pattern),
      delivered: 0,
      max: undefined,
    };
    client.subscriptions.set(sid, subscription);
    this.#index.add(pattern, subscription);
    this.#onGained(pattern);
    return "ok";
  }

  unsubscribe(client: Client, sid: string, max?: number): void {
    const subscription = client.subscriptions.get(sid);
    if (subscription === undefined) return;
    if (max !== undefined && max > subscription.delivered) {
      subscription.max = max;
      return;
    }
    client.subscriptions.delete(sid);
    this.#index.remove(subscription.pattern, subscription);
    this.#onLost(subscription.pattern);
  }

  /** Whether anybody listens; with a queue group, whether a member of it does. */
  hasInterest(subject: string, queue?: string): boolean {
    if (queue === undefined) return this.#index.hasMatch(subject);
    return this.#index.match(subject).some((each) => each.queue === queue);
  }

  /**
   * Delivers to everybody who listens on `to` and says how many got it. The message may show another subject than the one
   * it is routed by: consumers send stored messages to inboxes that way.
   */
  deliver(to: string, message: BrokerMessage, from?: Client): number {
    // Collected before anything is delivered: a receiver may subscribe or unsubscribe while it is called.
    const single: Subscription[] = [];
    const groups = new Map<string, Subscription[]>();
    for (const each of this.#index.match(to)) {
      if (each.client === from && from.options.echo === false) continue;
      if (each.queue === undefined) single.push(each);
      else addTo(groups, each.queue, each);
    }
    let count = 0;
    for (const each of single) count += this.#hand(each, message) ? 1 : 0;
    for (const members of groups.values()) count += this.#handToOne(members, message) ? 1 : 0;
    return count;
  }

  /** Delivers only to subscriptions of this one client. */
  deliverToClient(client: Client, to: string, message: BrokerMessage): void {
    const mine = this.#index.match(to).filter((each) => each.client === client);
    for (const each of mine) this.#hand(each, message);
  }

  /** A random member gets it; if that one may not see it, the next that may. */
  #handToOne(members: readonly Subscription[], message: BrokerMessage): boolean {
    const start = members.length === 1 ? 0 : Math.floor(this.#random.float() * members.length);
    for (let step = 0; step < members.length; step++) {
      const member = members[(start + step) % members.length];
      if (member !== undefined && this.#hand(member, message)) return true;
    }
    return false;
  }

  #hand(subscription: Subscription, message: BrokerMessage): boolean {
    if (subscription.denied?.hasMatch(message.subject)) return false;
    subscription.delivered++;
    const { client, sid, max } = subscription;
    if (max !== undefined && subscription.delivered >= max) this.unsubscribe(client, sid);
    client.options.deliver(message, sid);
    return true;
  }
}

function addTo<V>(groups: Map<string, V[]>, key: string, value: V): void {
  const group = groups.get(key);
  if (group === undefined) groups.set(key, [value]);
  else group.push(value);
}

function indexOf(patterns: readonly string[]): SubjectIndex<true> {
  const index = new SubjectIndex<true>();
  for (const pattern of patterns) index.add(pattern, true);
  return index;
}

function publishRule(permissions: Permissions | undefined): (subject: string) => boolean {
  const rules = permissions?.publish;
  const allow = rules?.allow === undefined ? undefined : indexOf(rules.allow);
  const deny = indexOf(rules?.deny ?? []);
  return (subject) =>
    isPublishable(subject) && (allow === undefined || allow.hasMatch(subject)) &&
    !deny.hasMatch(subject);
}

/** Clients name the filter of a new consumer in the subject of the request; there its wildcards are plain tokens. */
function isPublishable(subject: string): boolean {
  return isLiteralSubject(subject) || subject.startsWith(API_PREFIX) && isPattern(subject);
}

function maySubscribe(rules: SubjectRules | undefined, pattern: string): boolean {
  const { allow, deny = [] } = rules ?? {};
  if (allow !== undefined && !allow.some((each) => isSubset(pattern, each))) return false;
  return !deny.some((each) => isSubset(pattern, each));
}

function deniedWithin(
  rules: SubjectRules | undefined,
  pattern: string,
): SubjectIndex<true> | undefined {
  const within = (rules?.deny ?? []).filter((each) => overlap(pattern, each));
  return within.length === 0 ? undefined : indexOf(within);
}
