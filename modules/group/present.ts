/** `group.present`: keeps a group of the host, with its number and members if they are declared. */
import {
  accountName,
  accountNames,
  type Change,
  checked,
  defaulted,
  defineModule,
  failureOf,
  findGroup,
  flag,
  type Grant,
  type Group,
  GROUP_PATH,
  type Host,
  integer,
  optional,
  perform,
  primary,
  type Program,
  StateFailure,
} from "../../core/module.ts";
import { memberDrift, type Members, membersOf } from "./_members.ts";

/** What to undo. */
type Memo =
  | { readonly did: "created" }
  | {
    readonly did: "modified";
    readonly gid?: number;
    readonly members?: readonly string[];
  };

export default defineModule({
  name: "group.present",
  summary: "Keeps a group of the host, with its number and members if they are declared.",
  params: {
    name: primary(accountName("Group.")),
    gid: optional(
      checked(
        integer("Number of the group; 0 leaves it alone."),
        (gid) => gid >= 0 ? null : "it is not negative",
      ),
    ),
    system: defaulted(flag("Number a new group like a daemon's."), false),
    members: optional(accountNames("Exactly these users are in it.")),
    addusers: optional(accountNames("These users are in it.")),
    delusers: optional(accountNames("These users are not in it.")),
  },
  permissions(p): Grant {
    return {
      read: [GROUP_PATH],
      run: [
        createProgram(p),
        ...(gidOf(p) === undefined ? [] : [gidProgram(p.name)]),
        ...(asksMembers(p) ? [membersProgram(p.name)] : []),
        deleteProgram(p.name),
      ],
    };
  },
  async check(p, host) {
    const seen = await find(host, p.name);
    if (seen === null) return { diff: `group ${p.name} does not exist` };
    const whys = driftOf(p, seen);
    return whys.length === 0 ? null : { diff: whys.join("; ") };
  },
  async apply(p, host): Promise<(Change & { memo: Memo }) | null> {
    const seen = await find(host, p.name);
    return seen === null ? await create(host, p) : await modify(host, p, seen);
  },
  async revert(p, memo: Memo, host) {
    if (memo.did === "created") {
      await perform(host, deleteProgram(p.name));
      return { diff: `removed group ${p.name} (revert create)` };
    }
    if (memo.members !== undefined) await perform(host, membersProgram(p.name, memo.members));
    if (memo.gid !== undefined) await perform(host, gidProgram(p.name, memo.gid));
    return { diff: `reverted group ${p.name}` };
  },
  examples: [
    { title: "On the command line", code: "zester '*' group.present deploy gid=2000" },
    {
      title: "With exactly these members",
      code: `deploy:
  group.present:
    - members: [alice, bob]`,
    },
  ],
  differences: ["`members` may be joined with `addusers` and `delusers`."],
});

interface Params extends Members {
  readonly name: string;
  readonly gid?: number | undefined;
  readonly system: boolean;
}

function gidOf({ gid }: Params): number | undefined {
  return gid === 0 ? undefined : gid;
}

function asksMembers({ members, addusers, delusers }: Members): boolean {
  return members !== undefined || addusers !== undefined || delusers !== undefined;
}

// ---- programs: the name comes first where it can, so that a grant of the beginning is for this group alone ----

function createProgram(p: Params): Program {
  const gid = gidOf(p);
  return [
    "groupadd",
    ...(gid === undefined ? [] : ["--gid", String(gid)]),
    ...(p.system ? ["--system"] : []),
    "--",
    p.name,
  ];
}

function gidProgram(name: string, gid?: number): Program {
  return ["groupmod", name, "--gid", ...(gid === undefined ? [] : [String(gid)])];
}

function membersProgram(name: string, members?: readonly string[]): Program {
  return ["gpasswd", name, "--members", ...(members === undefined ? [] : [members.join(",")])];
}

function deleteProgram(name: string): Program {
  return ["groupdel", "--", name];
}

// ---- work ----------------------------------------------------------------------------------------------------

/** By name only: a number could be another group's. */
async function find(host: Host, name: string): Promise<Group | null> {
  const found = await findGroup(host, name);
  return found?.name === name ? found : null;
}

function driftOf(p: Params, seen: Group): string[] {
  const gid = gidOf(p);
  return [
    ...(gid === undefined || gid === seen.gid ? [] : [`gid ${seen.gid} != ${gid}`]),
    ...(asksMembers(p) ? memberDrift(p, seen.members) : []),
  ];
}

async function create(host: Host, p: Params): Promise<(Change & { memo: Memo }) | null> {
  const answer = await host.run(createProgram(p));
  if (answer.code !== 0) {
    // Another state may have made it meanwhile.
    const seen = await find(host, p.name);
    if (seen !== null) return await modify(host, p, seen);
    throw new Error(`groupadd: ${failureOf(answer)}`);
  }
  const details = { group: p.name, action: "created" };
  const memo: Memo = { did: "created" };
  const members = membersOf(p, []);
  try {
    if (members.length > 0) await perform(host, membersProgram(p.name, members));
  } catch (thrown) {
    throw new StateFailure((thrown as Error).message, { details, changed: true, memo });
  }
  return { diff: `created group ${p.name}`, details, memo };
}

async function modify(
  host: Host,
  p: Params,
  seen: Group,
): Promise<(Change & { memo: Memo }) | null> {
  const whys = driftOf(p, seen);
  if (whys.length === 0) return null;
  const gid = gidOf(p);
  const isOtherGid = gid !== undefined && gid !== seen.gid;
  const isOtherMembers = asksMembers(p) && memberDrift(p, seen.members).length > 0;
  const memo: Memo = {
    did: "modified",
    ...(isOtherGid ? { gid: seen.gid } : {}),
    ...(isOtherMembers ? { members: seen.members } : {}),
  };
  const details = { group: p.name, action: "modified" };
  if (isOtherGid) await perform(host, gidProgram(p.name, gid));
  try {
    if (isOtherMembers) {
      await perform(host, membersProgram(p.name, membersOf(p, seen.members)));
    }
  } catch (thrown) {
    const undo: Memo = { did: "modified", ...(isOtherGid ? { gid: seen.gid } : {}) };
    throw new StateFailure((thrown as Error).message, { details, changed: isOtherGid, memo: undo });
  }
  return { diff: `modified group ${p.name}: ${whys.join("; ")}`, details, memo };
}
