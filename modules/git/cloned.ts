/** `git.cloned`: keeps a working copy of a repository, at a branch or revision if one is given. */
import {
  absolutePath,
  defaulted,
  defineModule,
  flag,
  type Grant,
  type Host,
  integer,
  optional,
  primary,
  type Program,
} from "../../core/module.ts";
import {
  branchOf,
  git,
  GIT_VARIABLES,
  headOf,
  inFolder,
  isAt,
  lookPrograms,
  originOf,
  reference,
  repositoryUrl,
} from "./_git.ts";

export default defineModule({
  name: "git.cloned",
  summary: "Keeps a working copy of a repository, at a branch or revision if one is declared.",
  params: {
    name: primary(absolutePath("Folder of the working copy."), "target"),
    url: repositoryUrl("Where the repository is."),
    branch: optional(reference("Branch to check out.")),
    rev: optional(reference("Commit or tag to check out; wins over branch.")),
    depth: optional(integer("How many commits to fetch; all when absent.")),
    force: defaulted(
      flag("Throw local changes away when something else is to be checked out."),
      false,
    ),
  },
  permissions(p): Grant {
    return {
      read: [p.name],
      env: GIT_VARIABLES,
      write: [p.name, `${p.name}/**`],
      probe: [
        ...lookPrograms(p.name, p.rev),
        ...(p.rev === undefined && p.branch !== undefined
          ? [inFolder(p.name, "symbolic-ref", "--short", "-q", "HEAD")]
          : []),
      ],
      run: [
        cloneProgram(p),
        inFolder(p.name, "remote", "set-url", "origin", p.url),
        ...checkoutPrograms(p),
        inFolder(p.name, "rev-parse", "HEAD"),
      ],
    };
  },
  async check(p, host) {
    const diff = await driftOf(p, host);
    return diff === null ? null : { diff };
  },
  async apply(p, host) {
    const diff = await driftOf(p, host);
    if (diff === null) return null;
    const details = { url: p.url, path: p.name };
    if (await host.stat(p.name) === null) {
      await git(host, cloneProgram(p));
      if (p.rev !== undefined) {
        for (const program of checkoutPrograms(p)) await git(host, program);
      }
      return { diff: `cloned ${p.url} to ${p.name}`, details, memo: { cloned: true } };
    }
    await git(host, inFolder(p.name, "remote", "set-url", "origin", p.url));
    for (const program of checkoutPrograms(p)) await git(host, program);
    return {
      diff: `${diff}: now at ${await headOf(host, p.name)}`,
      details,
      memo: { cloned: false },
    };
  },
  async revert(p, memo: { cloned: boolean }, host) {
    if (!memo.cloned) return { diff: `${p.name} was there before and stays`, changed: false };
    await host.remove(p.name, { tree: true });
    return { diff: `removed ${p.name} (revert clone)` };
  },
  examples: [{
    title: "As a state",
    code:
      "/srv/app:\n  git.cloned:\n    - url: https://git.example.org/app.git\n    - branch: main",
  }, {
    title: "On the command line",
    code: "zester 'web*' git.cloned /srv/app url=https://git.example.org/app.git",
  }],
});

interface Params {
  readonly name: string;
  readonly url: string;
  readonly branch?: string | undefined;
  readonly rev?: string | undefined;
  readonly depth?: number | undefined;
  readonly force: boolean;
}

function cloneProgram({ name, url, branch, depth }: Params): Program {
  return [
    "git",
    "clone",
    "-q",
    ...(depth === undefined || depth === 0 ? [] : ["--depth", String(depth)]),
    ...(branch === undefined ? [] : ["--branch", branch]),
    "--",
    url,
    name,
  ];
}

function checkoutPrograms({ name, branch, rev, force }: Params): Program[] {
  const wanted = rev ?? branch;
  if (wanted === undefined) return [];
  return [
    ...(force ? [inFolder(name, "reset", "-q", "--hard", "HEAD")] : []),
    inFolder(name, "fetch", "-q", "--tags", "origin"),
    inFolder(name, "checkout", "-q", wanted, "--"),
  ];
}

async function driftOf(p: Params, host: Host): Promise<string | null> {
  if (await host.stat(p.name) === null) return `${p.name} is not cloned`;
  const origin = await originOf(host, p.name);
  if (origin === null) throw new Error(`${p.name} is there and is no working copy`);
  if (origin !== p.url) return `origin of ${p.name} is ${origin}, want ${p.url}`;
  if (p.rev !== undefined) {
    return await isAt(host, p.name, p.rev) ? null : `${p.name} is not at ${p.rev}`;
  }
  if (p.branch === undefined || await branchOf(host, p.name) === p.branch) return null;
  return `${p.name} is not on branch ${p.branch}`;
}
