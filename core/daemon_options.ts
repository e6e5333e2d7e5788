/** Options that all daemons have, said once. */
import type { OptionTable } from "./config.ts";
import { LOG_FORMATS, LOG_LEVELS } from "./log.ts";

/** How a daemon reaches its fleet. */
export const CONNECTION_OPTIONS = {
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
} as const satisfies OptionTable;

/** What a daemon writes to its log. */
export const LOG_OPTIONS = {
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

/** Where a daemon serves its health; each kind has a port of its own, so that both can be on one machine. */
export function healthOption<const A extends string>(address: A) {
  return {
    type: "string",
    default: address,
    flag: "--health-addr",
    env: "ZESTER_HEALTH_ADDR",
    help: "Where /healthz, /readyz and /metrics are served; port 0 lets the system choose.",
  } as const;
}
