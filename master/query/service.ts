/** Answers operators' questions about jobs, peels and masters, and takes their wish to cancel. One master of the group does. */
import { toZesterError, ZesterError } from "../../core/errors.ts";
import { type Accepted, ingest, type Refused } from "../../core/ingress.ts";
import { FOLLOWS_MAX } from "../../core/limits.ts";
import type { Message } from "../../core/ports.ts";
import { denial } from "../../core/roles.ts";
import { isInboxOf, type Subject, subjects } from "../../core/subjects.ts";
import { encodeFollow, type FollowEvent } from "../../core/wire/follow.ts";
import {
  decodeJobRequest,
  decodeQuery,
  encodeReply,
  QUERIES,
  type Query,
  type QueryName,
  type Reply,
} from "../../core/wire/query.ts";
import { followJob, type JobFollower } from "../follow/service.ts";
import { answerActive } from "./active.ts";
import { cancelJob, type Operator } from "./cancel.ts";
import { answerJob } from "./job.ts";
import { answerJobs } from "./jobs.ts";
import { answerMasters } from "./masters.ts";
import { answerPeel, answerPeels } from "./peels.ts";
import { type Answerer, type AskedOnce, type Body, type QueryPorts } from "./ports.ts";
import { answerPrefix, resolveJid } from "./prefix.ts";

const ANSWERERS: { readonly [N in AskedOnce]: Answerer<N> } = {
  jobs: answerJobs,
  job: answerJob,
  active: answerActive,
  peels: answerPeels,
  peel: answerPeel,
  masters: answerMasters,
  prefix: answerPrefix,
};

export interface QueryService {
  /** Jobs followed for operators. */
  follows(): number;
  /** Follows a job, whoever owns it, until its end or until this service stops. Throws `busy` when there are too many. */
  follow(jid: string, tell: (event: FollowEvent) => void): void;
  /** Takes no more questions, lets those under way finish, and ends the follows. */
  stop(): Promise<void>;
}

/** Starts to answer, together with all other masters in the queue group. */
export function takeQueries(ports: QueryPorts): QueryService {
  const running = new Set<Promise<void>>();
  const followers = new Set<JobFollower>();

  function follow(jid: string, tellOne: (event: FollowEvent) => void): void {
    if (followers.size >= FOLLOWS_MAX) {
      throw new ZesterError("busy", `this master follows ${FOLLOWS_MAX} jobs already`, {
        fix: "ask again: another master may answer",
      });
    }
    const follower = followJob(jid, tellOne, ports);
    followers.add(follower);
    follower.done.finally(() => followers.delete(follower));
  }

  async function query(door: Door<typeof subjects.query.pattern>, inbox: string): Promise<void> {
    const name = door.fields.query;
    const operator = operatorOf(door);
    const decision = ports.authorizer.decide(operator, { do: "query", query: name });
    if (!decision.allowed) throw denial(decision);
    if (!isQueryName(name)) throw new ZesterError("usage", `masters know no query ${name}`);
    const asked = decodeQuery(door.payload);
    if (name === "follow") {
      const jid = await resolveJid(asked.jid ?? "", ports.jobs);
      return follow(jid, (event) => tell(inbox, encodeFollow, event, ports));
    }
    reply(inbox, await answer(name, asked, ports), ports);
  }

  async function admin(door: Door<typeof subjects.adminJob.pattern>, inbox: string): Promise<void> {
    const { verb } = door.fields;
    if (verb !== "cancel") throw new ZesterError("usage", `masters cannot ${verb} a job`);
    reply(inbox, await cancelJob(decodeJobRequest(door.payload), operatorOf(door), ports), ports);
  }

  function listen<P extends string>(
    rule: Subject<P>,
    handle: (door: Door<P>, inbox: string) => Promise<void>,
  ) {
    return ports.bus.subscribe(rule.filter(), (message) => {
      const work = take(message, rule, handle, ports);
      running.add(work);
      work.finally(() => running.delete(work));
    }, { queue: rule.queue ?? "" });
  }

  const subscriptions = [listen(subjects.query, query), listen(subjects.adminJob, admin)];
  return {
    follows: () => followers.size,
    follow,
    async stop() {
      for (const subscription of subscriptions) subscription.unsubscribe();
      await Promise.allSettled(running);
      for (const follower of followers) follower.stop();
    },
  };
}

type Door<P extends string> = Accepted<P>;

/** Through the door, then to the handler; what it throws is the answer. */
async function take<P extends string>(
  message: Message,
  rule: Subject<P>,
  handle: (door: Door<P>, inbox: string) => Promise<void>,
  ports: QueryPorts,
): Promise<void> {
  const { keyring, clock, metrics, log } = ports;
  const door = ingest(message, { rule, keyring, nowMs: clock.now() });
  if (!door.ok) {
    metrics.ingressRefused.inc({ reason: door.reason });
    if (door.isNews) log.warn("question refused", { reason: door.reason, detail: door.detail });
    return tellRefused(message, door, ports);
  }
  const inbox = message.reply;
  // Only to the sender's own inbox: otherwise we would carry its words to whoever it names.
  if (!isInboxOf(inbox, "operator", door.sender.identity)) {
    metrics.ingressRefused.inc({ reason: "misaddressed" });
    return log.warn("question refused", { reason: "misaddressed", operator: door.sender.identity });
  }
  try {
    await handle(door, inbox);
  } catch (thrown) {
    const error = toZesterError(thrown, "query");
    log.info("question not answered", { operator: door.sender.identity, error });
    const { code, message, fix } = error;
    tell(inbox, encodeReply, {
      kind: "refused",
      code,
      message,
      ...(fix === undefined ? {} : { fix }),
    }, ports);
  }
}

/** An operator whose clock is wrong is told so; whoever did not sign is not. */
function tellRefused(
  { reply: inbox }: Message,
  { sender, reason, detail }: Refused,
  ports: QueryPorts,
): void {
  if (sender === undefined || !isInboxOf(inbox, "operator", sender.identity)) return;
  tell(inbox, encodeReply, { kind: "refused", code: reason, message: detail }, ports);
}

function operatorOf({ sender }: { sender: Accepted<string>["sender"] }): Operator {
  return { name: sender.identity, role: sender.grantedRole };
}

function isQueryName(name: string): name is QueryName {
  return Object.hasOwn(QUERIES, name);
}

async function answer(name: AskedOnce, query: Query, ports: QueryPorts): Promise<Body<Reply>> {
  return await ANSWERERS[name](query, ports);
}

function reply(inbox: string, body: Body<Reply>, ports: QueryPorts): void {
  const { masterId: master, clock } = ports;
  tell(inbox, encodeReply, { ...body, master, nowMs: clock.now() } as Reply, ports);
}

/** An operator that cannot be told asks again: nothing here depends on it. */
function tell<T extends Reply | FollowEvent>(
  inbox: string,
  encode: (message: T) => Uint8Array,
  message: T,
  { voice, log }: QueryPorts,
): void {
  try {
    voice.answer(inbox, encode(message));
  } catch (thrown) {
    const error = toZesterError(thrown, "answer");
    log.warn("operator not told", { kind: message.kind, error });
  }
}
