/** Every number that bounds something, with its unit in the name and its reason beside it. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const KIB = 1_024;
const MIB = 1_024 * KIB;
const GIB = 1_024 * MIB;

// ---- identity and subjects -----------------------------------------------------------------------------------

/** Longest peel id: the longest host name that fits a subject token with room to spare. */
export const PEEL_ID_LENGTH_MAX = 128;
/** Longest subject token we build or accept. */
export const SUBJECT_TOKEN_LENGTH_MAX = 128;

// ---- decoding ------------------------------------------------------------------------------------------------

/** Largest payload decoded; the server's own default limit. */
export const PAYLOAD_BYTES_MAX = 1 * MIB;
/** Deepest nesting of arrays and maps: far beyond any message of ours, far below any stack. */
export const DECODE_DEPTH_MAX = 64;
/** Values in one payload: bounds memory before the decoder allocates any. */
export const DECODE_ITEMS_MAX = 200_000;

// ---- signatures ----------------------------------------------------------------------------------------------

/** Clocks may differ by this much in either direction before a message is refused, and the error says "clock". */
export const CLOCK_SKEW_MS = 60 * SECOND_MS;
/** How long a signed message that is not bound to a job stays valid. */
export const SIGNATURE_LIFETIME_MS = 2 * MINUTE_MS;
/** Longest lifetime a signature may claim: no job may outlive it, and journals are kept longer (8 days). */
export const SIGNATURE_LIFETIME_MS_MAX = 7 * DAY_MS;
/** Longest `Zester-Sig` header parsed. */
export const SIGNATURE_HEADER_LENGTH_MAX = 512;
/** Signatures remembered to refuse a repeated request; the oldest unexpired one is never dropped, the newest is refused. */
export const REPLAY_ENTRIES_MAX = 100_000;
/** Largest trust document read. */
export const TRUST_BYTES_MAX = 256 * KIB;

// ---- buckets and streams -------------------------------------------------------------------------------------

/** Records of jobs, and of what happened to them, are kept this long. */
export const JOB_RETENTION_MS = 7 * DAY_MS;
/** Events are kept this long. */
export const EVENT_RETENTION_MS = 7 * DAY_MS;
/** The event stream's caps: any peel may publish events, so it must not fill the disk. */
export const EVENT_STREAM_BYTES_MAX = 1 * GIB;
export const EVENT_STREAM_MESSAGES_MAX = 1_000_000;
/** The job stream's cap: any peel may publish acks and returns. */
export const JOB_STREAM_BYTES_MAX = 4 * GIB;
/** Message ids are remembered this long by a stream. */
export const DUPLICATE_WINDOW_MS = 2 * MINUTE_MS;
/** Dead letters are kept less long than job records, so that what they name is still there. */
export const DEAD_LETTER_RETENTION_MS = 6 * DAY_MS;
/** A bucket refuses writes above this instead of forgetting old keys. */
export const BUCKET_BYTES_MAX = 1 * GIB;
/** Small control values (leases, heartbeats). */
export const CONTROL_VALUE_BYTES_MAX = 64 * KIB;
/** Facts of one peel. */
export const FACTS_BYTES_MAX = 256 * KIB;
/** One challenge of the enrollment protocol lives this long. */
export const CHALLENGE_TTL_MS = 5 * MINUTE_MS;

// ---- masters -------------------------------------------------------------------------------------------------

export const MASTER_HEARTBEAT_MS = 5 * SECOND_MS;
/** Three heartbeats: a pause of the process or a leader election must not look like a death. */
export const MASTER_HEARTBEAT_TTL_MS = 15 * SECOND_MS;
export const LEASE_TTL_MS = 15 * SECOND_MS;
export const LEASE_RENEW_MS = 5 * SECOND_MS;
/** A graceful release must not hold up a stop. */
export const LEASE_RELEASE_MS = 2 * SECOND_MS;
/** The lease loop starts again after this, if it ever ends by an error. */
export const LEASE_RESTART_MS = 5 * SECOND_MS;
/** Wait for returns when a job names no timeout. */
export const JOB_TIMEOUT_MS = 60 * SECOND_MS;
/** Targets named in one job record; above it the list goes into chunks. */
export const JOB_TARGETS_INLINE_MAX = 5_000;
/** Returns sent to the operator in one message, so that a large fleet costs few messages. */
export const FOLLOW_BATCH_MAX = 64;
/** How long returns are gathered into one message. */
export const FOLLOW_BATCH_MS = 5;

// ---- peels ---------------------------------------------------------------------------------------------------

export const PEEL_HEARTBEAT_MS = 10 * SECOND_MS;
/** A peel not heard from for this long is shown as offline. */
export const PEEL_OFFLINE_MS = 30 * SECOND_MS;
/** The journal of jids is kept longer than any signature lives. */
export const JOURNAL_RETENTION_MS = 8 * DAY_MS;
/** Largest journal file read at start; beyond it something is wrong and the peel fails closed. */
export const JOURNAL_BYTES_MAX = 256 * MIB;
/** Waits between attempts to have a return stored. */
export const RETURN_RETRY_MS = 2 * SECOND_MS;
export const RETURN_RETRY_MS_MAX = 30 * SECOND_MS;

// ---- connections ---------------------------------------------------------------------------------------------

/** Daemons reconnect for ever, this far apart, plus jitter, so that a fleet does not come back at one instant. */
export const RECONNECT_WAIT_MS = 2 * SECOND_MS;
export const RECONNECT_JITTER_MS = 500;
export const RECONNECT_JITTER_TLS_MS = 5 * SECOND_MS;
/** The CLI says at once that nobody is there. */
export const CLI_CONNECT_TIMEOUT_MS = 2 * SECOND_MS;
export const DAEMON_CONNECT_TIMEOUT_MS = 10 * SECOND_MS;
/** Pings find a dead connection within (interval × outstanding). */
export const PING_INTERVAL_MS = 20 * SECOND_MS;
export const PING_OUTSTANDING_MAX = 3;
/** No await on the network lasts longer than this unless the caller says so. */
export const STORE_TIMEOUT_MS = 5 * SECOND_MS;
/** Oldest server that can be used: below it there is no `sync_interval` and crash fixes are missing. */
export const SERVER_VERSION_MIN = [2, 10, 0] as const;

// ---- processes -----------------------------------------------------------------------------------------------

/** SIGTERM drains and exits within this. */
export const DRAIN_MS = 10 * SECOND_MS;
/** One readiness check. */
export const READY_CHECK_MS = 2 * SECOND_MS;

// ---- files ---------------------------------------------------------------------------------------------------

/** Largest configuration or context file read. */
export const CONFIG_BYTES_MAX = 1 * MIB;
/** Smallest secrets: keys and seeds. */
export const KEY_FILE_BYTES_MAX = 4 * KIB;
