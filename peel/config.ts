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
  states_dir: {
    type: "string",
    default: "/var/lib/zester/states",
    flag: "--states-dir",
    env: "ZESTER_STATES_DIR",
    help: "Folder of the state tree: sources of files and scripts (`zester://`), custom modules.",
  },
  policy_file: {
    type: "string",
    default: "/etc/zester/policy.zy",
    flag: "--policy-file",
    env: "ZESTER_POLICY_FILE",
    help: "What this host lets modules touch; without the file the grants alone decide.",
  },
  custom_isolation: {
    type: "string",
    default: "worker",
    choices: ["worker", "process"],
    flag: "--custom-isolation",
    env: "ZESTER_CUSTOM_ISOLATION",
    help: "Where modules of the state tree run: in a worker, or in a process with a memory limit.",
  },
  facts_file: {
    type: "string",
    default: "/etc/zester/facts",
    flag: "--facts-file",
    env: "ZESTER_FACTS_FILE",
    help: "Custom facts of this host, a map in YAML; `facts.set` writes it.",
  },
  ...CONNECTION_OPTIONS,
  health_addr: healthOption("127.0.0.1:9090"),
  ...LOG_OPTIONS,
} as const satisfies OptionTable;
