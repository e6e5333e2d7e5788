/** `user.present`: keeps a user of the host, with what is declared of it. */
import {
  absolutePath,
  accountName,
  accountNames,
  type Change,
  checked,
  defaulted,
  defineModule,
  failureOf,
  flag,
  type Grant,
  type GroupRef,
  groupRef,
  type Host,
  integer,
  line,
  optional,
  type Param,
  perform,
  primary,
  sensitive,
  StateFailure,
} from "../../core/module.ts";
import {
  createProgram,
  deleteProgram,
  type Difference,
  groupsOf,
  isOtherPassword,
  modifyProgram,
  observe,
  observeGroups,
  planUser,
  readsOf,
  type Seen,
  SET_PASSWORD,
  type Wanted,
} from "./_account.ts";

/** What to undo. */
type Memo =
  | { readonly did: "created"; readonly withHome: boolean }
  | {
    readonly did: "modified";
    readonly undo: readonly string[];
    /** The hash before, when the password was changed. */
    readonly hash?: string | null;
  };

export default defineModule({
  name: "user.present",
  summary: "Keeps a user of the host, with the attributes that are declared.",
  description:
    `Looks at the host's own files, \`/etc/passwd\` and its siblings, and works with \`useradd\` and \`usermod\`. What is not
declared is neither compared nor changed. \`password\` is a hash as \`mkpasswd\` makes it; it is never an argument of a
program, and never shown.`,
  params: {
    name: primary(accountName("User.")),
    uid: optional(userId("Number of the user; 0 leaves it alone.")),
    gid: optional(withName(groupRef("Primary group, by number or name."))),
    primary_group: optional(accountName("Primary group by name, used when gid is not a name.")),
    groups: optional(accountNames("Further groups; without it they are left alone.")),
    optional_groups: optional(accountNames("Groups to add beside `groups` where they exist.")),
    remove_groups: defaulted(flag("Take it out of groups that are not declared."), false),
    home: optional(withoutColon(absolutePath("Home folder."))),
    createhome: defaulted(flag("Make the home folder of a new user."), false),
    shell: optional(withoutColon(absolutePath("Login shell."))),
    fullname: optional(withoutComma(withoutColon(line("Full name.")))),
    password: optional(sensitive(withoutColon(line("Hash of the password.")))),
    system: defaulted(flag("Number a new user like a daemon's."), false),
  },
  permissions(p): Grant {
    const want = wantedOf(p);
    const isModified = planUser(want, BLANK, { gids: new Map(), member: [] }).length > 0 ||
      want.groups !== undefined;
    return {
      read: readsOf(want),
      run: [
        createProgram(want),
        ...(isModified ? [modifyProgram(want.name)] : []),
        ...(want.password === undefined ? [] : [SET_PASSWORD]),
        deleteProgram(want.name, { purge: want.createhome }),
      ],
    };
  },
  async check(p, host) {
    const want = wantedOf(p);
    const seen = await observe(host, want);
    if (seen === null) return { diff: `user ${want.name} does not exist` };
    const whys = whysOf(want, seen, planUser(want, seen, await observeGroups(host, want)));
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host): Promise<(Change & { memo: Memo }) | null> {
    const want = wantedOf(p);
    const seen = await observe(host, want);
    return seen === null ? await create(host, want) : await modify(host, want, seen);
  },
  revert: (p, memo: Memo, host) => undo(host, p.name, memo),
  examples: [
    { title: "On the command line", code: "zester '*' user.present deploy shell=/bin/bash" },
    {
      title: "With groups and a home",
      code: `deploy:
  user.present:
    - uid: 2000
    - groups: [www-data, adm]
    - home: /srv/deploy
    - createhome: true
    - shell: /bin/bash
    - fullname: Deployment`,
    },
  ],
  differences: [
    "`createhome` and `remove_groups` are off unless they are switched on.",
    "`password` must be a hash; there is no `hash_password`.",
    "A change of `home` does not move what is in the old one.",
    "Users that come from elsewhere than the files of the host, such as LDAP, are not seen.",
  ],
});

/** Differs from everything that can be declared. */
const BLANK: Seen = { uid: -1, gid: -1, gecos: "\0", home: "", shell: "", hash: null };

function userId(usage: string): Param<number> {
  return checked(integer(usage), (id) => id >= 0 ? null : "it is not negative");
}

/** The colon is what parts the fields of the file that it ends up in. */
function withoutColon(base: Param<string>): Param<string> {
  return checked(base, (value) => value.includes(":") ? "a colon is refused" : null);
}

function withoutComma(base: Param<string>): Param<string> {
  return checked(base, (value) => value.includes(",") ? "a comma is refused" : null);
}

function withName(base: Param<GroupRef>): Param<GroupRef> {
  return checked(
    base,
    (ref) => "gid" in ref || /^[A-Za-z_]/.test(ref.group) ? null : "it is no name of a group",
  );
}

interface Params extends Omit<Wanted, "uid" | "gid"> {
  readonly uid?: number | undefined;
  readonly gid?: GroupRef | undefined;
}

function wantedOf(p: Params): Wanted {
  return { ...p, uid: p.uid === 0 ? undefined : p.uid };
}

function whysOf(want: Wanted, seen: Seen, differences: readonly Difference[]): string[] {
  return [
    ...differences.map(({ why }) => why),
    ...(isOtherPassword(want, seen) ? ["password hash differs from declared"] : []),
  ];
}

async function create(host: Host, want: Wanted): Promise<(Change & { memo: Memo }) | null> {
  const answer = await host.run(createProgram(want));
  if (answer.code !== 0) {
    // Another state may have made it meanwhile.
    const seen = await observe(host, want);
    if (seen !== null) return await modify(host, want, seen);
    throw new Error(`useradd: ${failureOf(answer)}`);
  }
  const memo: Memo = { did: "created", withHome: want.createhome };
  const details = { user: want.name, action: "created" };
  try {
    const groups = groupsOf(want, await observeGroups(host, want)) ?? [];
    if (groups.length > 0) {
      await perform(host, modifyProgram(want.name, ["--groups", groups.join(",")]));
    }
    if (want.password !== undefined) await setPassword(host, want.name, want.password);
  } catch (thrown) {
    throw new StateFailure((thrown as Error).message, { details, changed: true, memo });
  }
  return { diff: `created user ${want.name}`, details, memo };
}

async function modify(
  host: Host,
  want: Wanted,
  seen: Seen,
): Promise<(Change & { memo: Memo }) | null> {
  const differences = planUser(want, seen, await observeGroups(host, want));
  const isPassword = isOtherPassword(want, seen);
  const whys = whysOf(want, seen, differences);
  if (whys.length === 0) return null;
  const missing = whys.find((why) => why.endsWith("does not exist"));
  if (missing !== undefined) throw new Error(missing);
  const details = { user: want.name, action: "modified" };
  const memo = { did: "modified" as const, undo: differences.flatMap(({ undo }) => undo) };
  if (differences.length > 0) {
    await perform(host, modifyProgram(want.name, differences.flatMap(({ mend }) => mend)));
  }
  if (!isPassword) return { diff: said(want.name, whys), details, memo };
  try {
    await setPassword(host, want.name, want.password!);
  } catch (thrown) {
    const changed = differences.length > 0;
    throw new StateFailure((thrown as Error).message, { details, changed, memo });
  }
  return { diff: said(want.name, whys), details, memo: { ...memo, hash: seen.hash } };
}

function said(name: string, whys: readonly string[]): string {
  return `modified user ${name}: ${whys.join("; ")}`;
}

async function undo(host: Host, name: string, memo: Memo): Promise<Change | null> {
  if (memo.did === "created") {
    await perform(host, deleteProgram(name, { purge: memo.withHome }));
    return { diff: `removed user ${name} (revert create)` };
  }
  if (memo.undo.length > 0) await perform(host, modifyProgram(name, memo.undo));
  const { hash } = memo;
  const diff = `reverted user ${name}`;
  if (hash === undefined) return { diff };
  // An empty hash would let everybody in.
  if (hash === null || hash === "") return { diff: `${diff}; its old password is not known` };
  await setPassword(host, name, hash);
  return { diff };
}

async function setPassword(host: Host, name: string, hash: string): Promise<void> {
  const { code } = await host.run(SET_PASSWORD, { stdin: `${name}:${hash}\n` });
  // What it says may hold the line that it was given.
  if (code !== 0) throw new Error(`chpasswd: exit status ${code}`);
}
