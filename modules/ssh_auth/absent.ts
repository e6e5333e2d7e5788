/** `ssh_auth.absent`: keeps a public key out of the authorized keys of a user. */
import {
  applyText,
  checkText,
  defineModule,
  PASSWD_PATH,
  revertText,
  type TextMemo,
} from "../../core/module.ts";
import { findKeyFile, keyParams, keyPath, withoutKey } from "./_keys.ts";

export default defineModule({
  name: "ssh_auth.absent",
  summary: "Keeps a public key out of the authorized keys of a user.",
  params: keyParams,
  permissions: (p) => ({ read: p.user === undefined ? [] : [PASSWD_PATH], write: [keyPath(p)] }),
  async check(p, host) {
    const { path } = await findKeyFile(host, p);
    return await checkText(
      host,
      { path, plan: planOf(p.name) },
      `the key should not be in ${path}`,
    );
  },
  async apply(p, host) {
    const { path, owner } = await findKeyFile(host, p);
    const change = await applyText(
      host,
      { path, plan: planOf(p.name) },
      `key removed from ${path}`,
    );
    if (change === null) return null;
    if (owner !== null) await host.setAttributes(path, owner);
    return { ...change, details: { path, user: p.user ?? "" } };
  },
  async revert(p, memo: TextMemo, host) {
    return await revertText(host, (await findKeyFile(host, p)).path, memo);
  },
  examples: [{
    title: "On the command line",
    code: "zester '*' ssh_auth.absent AAAAC3… user=deploy",
  }],
});

function planOf(key: string): (text: string | null) => string | null {
  return (text) => text === null ? null : withoutKey(text, key);
}
