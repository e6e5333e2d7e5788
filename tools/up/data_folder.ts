/** The folder of a local fleet: one that was asked for, which stays, or a temporary one. Only one `up` uses it at a time. */
import { dirname, join, resolve } from "node:path";
import { systemFiles } from "../../core/adapters/system_files.ts";
import { toZesterError, ZesterError } from "../../core/errors.ts";

const LOCK_NAME = "up.lock";

export interface DataFolder {
  readonly path: string;
  /** Gives it free; a temporary one is removed. */
  close(): Promise<void>;
}

/** Makes the folder if need be, and locks it: two servers on one store, or two peels on one journal, would damage them. */
export async function openDataFolder(asked: string | undefined): Promise<DataFolder> {
  const path = asked === undefined ? await temporaryFolder() : await askedFolder(asked);
  const lock = await Deno.open(join(path, LOCK_NAME), { write: true, create: true, mode: 0o600 })
    .catch((cause) => {
      const { message } = toZesterError(cause, `lock data folder ${path}`);
      throw new ZesterError("io_failed", message, { cause, fix: "name a folder of yours" });
    });
  if (!await lock.tryLock(true)) {
    lock.close();
    throw new ZesterError("config_invalid", `data folder ${path}: another \`up\` is using it`, {
      fix: "stop the other one, or give this one a folder of its own",
    });
  }
  return {
    path,
    async close() {
      lock.close();
      if (asked === undefined) await Deno.remove(path, { recursive: true });
    },
  };
}

async function askedFolder(asked: string): Promise<string> {
  const path = resolve(asked);
  const parent = await Deno.stat(dirname(path)).catch(() => null);
  if (!parent?.isDirectory) {
    throw new ZesterError(
      "config_invalid",
      `--data ${asked}: folder ${dirname(path)} does not exist`,
      { fix: "make it first, or name another folder" },
    );
  }
  await systemFiles.makeFolder(path, 0o700);
  await requireOurs(path);
  return path;
}

/** Keys that lie in the folder are used as they are, so nobody else may have put them there. */
async function requireOurs(path: string): Promise<void> {
  const { uid, mode } = await Deno.stat(path);
  const isOurs = uid === Deno.uid();
  if (isOurs && ((mode ?? 0) & 0o022) === 0) return;
  throw new ZesterError(
    "config_invalid",
    `--data ${path}: ${isOurs ? "others may write to it" : "it belongs to somebody else"}`,
    { fix: isOurs ? `chmod go-w ${path}` : "name a folder of your own" },
  );
}

async function temporaryFolder(): Promise<string> {
  try {
    return await Deno.makeTempDir({ prefix: "zester-up-" });
  } catch (cause) {
    const { message } = toZesterError(cause, "make a temporary folder");
    throw new ZesterError("io_failed", message, {
      cause,
      fix: "set TMPDIR to a folder that can be written, or give --data",
    });
  }
}
