/** The errors that JetStream clients know, with the numbers and texts of nats-server. */
import { JetStreamApiError } from "./types.ts";

function fixed(code: number, errCode: number, description: string): () => JetStreamApiError {
  return () => new JetStreamApiError(code, errCode, description);
}

function reasoned(code: number, errCode: number): (why: string) => JetStreamApiError {
  return (why) => new JetStreamApiError(code, errCode, why);
}

/** One maker per error; those with a reason take its text. */
export const apiErrors = {
  streamNotFound: fixed(404, 10059, "stream not found"),
  streamNameInUse: fixed(
    400,
    10058,
    "stream name already in use with a different configuration",
  ),
  streamInvalid: reasoned(500, 10052),
  streamSealed: fixed(400, 10109, "invalid operation on sealed stream"),
  subjectsOverlap: fixed(400, 10065, "subjects overlap with an existing stream"),
  streamMismatch: fixed(400, 10060, "expected stream does not match"),
  wrongLastSequence: (found: number) =>
    new JetStreamApiError(400, 10071, `wrong last sequence: ${found}`),
  wrongLastMessageId: (found: string) =>
    new JetStreamApiError(400, 10070, `wrong last msg ID: ${found}`),
  rollupFailed: reasoned(500, 10111),
  messageTtlDisabled: fixed(400, 10166, "per-message TTL is disabled"),
  messageTooLarge: fixed(400, 10054, "message size exceeds maximum allowed"),
  storeFailed: reasoned(503, 10077),
  noMessageFound: fixed(404, 10037, "no message found"),
  deleteFailed: reasoned(500, 10057),
  sequenceNotFound: (sequence: number) =>
    new JetStreamApiError(400, 10043, `sequence ${sequence} not found`),
  purgeFailed: reasoned(500, 10110),
  badRequest: fixed(400, 10003, "bad request"),
  consumerNotFound: fixed(404, 10014, "consumer not found"),
  consumerExists: fixed(400, 10148, "consumer already exists"),
  consumerMissing: fixed(400, 10149, "consumer does not exist"),
  consumerNameInUse: fixed(400, 10013, "consumer name already in use"),
  consumerCreateFailed: reasoned(500, 10012),
  consumersLimit: fixed(400, 10026, "maximum consumers limit reached"),
  consumerNameMismatch: fixed(
    400,
    10132,
    "Consumer Durable and Name have to be equal if both are provided",
  ),
  deliverWildcards: fixed(400, 10079, "consumer deliver subject has wildcards"),
  deliverInvalid: fixed(400, 10112, "invalid push consumer deliver subject"),
  deliverCycle: fixed(400, 10081, "consumer deliver subject forms a cycle"),
  pushMaxWaiting: fixed(400, 10080, "consumer in push mode can not set max waiting"),
  pendingNeedsAck: fixed(400, 10082, "consumer requires ack policy for max ack pending"),
  heartbeatTooSmall: fixed(400, 10083, "consumer idle heartbeat needs to be >= 100ms"),
  heartbeatNeedsPush: fixed(
    400,
    10088,
    "consumer idle heartbeat requires a push based consumer",
  ),
  flowControlNeedsPush: fixed(
    400,
    10089,
    "consumer flow control requires a push based consumer",
  ),
  flowControlNeedsHeartbeat: fixed(
    400,
    10108,
    "consumer with flow control also needs heartbeats",
  ),
  invalidPolicy: reasoned(400, 10094),
  backoffTooLong: fixed(400, 10116, "max deliver is required to be > length of backoff values"),
  bothFilters: fixed(
    400,
    10136,
    "consumer cannot have both FilterSubject and FilterSubjects specified",
  ),
  emptyFilter: fixed(400, 10139, "consumer filter in FilterSubjects cannot be empty"),
  filtersOverlap: fixed(400, 10138, "consumer subject filters cannot overlap"),
} as const;
