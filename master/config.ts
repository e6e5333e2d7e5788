/** What can be set on a master: the one list from which parsing, help and the reference page are made. */
import type { OptionTable } from "../core/config.ts";
import { CONNECTION_OPTIONS, healthOption, LOG_OPTIONS } from "../core/daemon_options.ts";

/** Read when neither `--config` nor `ZESTER_CONFIG` names a file. */
export const MASTER_CONFIG_PATH = "/etc/zester/master.yaml";

/** Options of a master. */
export const MASTER_OPTIONS = {
  name: {
    type: "string",
    default: null,
    flag: "--name",
    env: "ZESTER_NAME",
    help: "Name of this master, as in its NATS permissions; the host's name when absent.",
  },
  ...CONNECTION_OPTIONS,
  target_groups: {
    type: "list",
    default: [],
    flag: "--target-groups",
    env: "ZESTER_TARGET_GROUPS",
    help: "Named targets for `N@name`, each as `name=expression`.",
  },
  health_addr: healthOption("127.0.0.1:9091"),
  ...LOG_OPTIONS,
} as const satisfies OptionTable;
