/** `git.latest`: keeps a working copy at the newest commit of a branch, or at a revision. */
import {
  absolutePath,
  defaulted,
  defineModule,
  flag,
  type Grant,
  type Host,
  optional,
  primary,
  type Program,
} from "../../core/module.ts";
import {
  git,
  GIT_VARIABLES,
  headOf,
  inFolder,
  isAt,
  lookPrograms,
  originOf,
  reference,
  repositoryUrl,
  tryGit,
} from "./_git.ts";

export default defineModule({
  name: "git.latest",
  summary: "Keeps a working copy at the newest commit of a branch, or at a revision.",
  params: {
    name: primary(repositoryUrl("Where the repository is."), "url"),
    target: absolutePath("Folder of the working copy."),
    branch: optional(reference("Branch to follow; the default branch when absent.")),
    rev: optional(reference("Commit or tag to stay at; wins over branch.")),
    force: defaulted(flag("Throw local changes and commits away."), false),
  },
  permissions(p): Grant {
    return {
      read: [p.target],
      env: GIT_VARIABLES,
      write: [p.target, `${p.target}/**`],
      probe: [
        ...lookPrograms(p.target, p.rev),
        ...(p.rev === undefined ? [inFolder(p.target, "rev-parse", "HEAD"), remoteProgram(p)] : []),
      ],
      run: [
        cloneProgram(p),
        inFolder(p.target, "remote", "set-url", "origin", p.name),
        inFolder(p.target, "rev-parse", "HEAD"),
        ...movePrograms(p),
        inFolder(p.target, "reset", "-q", "--hard"),
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
    const details = { url: p.name, target: p.target };
    if (await host.stat(p.target) === null) {
      await git(host, cloneProgram(p));
      if (p.rev !== undefined) await git(host, inFolder(p.target, "checkout", "-q", p.rev, "--"));
      return { diff: `cloned ${p.name} to ${p.target}`, details, memo: { head: null } };
    }
    await git(host, inFolder(p.target, "remote", "set-url", "origin", p.name));
    const head = await headOf(host, p.target);
    for (const program of movePrograms(p)) await git(host, program);
    return {
      diff: `${p.target}: ${head} -> ${await headOf(host, p.target)}`,
      details,
      memo: { head },
    };
  },
  async revert(p, { head }: { head: string | null }, host) {
    if (head === null) {
      await host.remove(p.target, { tree: true });
      return { diff: `removed ${p.target} (revert clone)` };
    }
    await git(host, inFolder(p.target, "reset", "-q", "--hard", head));
    return { diff: `reset ${p.target} to ${head}` };
  },
  examples: [{
    title: "As a state",
    code:
      "https://git.example.org/app.git:\n  git.latest:\n    - target: /srv/app\n    - branch: main",
  }, {
    title: "On the command line",
    code: "zester 'web*' git.latest https://git.example.org/app.git target=/srv/app",
  }],
});

interface Params {
  readonly name: string;
  readonly target: string;
  readonly branch?: string | undefined;
  readonly rev?: string | undefined;
  readonly force: boolean;
}

function cloneProgram({ name, target, branch }: Params): Program {
  return [
    "git",
    "clone",
    "-q",
    ...(branch === undefined ? [] : ["--branch", branch]),
    "--",
    name,
    target,
  ];
}

function remoteProgram({ target, branch }: Params): Program {
  return inFolder(
    target,
    "ls-remote",
    "origin",
    branch === undefined ? "HEAD" : `refs/heads/${branch}`,
  );
}

/** Fetches and moves HEAD: by force, to a revision, or forward along the branch. */
function movePrograms({ target, branch, rev, force }: Params): Program[] {
  const fetch = inFolder(target, "fetch", "-q", "--tags", "origin");
  const newest = branch === undefined ? "origin/HEAD" : `origin/${branch}`;
  if (force) return [fetch, inFolder(target, "reset", "-q", "--hard", rev ?? newest)];
  if (rev !== undefined) return [fetch, inFolder(target, "checkout", "-q", rev, "--")];
  const checkout = branch === undefined ? [] : [inFolder(target, "checkout", "-q", branch, "--")];
  return [fetch, ...checkout, inFolder(target, "merge", "-q", "--ff-only", newest)];
}

async function driftOf(p: Params, host: Host): Promise<string | null> {
  if (await host.stat(p.target) === null) return `${p.target} is not cloned`;
  const origin = await originOf(host, p.target);
  if (origin === null) throw new Error(`${p.target} is there and is no working copy`);
  if (origin !== p.name) return `origin of ${p.target} is ${origin}, want ${p.name}`;
  if (p.rev !== undefined) {
    return await isAt(host, p.target, p.rev) ? null : `${p.target} is not at ${p.rev}`;
  }
  const { code, stdout, stderr } = await tryGit(host, remoteProgram(p));
  const newest = stdout.trim().split(/\s/)[0] ?? "";
  if (code !== 0 || newest === "") {
    throw new Error(`git ls-remote: ${stderr.trim() || "no such branch"}`);
  }
  const head = await headOf(host, p.target);
  return head === newest ? null : `${p.target} is at ${head}, origin at ${newest}`;
}
