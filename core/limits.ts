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
/** Longest subject: a server hangs up on a line above 4,096 bytes, which must hold a subject and a reply subject. */
export const SUBJECT_LENGTH_MAX = 1_024;

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
/**
 * How much of one sender a program looks at before it verifies anything: a message costs one unit, and one more for every
 * `INGRESS_UNIT_BYTES` of it, which take about as long to hash as a signature takes to check. A peel that comes back
 * hands over what it kept, 32 large returns at once; an honest one then sends two messages for each job.
 */
export const INGRESS_UNIT_BYTES = 16 * KIB;
export const PEEL_INGRESS_UNITS_MAX = 4_096;
export const PEEL_INGRESS_UNITS_PER_SECOND = 400;
/** Operators are few, and a script may dispatch a job for every host of a fleet. */
export const OPERATOR_INGRESS_UNITS_MAX = 20_000;
export const OPERATOR_INGRESS_UNITS_PER_SECOND = 2_000;
/** Senders remembered for that. Only enrolled ones are, so this is the largest fleet of one master, and a few MB. */
export const INGRESS_SENDERS_MAX = 100_000;
/** What is refused makes at most one line in the log for each sender in this time, and no more lines than that in all. */
export const INGRESS_LOG_MS = 10 * SECOND_MS;
export const INGRESS_LOG_SENDERS_MAX = 100;
/** Heartbeats, acks and cancels hold a few words. */
export const SMALL_PAYLOAD_BYTES_MAX = 4 * KIB;
/** Questions of operators and peels: a target and some filters. */
export const QUESTION_BYTES_MAX = 64 * KIB;
/** How long a local fleet's keys are valid. */
export const TRUST_KEY_LIFETIME_MS = 3_650 * DAY_MS;
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
export const JOB_STREAM_BYTES_MAX = 2 * GIB;
/**
 * Of one peel's acks, or returns, of one job. An honest one sends few, all alike; whoever takes a job over reads all of them, so
 * they must not be many.
 */
export const JOB_SUBJECT_MESSAGES_MAX = 8;
/** Message ids are remembered this long by a stream. */
export const DUPLICATE_WINDOW_MS = 2 * MINUTE_MS;
/** Dead letters are kept less long than job records, so that what they name is still there. */
export const DEAD_LETTER_RETENTION_MS = 6 * DAY_MS;
/** A bucket refuses writes above this instead of forgetting old keys. The server sets it aside, so it is not larger. */
export const BUCKET_BYTES_MAX = 512 * MIB;
/** Buckets of leases, heartbeats and challenges. */
export const CONTROL_BUCKET_BYTES_MAX = 32 * MIB;
/** Dead letters are rare. */
export const DEAD_LETTER_BYTES_MAX = 256 * MIB;
/** Small control values (leases, heartbeats). */
export const CONTROL_VALUE_BYTES_MAX = 64 * KIB;
/** Facts of one peel. */
export const FACTS_BYTES_MAX = 256 * KIB;
/** One challenge of the enrollment protocol lives this long. */
export const CHALLENGE_TTL_MS = 5 * MINUTE_MS;

// ---- targets and facts ---------------------------------------------------------------------------------------

/** Longest target expression: a few hundred names fit, and it is far below what one message may carry. */
export const TARGET_LENGTH_MAX = 16 * KIB;
/** Deepest nesting of a target, groups included: far beyond what a person writes, far below any stack. */
export const TARGET_DEPTH_MAX = 64;
/** Terms of a target after its groups are put in: each costs one pass over the peels at most. */
export const TARGET_TERMS_MAX = 256;
/** Longest regular expression, and its largest program: with the length of an id they bound the time of one match. */
export const TARGET_REGEX_LENGTH_MAX = 1 * KIB;
export const TARGET_REGEX_STEPS_MAX = 4_000;
/** Longest value of a fact that a target can match, and how many of one list: what peels send must not slow targets down. */
export const FACT_VALUE_LENGTH_MAX = 1 * KIB;
export const FACT_VALUES_MAX = 1_000;
/** Facts that are kept inverted by value. The one not asked for the longest goes first. */
export const FACT_COLUMNS_MAX = 64;
/** Values, names and keys named to explain why nobody matches. */
export const EXPLAIN_NAMES_MAX = 8;
/** Names compared to find the one that was meant. */
export const EXPLAIN_CANDIDATES_MAX = 2_000;
/** Peels in one answer about a target, and the bytes of it: the rest comes with the next request. */
export const RESOLVE_PAGE_PEELS_MAX = 2_000;
export const RESOLVE_PAGE_BYTES_MAX = 512 * KIB;
/** Peels looked up one by one when no master answers: seconds, at three reads each; and how many at the same time. */
export const LOOK_UPS_MAX = 10_000;
export const LOOK_UPS_TOGETHER_MAX = 64;
/** Facts as a peel sends them: with what a master adds they must still fit `FACTS_BYTES_MAX`, headers included. */
export const FACTS_MESSAGE_BYTES_MAX = FACTS_BYTES_MAX - 2 * KIB;
/** Functions of the state tree that a peel names in its facts; with more of them it names none. */
export const FACT_FUNCTIONS_MAX = 500;
/** Rows of the host's policy in the facts, and letters of each: enough to see what kind of policy it is. */
export const FACT_POLICY_ROWS_MAX = 20;
export const FACT_POLICY_ROW_LENGTH_MAX = 200;
/** A peel looks this often for functions that were added to its state tree: masters refuse what no peel has. */
export const FUNCTIONS_POLL_MS = 5 * SECOND_MS;
/** A peel looks at itself this often, and sends what has changed. */
export const FACTS_INTERVAL_MS = 5 * MINUTE_MS;
/** An answer to facts takes one write to the store. */
export const FACTS_ANSWER_MS = 3 * SECOND_MS;
/** Waits between attempts to have facts stored, doubling; half of each is chance, so that a fleet does not come at once. */
export const FACTS_RETRY_MS = 500;
export const FACTS_RETRY_MS_MAX = 60 * SECOND_MS;
/** A master that has just started looks this often whether it knows the peels, and takes facts from then on. */
export const FACTS_READY_POLL_MS = 50;
/** Writes of facts under way at one master, and those that wait for it. Beyond, they are dropped: peels send again. */
export const FACTS_WRITES_MAX = 32;
export const FACTS_WAITING_MAX = 1_024;
/** Tries to write one peel's facts before its peel has to send them again. */
export const FACTS_WRITE_ATTEMPTS_MAX = 5;

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
/** A write whose answer was lost is looked up and tried again this often before the caller is told. */
export const STORE_ATTEMPTS = 3;
/** Looked up again after this, doubling. */
export const STORE_RETRY_MS = 200;
/** Orphans are looked for this often. */
export const ORPHAN_SCAN_MS = 20 * SECOND_MS;
/** A master that has just started looks this often whether it may scan; the first scan does not wait for its turn. */
export const FIRST_SCAN_POLL_MS = 250;
/** Scans in a row in which an owner must be absent: one missing heartbeat is not a death. */
export const ORPHAN_MISSES = 2;
/** An index entry without a record is removed when it is this old: a dispatch may be slow, or its master paused. */
export const INDEX_ORPHAN_MS = 10 * MINUTE_MS;
/** A record is created only this long after its index entry was written; far less than that entry is kept for. */
export const CLAIM_WINDOW_MS = 60 * SECOND_MS;
/** A job that was taken over this often is given up: it seems to kill its masters. */
export const RECLAIMS_MAX = 3;
/** Targets that neither acked nor returned by then get the request once more. */
export const ACK_WINDOW_MS = 5 * SECOND_MS;
/** Those still silent this long after that are called unreachable. */
export const UNREACHABLE_GRACE_MS = 5 * SECOND_MS;
/**
 * Returns of one job that are written at the same time, and their bytes. A store that flushes each write to disk answers late but
 * takes many at once: with few on their way, a job of a large fleet waits for the last of them long after the last return.
 */
export const RETURN_WRITES_MAX = 1_024;
export const RETURN_WRITE_BYTES_MAX = 16 * MIB;
/** Returns of one job that are read at the same time. */
export const RETURN_READS_MAX = 64;
/** A master whose heartbeat could not be written for this long takes no work: others may soon take it for dead. */
export const MASTER_UNFIT_MS = 10 * SECOND_MS;
/** Operators are told at least this often that somebody still watches their job. */
export const FOLLOW_ALIVE_MS = 3 * SECOND_MS;
/** An operator that heard nothing for this long asks another master. */
export const FOLLOW_SILENCE_MS = 10 * SECOND_MS;
/** Replay of a job's messages from the stream: messages at a time, wait for more, and in all. */
export const REPLAY_BATCH = 256;
export const REPLAY_WAIT_MS = 2 * SECOND_MS;
export const REPLAY_MS_MAX = 30 * SECOND_MS;
/** Time for returns when a job names none, by function. */
export const STATE_TIMEOUT_MS = 5 * MINUTE_MS;
export const HIGHSTATE_TIMEOUT_MS = 10 * MINUTE_MS;
/** Longest time a job may ask for: no longer than what it signs may live. */
export const JOB_TIMEOUT_MS_MAX = 6 * DAY_MS;
/** Arguments of a job: they travel in every request and in the record. */
export const JOB_ARGS_BYTES_MAX = 256 * KIB;
/** Targets named in one job record; above it the list goes into chunks. */
export const JOB_TARGETS_INLINE_MAX = 5_000;
/** Returns sent to the operator in one message, so that a large fleet costs few messages. */
export const FOLLOW_BATCH_MAX = 64;
/** Bytes of returns in one message; far below the server's limit, since they are encoded again. */
export const FOLLOW_BATCH_BYTES_MAX = 256 * KIB;
/** How long returns are gathered into one message. */
export const FOLLOW_BATCH_MS = 5;
/**
 * How long acks wait to be looked at, how many, and their bytes. A quick job's return overtakes its ack meanwhile, and an
 * ack beside a return says nothing: so half of the signatures need not be verified. Nobody waits for an ack in such a hurry.
 */
export const ACK_HOLD_MS = 50;
export const ACKS_HELD_MAX = 4_096;
export const ACKS_HELD_BYTES_MAX = 4 * MIB;
/** Requests that a master signs and sends in one go; then it looks at what has come in. A hundred take it some milliseconds. */
export const REQUESTS_AT_ONCE = 100;

// ---- peels ---------------------------------------------------------------------------------------------------

export const PEEL_HEARTBEAT_MS = 10 * SECOND_MS;
/** A peel not heard from for this long is shown as offline. */
export const PEEL_OFFLINE_MS = 30 * SECOND_MS;
/** The journal of jids is kept longer than any signature lives. */
export const JOURNAL_RETENTION_MS = 8 * DAY_MS;
/** Largest journal file read at start; beyond it something is wrong and the peel fails closed. */
export const JOURNAL_BYTES_MAX = 256 * MIB;
/** A journal that is this large after it was rewritten takes no more jobs: it must stay below what a start can read. */
export const JOURNAL_FULL_BYTES = 96 * MIB;
/** Growth that makes a rewrite worth it, besides having doubled. */
export const JOURNAL_COMPACT_BYTES_MIN = 1 * MIB;
/** However little was written: entries past their time go at least this often. */
export const JOURNAL_COMPACT_MS_MAX = 1 * DAY_MS;
/** Results that the stream has are kept to answer a resend: this long, and this much of them. */
export const JOURNAL_RESULT_KEPT_MS = 1 * HOUR_MS;
export const JOURNAL_RESULT_BYTES_MAX = 16 * MIB;
/** Cancels of jobs not seen here. Beyond, the oldest goes, and requests from before it are refused. */
export const TOMBSTONES_MAX = 50_000;
/** Functions that change something, waiting for their turn; the next one is told that the peel is busy. */
export const EXECUTION_QUEUE_MAX = 64;
/** A return leaves room in a message for headers, and for what a master wraps around it. */
export const RETURN_BYTES_MAX = PAYLOAD_BYTES_MAX - 64 * KIB;
/** Waits between attempts to have a return stored. */
export const RETURN_RETRY_MS = 2 * SECOND_MS;
export const RETURN_RETRY_MS_MAX = 30 * SECOND_MS;
/** Returns on their way to the stream at once: a peel that was cut off for long must not flood it. */
export const RETURNS_IN_FLIGHT_MAX = 32;
/** A finished job is answered again at most this often, so that a replayed request cannot fill the stream. */
export const REPEAT_ANSWER_MS_MIN = 2 * SECOND_MS;
/** A stopping peel waits this long for what runs; the rest of the drain is for telling what was interrupted. */
export const WORK_DRAIN_MS = 7 * SECOND_MS;
/** And this long for each of the steps after that. */
export const RETURN_DRAIN_MS = 1 * SECOND_MS;

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
/** A watch that ended is begun again after this, doubling. */
export const WATCH_RETRY_MS = 1 * SECOND_MS;
export const WATCH_RETRY_MS_MAX = 30 * SECOND_MS;
/** No await on the network lasts longer than this unless the caller says so. */
export const STORE_TIMEOUT_MS = 5 * SECOND_MS;
/** Oldest server that can be used: below it there is no `sync_interval` and crash fixes are missing. */
export const SERVER_VERSION_MIN = [2, 10, 0] as const;

/** A fetch from a consumer may take this much longer than it asked to wait, before the server counts as silent. */
export const FETCH_GRACE_MS = 2 * SECOND_MS;
/** A fetch that does not want to wait gives the server this long to hand out what it has. */
export const FETCH_WAIT_MS_MIN = 20;
/** A short-lived consumer goes away on the server after this long without a reader. */
export const CONSUMER_INACTIVE_MS = 30 * SECOND_MS;
/** One request for messages of a watch lasts this long; then the next is sent. */
export const WATCH_PULL_MS = 30 * SECOND_MS;
/** Messages of a watch or a listing asked for at once. */
export const WATCH_PULL_MESSAGES = 256;
/** The server shows this often that a watch lives; after two of them missed the watch ends. */
export const WATCH_HEARTBEAT_MS = 5 * SECOND_MS;
/** First wait of a daemon that finds nobody at start; it doubles up to RECONNECT_WAIT_MS. */
export const FIRST_CONNECT_WAIT_MS = 100;
/** A request that nobody takes is sent again this often, for this long: a cluster learns of a new subject meanwhile. */
export const UNSERVED_RETRY_MS = 25;
export const UNSERVED_RETRY_MS_MAX = 500;
/** A cluster elects its leaders within this; until then making streams is tried again. */
export const ENSURE_TIMEOUT_MS = 15 * SECOND_MS;
export const ENSURE_RETRY_MS = 250;
/** More replicas than this cost more than they protect. */
export const REPLICAS_MAX = 3;

// ---- questions of operators ----------------------------------------------------------------------------------

/** Of an error that came with a return too large to keep, this many characters. */
export const RETURN_ERROR_LENGTH_MAX = 4 * KIB;
/** One answer to a question: far enough below `PAYLOAD_BYTES_MAX` for what surrounds the rows. */
export const QUERY_PAGE_BYTES_MAX = 768 * KIB;
/** Rows in one answer. Each row of a job's targets costs up to three reads. */
export const QUERY_PAGE_ROWS_MAX = 500;
/** Records read for one answer about jobs; with filters that match little, the rest is for the next page. */
export const QUERY_SCAN_MAX = 1_000;
/** Reads under way for one answer. */
export const QUERY_READS_MAX = 32;
/** Targets and jobs named in a row of a list; their number is always given. */
export const QUERY_ROW_NAMES_MAX = 100;
/** Jobs named when a shortened id means several. */
export const QUERY_CANDIDATES_MAX = 5;
/** Whoever follows a job looks at its record this often: messages about its end are best effort. */
export const FOLLOW_POLL_MS = 3 * SECOND_MS;
/** A job that has not ended this long after its deadline is not followed further: a takeover takes about a minute. */
export const FOLLOW_OVERDUE_MS = 2 * MINUTE_MS;
/** Jobs that one master follows for operators; each costs three subscriptions. */
export const FOLLOWS_MAX = 1_000;
/** Other jobs, and silent peels, looked at to say "busy with job X". */
export const BUSY_JOBS_MAX = 16;
export const BUSY_PEELS_MAX = 32;
/** An operator whose job is being claimed elsewhere, or finds no master any more, asks again after this, doubling. */
export const ASK_RETRY_MS = 250;
export const ASK_RETRY_MS_MAX = 5 * SECOND_MS;
/** Peels commanded at the same time in direct mode: arguments may be large, and each is a message of its own. */
export const DIRECT_TOGETHER_MAX = 256;
/** A second Ctrl-C within this cancels; a single one detaches when it has passed. */
export const INTERRUPT_WINDOW_MS = 2 * SECOND_MS;
/** The live region is drawn anew this often, and never more often than the lower one. */
export const LIVE_REDRAW_MS = 1 * SECOND_MS;
export const LIVE_REDRAW_MS_MIN = 50;
/** A run that is over sooner draws no live region: it would only flicker. */
export const LIVE_DELAY_MS = 200;
/** A list that is watched is asked for again this often. */
export const LIST_REFRESH_MS = 2 * SECOND_MS;
/** Lines of a diff that a run prints for one state; `--show all` prints all of them. */
export const DIFF_LINES_SHOWN_MAX = 40;
/** Peels named in each part of the live region. */
export const LIVE_PEELS_MAX = 5;
/** Jobs shown by `job list` when nobody says how many. */
export const JOB_LIST_DEFAULT_MAX = 50;

// ---- nats-server ---------------------------------------------------------------------------------------------

/** One step of fetching the server's package from the machine's mirrors. */
export const NATS_SERVER_FETCH_MS = 60 * SECOND_MS;
/**
 * What a server that we start may promise to its streams. Each reserves its own cap, so the sum must be above all caps
 * together, however small the disk of the machine is.
 */
export const NATS_SERVER_FILE_BYTES = 1_024 * GIB;
export const NATS_SERVER_MEMORY_BYTES = 16 * GIB;

/** An operator's request is taken by a master within this, or the CLI says that none answers. */
export const REQUEST_TIMEOUT_MS = 5 * SECOND_MS;
/** Beyond a job's own timeout, for the last word about it to arrive. */
export const FOLLOW_GRACE_MS = 10 * SECOND_MS;

// ---- processes -----------------------------------------------------------------------------------------------

/** SIGTERM drains and exits within this. */
export const DRAIN_MS = 10 * SECOND_MS;
/** Longest delay one timer of the runtime can hold (31 bits); a longer one would fire at once. */
export const TIMER_DELAY_MS_MAX = 2 ** 31 - 1;
/** How often gauges are read. */
export const GAUGE_POLL_MS = 15 * SECOND_MS;
/** One readiness check. */
export const READY_CHECK_MS = 2 * SECOND_MS;

// ---- logs ----------------------------------------------------------------------------------------------------

/** Longest text in one field of a log line: enough for any message of ours, too short to flood a log. */
export const LOG_TEXT_LENGTH_MAX = 4 * KIB;
/** Bytes of a binary value shown in a log line. */
export const LOG_BINARY_BYTES_MAX = 64;
/** Members of one list or map shown in a log line. */
export const LOG_MEMBERS_MAX = 100;
/** Nesting shown in a log line. */
export const LOG_DEPTH_MAX = 6;

// ---- embedded broker -----------------------------------------------------------------------------------------

/** Sequences named in one log record of a purge, so that no record grows with the stream. */
export const REMOVED_SEQUENCES_MAX = 4_096;
/** Bytes pushed to a flow-controlled consumer before it must answer: enough to keep a connection busy. */
export const FLOW_CONTROL_BYTES_MAX = 256 * KIB;
/** nats-server's defaults for consumers that name none. */
export const ACK_WAIT_MS = 30 * SECOND_MS;
export const ACK_PENDING_MAX = 1_000;
export const PULLS_WAITING_MAX = 512;
export const EPHEMERAL_INACTIVE_MS = 5 * SECOND_MS;
/** Chance in a name that the broker makes up for a consumer. */
export const BROKER_NAME_BYTES = 8;
/** nats-server's smallest age, duplicate window and idle heartbeat. */
export const BROKER_DURATION_MS_MIN = 100;

// ---- embedded broker: server and log -------------------------------------------------------------------------

/** Longest control line of the client protocol; the default of nats-server. */
export const BROKER_CONTROL_LINE_BYTES_MAX = 4 * KIB;
/** Longest subscription id: clients count them, so a handful of digits is all that is used. */
export const BROKER_SID_LENGTH_MAX = 64;
/** Connections of one server: far above any fleet that fits one machine, below the usual limit of open files. */
export const BROKER_CONNECTIONS_MAX = 16_384;
/** A client that has not introduced itself by then is cut off. */
export const BROKER_CONNECT_MS_MAX = 2 * SECOND_MS;
/** The server pings an idle connection this often; two unanswered pings mean that nobody is there. */
export const BROKER_PING_INTERVAL_MS = 30 * SECOND_MS;
export const BROKER_PINGS_OUTSTANDING_MAX = 2;
/** Bytes waiting for one slow reader before it is cut off, so that it cannot take the memory of all. */
export const BROKER_PENDING_BYTES_MAX = 64 * MIB;
/** Read at once from a connection: little while it is idle, since there may be thousands; more under load, to batch. */
export const BROKER_READ_BYTES_MIN = 4 * KIB;
export const BROKER_READ_BYTES_MAX = 64 * KIB;
/** Output buffers start small; one that a burst made larger than what is kept is let go afterwards. */
export const BROKER_WRITE_BUFFER_BYTES = 1 * KIB;
export const BROKER_WRITE_BUFFER_BYTES_KEPT = 16 * KIB;
/** After a failed accept (no file handles left) the server tries again this much later. */
export const BROKER_ACCEPT_RETRY_MS = 100;
/** A connection that is being closed gets this long to take what was written to it. */
export const BROKER_CLOSE_FLUSH_MS_MAX = 2 * SECOND_MS;
/** Names and subjects in one page of a JetStream answer, as nats-server pages them. */
export const BROKER_NAMES_PAGE_MAX = 1_024;
export const BROKER_LIST_PAGE_MAX = 256;
export const BROKER_SUBJECTS_PAGE_MAX = 100_000;
/** One commit to the log. A larger one is split, so that a frame always fits in memory when it is read back. */
export const BROKER_LOG_FRAME_BYTES_MAX = 64 * MIB;
/** Below this size a log is not worth compacting. */
export const BROKER_LOG_COMPACT_BYTES_MIN = 1 * MIB;
/** Block in which a damaged log is searched for intact frames. */
export const BROKER_LOG_SCAN_BYTES = 1 * MIB;
/** First buffer of a commit; it grows with what is committed at once. */
export const BROKER_LOG_BUFFER_BYTES = 4 * KIB;

// ---- modules -------------------------------------------------------------------------------------------------

/** Messages that a worker may send within the window: a hundred times what the busiest module needs, far from a flood. */
export const WORKER_MESSAGES_PER_WINDOW_MAX = 20_000;
export const WORKER_MESSAGE_WINDOW_MS = 1 * SECOND_MS;
/** Host calls of one worker that are done at the same time; the others wait. */
export const HOST_CALLS_AT_ONCE_MAX = 16;
/** Largest value that passes between a module and its peel: a whole download, and what goes with it. */
export const MODULE_VALUE_BYTES_MAX = 80 * MIB;
export const MODULE_VALUE_PARTS_MAX = 1_000_000;
/** Deeper than any data that people write; a value that holds itself has no end. */
export const MODULE_VALUE_DEPTH_MAX = 64;
/** Longest message between a peel and a module in a process of its own: the largest value, and what is around it. */
export const MODULE_FRAME_BYTES_MAX = MODULE_VALUE_BYTES_MAX + 1 * MIB;
/** Heap of a module in a process of its own: room for a large file and its copies. */
export const MODULE_HEAP_MIB_MAX = 256;
/** All memory of such a process: the heap, buffers beside it, and the runtime itself. */
export const MODULE_RESIDENT_BYTES_MAX = 768 * MIB;
/** How often that is looked at: what it can outgrow its bound by is what it can fill in this time. */
export const MODULE_RESIDENT_POLL_MS = 25;
/** Kept of the message of an error that a module throws. */
export const MODULE_ERROR_LETTERS_MAX = 16 * KIB;
/** Workers of one run that change something at the same time; the rest waits. More gain nothing on few cores, and each takes memory. */
export const WORKERS_AT_ONCE_MAX = 4;
/** Workers that start while others work. */
export const WORKERS_AHEAD_MAX = 1;
/** What a module may read of one file unless it says otherwise: a larger one is copied or hashed, not read. */
export const HOST_READ_BYTES_MAX = 16 * MIB;
/** Kept of a program's stdout and of its stderr each; the rest is counted. */
export const PROGRAM_OUTPUT_BYTES_MAX = 64 * KIB;
/** Kept of a download that a module holds in memory. */
export const FETCH_BYTES_MAX = 64 * MIB;
export const FETCH_REDIRECTS_MAX = 5;
/** A request with its whole answer, when the module does not say: a large package over a slow line is asked for with more. */
export const FETCH_TIMEOUT_MS = 60 * SECOND_MS;
/** Longest chain of links that a path may go through, as in Linux. */
export const LINKS_FOLLOWED_MAX = 40;
/** A folder with more entries is not listed for a module. */
export const FOLDER_ENTRIES_MAX = 100_000;
/** Folders within folders that are removed: each level keeps a file handle, and somebody may have dug deep on purpose. */
export const FOLDER_DEPTH_MAX = 256;
/** Read, written or hashed at once: small enough that other work of the peel comes in between. */
export const HOST_CHUNK_BYTES = 256 * KIB;
/** Between SIGTERM and SIGKILL of a program whose time is up. */
export const PROGRAM_TERM_GRACE_MS = 2 * SECOND_MS;
/** How often is looked whether all processes of such a program are gone. */
export const PROGRAM_END_POLL_MS = 20;
/** A program that has ended may have left somebody with its output open: what it wrote itself is read within this. */
export const PROGRAM_OUTPUT_GRACE_MS = 500;
/** How long one template may take: its own budget of steps ends it long before. */
export const RENDER_MS_MAX = 10 * SECOND_MS;
/** How long `permissions()` of a module from the state tree may compute. */
export const CUSTOM_PREPARE_MS_MAX = 5 * SECOND_MS;
/** Kept of the body that `http.query` shows. */
export const HTTP_BODY_BYTES_MAX = 256 * KIB;
/** Kept of what a program lists for a module: packages, processes, sockets. */
export const LIST_OUTPUT_BYTES_MAX = 4 * MIB;
/** A supervised service that ends sooner than this has not started; until it runs it is looked after this often and long. */
export const SERVICE_SETTLE_MS = 200;
export const SERVICE_POLL_MS = 20;
export const SERVICE_POLLS_MAX = 100;
/** Largest file of custom facts: all facts of a peel together may have little more. */
export const CUSTOM_FACTS_BYTES_MAX = 128 * KIB;
/** Tries of one event before its sender is told that it was not taken. */
export const EVENT_SEND_TRIES_MAX = 3;
/** Longest diff in a result; what follows is counted. */
export const DIFF_BYTES_MAX = 16 * KIB;
/** Lines of both sides of a diff together: comparing takes time that grows faster than they do. */
export const DIFF_LINES_COMPARED_MAX = 20_000;
/** A regular expression that edits files, and its program: one step per character of the file and step of the program. */
export const PATTERN_LENGTH_MAX = 1 * KIB;
export const PATTERN_STEPS_MAX = 4_000;
/** What one state keeps of old content for an undo: memos lie on the disk of the peel for days. */
export const FILE_MEMO_BYTES_MAX = 1 * MIB;
/** What `file.read` answers with: a quarter of what one message may hold. */
export const FILE_SHOWN_BYTES_MAX = 256 * KIB;
/** Entries that one look through folders touches, and paths that `file.find` answers with. */
export const FILES_VISITED_MAX = 100_000;
export const FILES_FOUND_MAX = 2_000;
/** Lines that tell what differs between two folders. */
export const FOLDER_DIFF_LINES_MAX = 100;

// ---- templates -----------------------------------------------------------------------------------------------

/** One template: a file of a thousand states has a tenth of it. */
export const TEMPLATE_SOURCE_LENGTH_MAX = 1 * MIB;
/** Words and signs in its tags, and texts between them: parsing that many takes a quarter of a second. */
export const TEMPLATE_TOKENS_MAX = 100_000;
/** Nodes visited and members touched in one render: well below a second, a hundred times what a large file needs. */
export const TEMPLATE_STEPS_MAX = 1_000_000;
/** Characters that a render prints, and those of all texts that it makes on the way. */
export const TEMPLATE_OUTPUT_LENGTH_MAX = 4 * MIB;
export const TEMPLATE_TEXT_LENGTH_MAX = 16 * MIB;
/** Templates, macros and blocks inside each other: far from the end of a worker's stack. */
export const TEMPLATE_DEPTH_MAX = 32;
/** Parts of an expression, and tags, inside each other, through all of those. */
export const TEMPLATE_NODE_DEPTH_MAX = 500;
/** Deepest nesting of a value that goes in or comes out, and of one that is printed. */
export const TEMPLATE_VALUE_DEPTH_MAX = 64;
/** Widest indentation that a filter makes. */
export const TEMPLATE_INDENT_MAX = 64;
/** A regular expression in a template, and its program. */
export const TEMPLATE_REGEX_LENGTH_MAX = 1 * KIB;
export const TEMPLATE_REGEX_STEPS_MAX = 1_000;
/** Names listed to say what is there. */
export const TEMPLATE_NAMES_SHOWN_MAX = 8;

// ---- files ---------------------------------------------------------------------------------------------------

/** Largest configuration or context file read. */
export const CONFIG_BYTES_MAX = 1 * MIB;
/** Smallest secrets: keys and seeds. */
export const KEY_FILE_BYTES_MAX = 4 * KIB;
