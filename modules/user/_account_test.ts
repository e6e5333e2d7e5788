import assert from "node:assert/strict";
import {
  createProgram,
  deleteProgram,
  type Groups,
  groupsOf,
  isOtherPassword,
  planUser,
  readsOf,
  type Seen,
  type Wanted,
} from "./_account.ts";

const BARE: Wanted = { name: "ann", remove_groups: false, createhome: false, system: false };
const ANN: Seen = {
  uid: 1000,
  gid: 1000,
  gecos: "Ann,Room 1,,",
  home: "/home/ann",
  shell: "/bin/sh",
  hash: "$6$old",
};
const GROUPS: Groups = {
  gids: new Map([["ann", 1000], ["adm", 4], ["www", 33], ["dev", 50]]),
  member: ["adm"],
};

const rows: [name: string, want: Partial<Wanted>, whys: string[], mend: string[]][] = [
  ["nothing that is not declared", {}, [], []],
  [
    "nothing that is as it should be",
    {
      uid: 1000,
      gid: { group: "ann" },
      home: "/home/ann",
      shell: "/bin/sh",
      fullname: "Ann",
      groups: ["adm"],
    },
    [],
    [],
  ],
  ["a number", { uid: 1001 }, ["uid 1000 != 1001"], ["--uid", "1001"]],
  ["a primary group by number", { gid: { gid: 4 } }, ["gid 1000 != 4"], ["--gid", "4"]],
  ["a primary group by name", { gid: { group: "adm" } }, ['primary group is not "adm"'], [
    "--gid",
    "adm",
  ]],
  ["that a name wins over a number", { gid: { gid: 1000 }, primary_group: "adm" }, [
    'primary group is not "adm"',
  ], ["--gid", "adm"]],
  ["a primary group that is not there", { primary_group: "zz" }, [
    'primary group "zz" does not exist',
  ], ["--gid", "zz"]],
  ["a home", { home: "/srv" }, ["home /home/ann != /srv"], ["--home", "/srv"]],
  ["a full name, and keeps the room", { fullname: "Anna" }, ['fullname "Ann" != "Anna"'], [
    "--comment",
    "Anna,Room 1,,",
  ]],
  ["groups to add", { groups: ["www"] }, ["groups adm != adm,www"], ["--groups", "adm,www"]],
  ["groups to leave", { groups: ["www"], remove_groups: true }, ["groups adm != www"], [
    "--groups",
    "www",
  ]],
  ["no group at all", { groups: [], remove_groups: true }, ["groups adm != none"], [
    "--groups",
    "",
  ]],
  ["optional groups where they exist", { groups: ["adm"], optional_groups: ["dev", "zz"] }, [
    "groups adm != adm,dev",
  ], ["--groups", "adm,dev"]],
  ["no optional groups without groups", { optional_groups: ["dev"] }, [], []],
];
for (const [name, want, whys, mend] of rows) {
  Deno.test(`planUser() finds ${name}`, () => {
    const plan = planUser({ ...BARE, ...want }, ANN, GROUPS);
    assert.deepEqual(plan.map(({ why }) => why), whys);
    assert.deepEqual(plan.flatMap((each) => each.mend), mend);
  });
}

Deno.test("planUser() knows the way back", () => {
  const want = { ...BARE, uid: 7, fullname: "B", groups: ["www"], shell: "/bin/false" };
  const undo = planUser(want, ANN, GROUPS).flatMap((each) => each.undo);
  assert.deepEqual(undo, [
    "--uid",
    "1000",
    "--shell",
    "/bin/sh",
    "--comment",
    "Ann,Room 1,,",
    "--groups",
    "adm",
  ]);
});

Deno.test("groupsOf() does not name the primary group twice", () =>
  assert.deepEqual(
    groupsOf({ ...BARE, gid: { group: "dev" }, groups: ["dev", "www"] }, GROUPS),
    ["adm", "www"],
  ));

Deno.test("isOtherPassword() takes a hash that cannot be told for another one", () => {
  const want = { ...BARE, password: "$6$new" };
  assert.equal(isOtherPassword(want, ANN), true);
  assert.equal(isOtherPassword(want, { ...ANN, hash: null }), true);
  assert.equal(isOtherPassword(want, { ...ANN, hash: "$6$new" }), false);
  assert.equal(isOtherPassword(BARE, ANN), false);
});

Deno.test("createProgram() says all but the password and the further groups", () => {
  const want: Wanted = {
    ...BARE,
    uid: 5,
    primary_group: "adm",
    home: "/srv",
    shell: "/bin/sh",
    fullname: "Ann B",
    createhome: true,
    system: true,
    groups: ["www"],
    password: "$6$secret",
  };
  const program = createProgram(want).join(" ");
  assert.equal(
    program,
    "useradd --uid 5 --gid adm --home-dir /srv --shell /bin/sh --comment Ann B --system --create-home -- ann",
  );
  assert.deepEqual(createProgram(BARE), ["useradd", "--no-create-home", "--", "ann"]);
});

Deno.test("deleteProgram() removes the home only when it is told to", () => {
  assert.deepEqual(deleteProgram("ann", { purge: false }), ["userdel", "--", "ann"]);
  assert.deepEqual(deleteProgram("ann", { purge: true, force: true }), [
    "userdel",
    "--remove",
    "--force",
    "--",
    "ann",
  ]);
});

Deno.test("readsOf() names the shadow file only for a password", () => {
  assert.deepEqual(readsOf(BARE), ["/etc/passwd"]);
  assert.deepEqual(readsOf({ ...BARE, groups: [], password: "x" }), [
    "/etc/passwd",
    "/etc/group",
    "/etc/shadow",
  ]);
});
