/** Follow: what a master streams to the operator's inbox about a dispatched job, from `accepted` or `refused` to `done`. */
import {
  count,
  jid,
  listOf,
  masterId,
  message,
  oneOf,
  optional,
  orEmpty,
  peelId,
  required,
  type Tagged,
  taggedMessage,
  text,
  type TypeOf,
  version,
} from "./codec.ts";
import { JOB_STATUS } from "./job.ts";
import { returnMessage } from "./return.ts";

/** A target that did not answer, and why as far as it is known. */
export const missingMessage = message("Missing", {
  peel: required("peel", peelId),
  reason: required("reason", text),
});

export type Missing = TypeOf<typeof missingMessage>;

const FOLLOW = {
  accepted: {
    v: version,
    jid: required("jid", jid),
    targets: orEmpty("targets", listOf(peelId), () => []),
    master: required("master", masterId),
    /** How many targets there are in all, where the list comes in parts. */
    matched: optional("matched", count),
    /** Who asked for the job. */
    user: optional("user", text),
    /** Of these targets, those that were not there when the job was dispatched. */
    offline: optional("offline", listOf(peelId)),
    /** Of these targets, those of which this master has not listened long enough to tell. */
    unheard: optional("unheard", listOf(peelId)),
    /** How many peels are enrolled, whether the job is for them or not. */
    enrolled: optional("enrolled", count),
  },
  /** Nothing new, but somebody still watches: whoever stops hearing this asks another master. */
  alive: {
    v: version,
    jid: required("jid", jid),
  },
  acks: {
    v: version,
    jid: required("jid", jid),
    peels: orEmpty("peels", listOf(peelId), () => []),
  },
  returns: {
    v: version,
    jid: required("jid", jid),
    returns: orEmpty("returns", listOf(returnMessage.schema), () => []),
  },
  done: {
    v: version,
    jid: required("jid", jid),
    status: required("status", oneOf(JOB_STATUS)),
    returnCount: orEmpty("return_count", count, () => 0),
    successCount: orEmpty("success_count", count, () => 0),
    missing: orEmpty("missing", listOf(missingMessage.schema), () => []),
  },
  refused: {
    v: version,
    jid: optional("jid", jid),
    /** A code of `core/errors.ts`, or of a newer master's. */
    code: required("code", text.min(1)),
    message: required("message", text),
    fix: optional("fix", text),
  },
} as const;

/** One message about a dispatched job, told apart by `kind`. */
export type FollowEvent = Tagged<typeof FOLLOW>;

export const followMessage = taggedMessage("Follow", FOLLOW);

export const { encode: encodeFollow, decode: decodeFollow } = followMessage;
