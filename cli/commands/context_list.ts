/** `zester context list`: the fleets that this user knows. */
import { join } from "node:path";
import { chooseContext, contextsFolder } from "../../core/context.ts";
import { printable } from "../../core/printable.ts";
import type { Io } from "../io.ts";
import type { CommonFlags } from "./flags.ts";

const SUFFIX = ".yaml";

interface Listed {
  name: string;
  path: string;
  current: boolean;
}

/** Prints every context, the one in force marked. */
export async function contextList(flags: CommonFlags, io: Io): Promise<number> {
  const folder = contextsFolder(io.env, io.home);
  const current = await chooseContext(io.env, io.home, io.files, flags.context);
  const names = (await io.listFolder(folder)).filter((name) => name.endsWith(SUFFIX)).sort();
  const listed = names.map((file): Listed => {
    const path = join(folder, file);
    return { name: file.slice(0, -SUFFIX.length), path, current: path === current.path };
  });
  if (!listed.some((context) => context.current) && current.name.includes("/")) {
    listed.push({ name: current.name, path: current.path, current: true });
  }
  switch (flags.output ?? "text") {
    case "json":
      io.stdout(`${JSON.stringify(listed, null, 2)}\n`);
      break;
    case "jsonl":
      io.stdout(listed.map((context) => `${JSON.stringify(context)}\n`).join(""));
      break;
    case "yaml": {
      const { dump } = await import("js-yaml");
      io.stdout(dump(listed));
      break;
    }
    case "ids":
      io.stdout(listed.map(({ name }) => `${name}\n`).join(""));
      break;
    default:
      showText(listed, folder, io);
  }
  return 0;
}

function showText(listed: readonly Listed[], folder: string, io: Io): void {
  if (listed.length === 0) {
    io.stderr(
      `No contexts in ${printable(folder)}: \`deno task up\` starts a fleet and makes one.\n`,
    );
  }
  const width = Math.max(0, ...listed.map(({ name }) => name.length));
  for (const { name, path, current } of listed) {
    io.stdout(`${current ? "*" : " "} ${printable(name).padEnd(width)}  ${printable(path)}\n`);
  }
}
