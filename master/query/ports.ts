/** What the answers to operators' questions are made from. */
import type { Authorizer } from "../../core/roles.ts";
import type { QueryName, Reply, ReplyKinds, ReplyOf } from "../../core/wire/query.ts";
import type { Query } from "../../core/wire/query.ts";
import type { FollowPorts } from "../follow/service.ts";
import type { Seen } from "../follow/silence.ts";
import type { JobPorts } from "../jobs/ports.ts";

export interface QueryPorts extends FollowPorts {
  readonly voice: JobPorts["voice"];
  readonly failPoints: JobPorts["failPoints"];
  readonly authorizer: Authorizer;
  /** Ids of the enrolled peels, sorted. */
  peelIds(): string[];
  seen(peelId: string): Seen & { readonly version?: string | undefined };
  /** What a peel says of itself, if it has sent that. */
  facts?(peelId: string): Readonly<Record<string, unknown>> | undefined;
}

/** Questions that get one answer. */
export type AskedOnce = Exclude<QueryName, "follow">;

/** The part of an answer that its query makes; the service adds who answers and when. */
export type Body<R extends Reply> = Omit<R, "master" | "nowMs" | "v">;

/** Answers one query. Throws a ZesterError to refuse. */
export type Answerer<N extends AskedOnce> = (
  query: Query,
  ports: QueryPorts,
) => Promise<Body<ReplyOf<ReplyKinds[N]>>>;
