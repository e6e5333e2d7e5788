import assert from "node:assert/strict";
import fc from "fast-check";
import { isZesterError } from "./errors.ts";
import { SUBJECT_LENGTH_MAX, SUBJECT_TOKEN_LENGTH_MAX } from "./limits.ts";
import {
  inboxPrefix,
  isInboxOf,
  QUEUES,
  type Role,
  type Subject,
  subject,
  subjects,
  subjectsFor,
  subjectToken,
} from "./subjects.ts";

const TABLE = Object.entries(subjects) as [string, Subject][];
const JID = "0ujtsYcgvSTl8PAuAdqWYSMnLOv";

/** A valid value for every placeholder. */
const EXAMPLES: Record<string, string | string[]> = {
  peel: "web-01",
  operator: "alice",
  master: "m1",
  node: "web-01",
  jid: JID,
  verb: "approve",
  topic: "files",
  query: "jobs",
  function: "network-address",
  tag: ["maintenance", "start"],
  name: ["service", "nginx"],
};

function placeholders(each: Subject): string[] {
  return [...each.pattern.matchAll(/\{([a-z]+)\+?\}/g)].map((match) => match[1]!);
}

function exampleFields(each: Subject): Record<string, string | string[]> {
  return Object.fromEntries(placeholders(each).map((name) => [name, EXAMPLES[name]!]));
}

/** `of` with fields that the compiler cannot check. */
function build(each: Subject, fields: Record<string, unknown>): string {
  return each.of(fields as Parameters<Subject["of"]>[0]);
}

function example(each: Subject): string {
  return build(each, exampleFields(each));
}

/** Whether a subject falls under a pattern with NATS wildcards. */
function matches(pattern: string, text: string): boolean {
  const wanted = pattern.split(".");
  const tokens = text.split(".");
  for (const [index, token] of wanted.entries()) {
    if (token === ">") return tokens.length > index;
    if (token !== "*" && token !== tokens[index]) return false;
    if (tokens[index] === undefined) return false;
  }
  return wanted.length === tokens.length;
}

/** Texts that would change what a subject means, or who it speaks for. */
const HOSTILE_TOKENS = [
  "",
  ".",
  "a.b",
  "*",
  ">",
  "a*",
  "a>",
  " ",
  "a b",
  "a\tb",
  "a\r\nPUB zester.cmd.victim 0\r\n",
  "\r\n",
  "a\n",
  "\0",
  "a\x7f",
  "a\u0085",
  "a\u2028b",
  "_master",
  "_admin",
  "-a",
  "é",
  "a/b",
  "$JS",
  "{peel}",
  "a".repeat(SUBJECT_TOKEN_LENGTH_MAX + 1),
];

for (const [name, each] of TABLE) {
  Deno.test(`subjects.${name}.parse() undoes of()`, () => {
    assert.deepEqual({ ...each.parse(example(each)) }, exampleFields(each));
  });

  Deno.test(`subjects.${name}.parse() refuses every other shape`, () => {
    const text = example(each);
    const others = [
      "",
      "zester",
      `${text}.`,
      `.${text}`,
      `x.${text}`,
      `${text} `,
      `${text}\r\n`,
      text.replace("zester.", "zester.."),
      text.toUpperCase(),
      text.split(".").slice(0, -2).join("."),
      each.pattern,
      each.filter(),
    ];
    if (!each.pattern.includes("+}")) others.push(`${text}.x`);
    for (const other of others) assert.equal(each.parse(other), null, JSON.stringify(other));
  });

  Deno.test(`subjects.${name} refuses hostile tokens in every place`, () => {
    for (const field of placeholders(each)) {
      for (const token of HOSTILE_TOKENS) refuses(each, field, token);
    }
  });

  Deno.test(`subjects.${name}.filter() covers of(), with and without its fields`, () => {
    const text = example(each);
    assert(matches(each.filter(), text));
    const single = Object.entries(exampleFields(each)).filter(([, value]) => !Array.isArray(value));
    const fixed = each.filter(Object.fromEntries(single) as Record<string, string>);
    assert(matches(fixed, text));
    if (!each.pattern.includes("+}")) assert.equal(fixed, text);
  });

  Deno.test(`subjects.${name} says who publishes, who subscribes, what and how it is signed`, () => {
    assert(each.pub.length > 0 && each.sub.length > 0);
    assert(each.payload !== "" && each.note !== "");
    assert.match(each.domain ?? "", /^zester\/[a-z]+\/v1$/);
    if (each.queue !== undefined) {
      assert.equal(each.kind, "request");
      assert((Object.values(QUEUES) as string[]).includes(each.queue));
    }
  });
}

/** Tags and names may begin with `_` or `-`: they say nothing about who speaks. */
function refuses(each: Subject, field: string, token: string): void {
  const isOpen = each.pattern.includes(`{${field}+}`);
  if ((isOpen || field === "function") && /^[a-zA-Z0-9_-]+$/.test(token) && token.length < 128) {
    return;
  }
  const fields = { ...exampleFields(each), [field]: isOpen ? ["a", token] : token };
  assert.throws(
    () => build(each, fields),
    (error) => isZesterError(error, "bad_subject"),
    JSON.stringify(token),
  );
  const spelled = each.pattern.replaceAll(/\{([a-z]+)\+?\}/g, (_, name: string) => {
    const value = fields[name] ?? "";
    return Array.isArray(value) ? value.join(".") : value;
  });
  const parsed = each.parse(spelled);
  // Where any number of tokens may follow, a dot ends one token and begins the next: no harm, they are all checked.
  if (isOpen && token === "a.b") assert.deepEqual({ ...parsed }[field], ["a", "a", "b"]);
  else assert.equal(parsed, null, JSON.stringify(spelled));
}

Deno.test("subject parsers take nothing from 10,000 random tokens that of() would refuse", () => {
  const unit = fc.constantFrom(
    "a",
    "Z",
    "9",
    "-",
    "_",
    ".",
    "*",
    ">",
    " ",
    "\r",
    "\n",
    "\t",
    "\0",
    "é",
  );
  const token = fc.oneof(
    fc.string({ unit, maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 140 }),
  );
  fc.assert(
    fc.property(token, (text) => {
      const parsed = subjects.ack.parse(`zester.job.${JID}.ack.${text}`);
      const built = buildsAck(text);
      assert.equal(parsed !== null, built, JSON.stringify(text));
      if (parsed !== null) assert.match(text, /^[a-zA-Z0-9][a-zA-Z0-9_-]{0,127}$/);
    }),
    { numRuns: 10_000 },
  );
});

function buildsAck(peel: string): boolean {
  try {
    return subjects.ack.of({ jid: JID, peel }).split(".").length === 5;
  } catch (error) {
    assert(isZesterError(error, "bad_subject"), `${error}`);
    return false;
  }
}

Deno.test("no two subjects take the same text", () => {
  for (const [name, each] of TABLE) {
    const takers = TABLE.filter(([, other]) => other.parse(example(each)) !== null);
    assert.deepEqual(takers.map(([taker]) => taker), [name]);
  }
});

Deno.test("of() refuses a list where one token belongs, which would shift the tokens after it", () => {
  for (const peel of [["a", "send"], []]) {
    assert.throws(
      () => build(subjects.eventSend, { peel, tag: ["x"] }),
      (error) => isZesterError(error, "bad_subject"),
    );
  }
  assert.throws(
    () => subjects.eventSend.of({ peel: "a", tag: [] }),
    (error) => isZesterError(error, "bad_subject"),
  );
  assert.throws(
    () => build(subjects.ack, { jid: JID }),
    (error) => isZesterError(error, "bad_subject"),
  );
});

Deno.test("of() and parse() refuse a subject that the server would hang up on", () => {
  const tokens = (length: number) => Array.from({ length }, () => "a");
  const base = subjects.eventSend.of({ peel: "p", tag: ["a"] }).length;
  const most = 1 + (SUBJECT_LENGTH_MAX - base) / 2;
  const longest = subjects.eventSend.of({ peel: "p", tag: tokens(Math.floor(most)) });
  assert(longest.length >= SUBJECT_LENGTH_MAX - 1);
  assert.notEqual(subjects.eventSend.parse(longest), null);
  assert.equal(subjects.eventSend.parse(`${longest}.a`), null);
  assert.throws(
    () => subjects.eventSend.of({ peel: "p", tag: tokens(5_000) }),
    (error) => isZesterError(error, "bad_subject"),
  );
});

Deno.test("filter() refuses a wildcard as a fixed value", () => {
  for (const peel of ["*", ">", "a.>", ""]) {
    assert.throws(
      () => subjects.command.filter({ peel }),
      (error) => isZesterError(error, "bad_subject"),
    );
  }
});

Deno.test("subject() refuses a placeholder that has no rule", () => {
  const rule = { pub: [], sub: [], kind: "core", payload: "x", note: "x" } as const;
  assert.throws(() => subject("zester.x.{unknown}", rule), /unknown placeholder/);
});

Deno.test("subjectToken() refuses what could change a subject", () => {
  const harmless = new Set(["_master", "_admin", "-a", "é", "a/b", "$JS", "{peel}"]);
  for (const token of HOSTILE_TOKENS) {
    if (harmless.has(token)) assert.equal(subjectToken(token, "test"), token);
    else {assert.throws(() =>
        subjectToken(token, "test"), (error) =>
        isZesterError(error, "bad_subject"));}
  }
});

/** What a peel may use that does not carry its own name: it can learn from these, not speak for another. */
const SHARED_WITH_PEELS = ["zester.job.*.cancel", "zester.notice.*"];

Deno.test("subjectsFor() lets a peel publish only under its own name", () => {
  const granted = subjectsFor("peel", "pub", "web-01");
  assert(granted.length >= 9);
  for (const text of granted) assert(text.split(".").includes("web-01"), text);
});

Deno.test("subjectsFor() lets a peel hear only itself and what all peels share", () => {
  const granted = subjectsFor("peel", "sub", "web-01");
  const shared = granted.filter((text) => !text.split(".").includes("web-01"));
  assert.deepEqual(shared, SHARED_WITH_PEELS);
  assert(granted.includes("zester.cmd.web-01"));
});

Deno.test("subjectsFor() gives one peel nothing that speaks for or commands another", () => {
  const own = subjectsFor("peel", "pub", "web-01");
  const foreign = TABLE.filter(([, each]) => !each.pattern.includes("{node}")).map(([, each]) =>
    build(each, { ...exampleFields(each), peel: "web-02", operator: "bob" })
  );
  for (const text of foreign) assert(!own.some((pattern) => matches(pattern, text)), text);
  const heard = subjectsFor("peel", "sub", "web-01");
  assert(!heard.some((pattern) => matches(pattern, "zester.cmd.web-02")));
  assert(!heard.some((pattern) => matches(pattern, `zester.job.${JID}.return.web-02`)));
});

Deno.test("subjectsFor() names the operator in all but the event that signatures tell apart", () => {
  const unnamed = subjectsFor("operator", "pub", "alice").filter((text) => !text.includes("alice"));
  assert.deepEqual(unnamed, ["zester.event._admin.send.>"]);
  assert.deepEqual(subjectsFor("operator", "sub", "alice"), []);
});

Deno.test("subjectsFor() refuses an identity that is not one token", () => {
  for (const identity of ["*", ">", "a.b", "", "_master", "a\r\n"]) {
    assert.throws(
      () => subjectsFor("peel", "pub", identity),
      (error) => isZesterError(error, "bad_subject"),
    );
  }
});

Deno.test("subjectsFor() covers every subject that a role publishes or hears", () => {
  for (const [, each] of TABLE) {
    const text = build(each, { ...exampleFields(each), operator: "web-01" });
    for (const direction of ["pub", "sub"] as const) {
      for (const role of ["master", "peel", "operator", "direct", "bootstrap"] as Role[]) {
        const granted = subjectsFor(role, direction, "web-01");
        const isGranted = granted.some((pattern) => matches(pattern, text));
        if (each[direction].includes(role)) assert(isGranted, `${role} ${direction} ${text}`);
        else if (role !== "master") assert(!isGranted, `${role} ${direction} ${text}`);
      }
    }
  }
});

const replies: [reply: string | undefined, own: boolean][] = [
  ["_INBOX.peel.web-01.x", true],
  ["_INBOX.peel.web-01.x.1", true],
  [undefined, false],
  ["", false],
  ["_INBOX.peel.web-01", false],
  ["_INBOX.peel.web-01.", false],
  ["_INBOX.peel.web-01.x.", false],
  ["_INBOX.peel.web-01..x", false],
  ["_INBOX.peel.web-010.x", false],
  ["_INBOX.peel.web-02.x", false],
  ["_INBOX.operator.web-01.x", false],
  ["_INBOX.peel.web-01.*", false],
  ["_INBOX.peel.web-01.>", false],
  ["_INBOX.peel.web-01.a b", false],
  ["_INBOX.peel.web-01.a\r\n", false],
  ["_INBOX.peel.web-01.a\0", false],
  ["_inbox.peel.web-01.x", false],
  ["zester.cmd.victim", false],
  ["$JS.API.STREAM.DELETE.events", false],
  [`_INBOX.peel.web-01.${"a".repeat(SUBJECT_TOKEN_LENGTH_MAX + 1)}`, false],
  [`_INBOX.peel.web-01${".a".repeat(SUBJECT_LENGTH_MAX)}`, false],
];

for (const [reply, own] of replies) {
  Deno.test(`isInboxOf() ${own ? "takes" : "refuses"} ${JSON.stringify(reply?.slice(0, 50))}`, () => {
    assert.equal(isInboxOf(reply, "peel", "web-01"), own);
  });
}

Deno.test("inboxPrefix() refuses an identity that would reach into other inboxes", () => {
  for (const identity of ["*", ">", "", "a.b"]) {
    assert.throws(
      () => inboxPrefix("peel", identity),
      (error) => isZesterError(error, "bad_subject"),
    );
  }
});
