/** `ssh_auth.present`: keeps a public key in the authorized keys of a user. */
import {
  applyText,
  checked,
  checkText,
  defaulted,
  defineModule,
  type Host,
  line,
  optional,
  revertText,
  type TextMemo,
} from "../../core/module.ts";
import {
  blobOf,
  FILE_MODE,
  findKeyFile,
  FOLDER_MODE,
  keyGrant,
  keyParams,
  withKey,
} from "./_keys.ts";

export default defineModule({
  name: "ssh_auth.present",
  summary: "Keeps a public key in the authorized keys of a user.",
  description: "The folder is made with mode 0700 and the file with 0600, owned by the user.",
  params: {
    ...keyParams,
    enc: defaulted(
      checked(
        line("Type of the key when only its blob is given."),
        (enc) => /^\S+$/.test(enc) ? null : "one word is wanted",
      ),
      "ssh-rsa",
    ),
    comment: optional(line("Comment of the key when only its blob is given.")),
  },
  permissions: keyGrant,
  async check(p, host) {
    const { path } = await findKeyFile(host, p);
    return await checkText(
      host,
      { path, plan: planOf(p) },
      `key ${short(p.name)} should be in ${path}`,
    );
  },
  async apply(p, host) {
    const { path, owner } = await findKeyFile(host, p);
    if (p.config === undefined) await makeFolder(host, path, owner);
    const why = `key ${short(p.name)} added to ${path}`;
    const change = await applyText(host, { path, plan: planOf(p), mode: FILE_MODE }, why);
    if (change === null) return null;
    if (owner !== null) await host.setAttributes(path, owner);
    return { ...change, details: { path, user: p.user ?? "" } };
  },
  async revert(p, memo: TextMemo, host) {
    const { path, owner } = await findKeyFile(host, p);
    const change = await revertText(host, path, memo);
    if (owner !== null && memo.before !== null) await host.setAttributes(path, owner);
    return change;
  },
  examples: [
    {
      title: "As a state",
      code:
        "deploy_key:\n  ssh_auth.present:\n    - name: ssh-ed25519 AAAAC3… deploy@ci\n    - user: deploy",
    },
    {
      title: "On the command line",
      code: "zester 'web*' ssh_auth.present 'ssh-ed25519 AAAAC3… me' user=root",
    },
  ],
  differences: ["The file is given to the user, which Salt does and earlier systems did not."],
});

interface Params {
  readonly name: string;
  readonly enc: string;
  readonly comment?: string | undefined;
}

/** The whole line of the key. */
function lineOf({ name, enc, comment }: Params): string {
  const isBlobOnly = !/\s/.test(name.trim());
  return isBlobOnly
    ? [enc, name.trim(), comment ?? ""].filter((part) => part !== "").join(" ")
    : name.trim();
}

function planOf(p: Params): (text: string | null) => string {
  return (text) => withKey(text ?? "", lineOf(p));
}

async function makeFolder(
  host: Host,
  path: string,
  owner: { uid: number; gid: number } | null,
): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/"));
  if (await host.stat(folder) === null) {
    await host.makeFolder(folder, { mode: FOLDER_MODE, ...owner });
  }
}

function short(key: string): string {
  return `…${blobOf(key).slice(-8)}`;
}
