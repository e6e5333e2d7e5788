/** What can be set on a peel: the one list from which parsing, help and the reference page are made. */
import type { OptionTable } from "../core/config.ts";
import { CONNECTION_OPTIONS, healthOption, LOG_OPTIONS } from "../core/daemon_options.ts";

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
  data_dir: {
    type: "string",
    default: "/var/lib/zester",
    flag: "--data-dir",
    env: "ZESTER_DATA_DIR",
    help: "Folder of the journal and of everything else that is kept on disk.",
  },
  ...CONNECTION_OPTIONS,
  health_addr: healthOption("127.0.0.1:9090"),
  ...LOG_OPTIONS,
} as const satisfies OptionTable;
