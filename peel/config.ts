/** What can be set on a peel: the one list from which parsing, help and the reference page are made. */
import type { OptionTable } from "../core/config.ts";
import { LOG_FORMATS, LOG_LEVELS } from "../core/log.ts";

/** Read when neither `--config` nor `ZESTER_CONFIG` names a file. */
export const PEEL_CONFIG_PATH = "/etc/zester/peel.yaml";

/** Options of a peel. */
export const PEEL_OPTIONS = {
  id: {
    type: "string",
    default: null,
    flag: "--id",
    env: "ZESTER_ID",
    help: "Id of this peel; made from the host name when absent.",
  },
  nats_url: {
    type: "list",
    default: ["nats://127.0.0.1:4222"],
    flag: "--nats-url",
    env: "ZESTER_NATS_URL",
    help: "Servers to connect to; the first that answers is used.",
  },
  nats_user: {
    type: "string",
    default: null,
    flag: "--nats-user",
    env: "ZESTER_NATS_USER",
    help: "User to log in as.",
  },
  nats_password_file: {
    type: "string",
    default: null,
    flag: "--nats-password-file",
    env: "ZESTER_NATS_PASSWORD_FILE",
    help: "File that holds the password, so that it is neither in the environment nor in `ps`.",
  },
  auth_dir: {
    type: "string",
    default: "/var/lib/zester/auth",
    flag: "--auth-dir",
    env: "ZESTER_AUTH_DIR",
    help: "Folder of keys and of the trust document.",
  },
  data_dir: {
    type: "string",
    default: "/var/lib/zester",
    flag: "--data-dir",
    env: "ZESTER_DATA_DIR",
    help: "Folder of the journal and of everything else that is kept on disk.",
  },
  health_addr: {
    type: "string",
    default: "127.0.0.1:9090",
    flag: "--health-addr",
    env: "ZESTER_HEALTH_ADDR",
    help: "Where /healthz, /readyz and /metrics are served; port 0 lets the system choose.",
  },
  log_level: {
    type: "string",
    choices: LOG_LEVELS,
    default: "info",
    flag: "--log-level",
    env: "ZESTER_LOG_LEVEL",
    help: "Least weight of the records that are written.",
  },
  log_format: {
    type: "string",
    choices: LOG_FORMATS,
    default: "json",
    flag: "--log-format",
    env: "ZESTER_LOG_FORMAT",
    help: "Lines for machines or for people.",
  },
} as const satisfies OptionTable;
