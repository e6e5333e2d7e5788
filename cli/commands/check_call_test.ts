import assert from "node:assert/strict";
import { isZesterError } from "../../core/errors.ts";
import { type Called, checkKnownCall } from "./check_call.ts";

const call = (name: string, id: string | null, args: Called["args"] = {}): Called => ({
  function: name,
  id,
  args,
});

const refused: [called: Called, message: string, fix: string][] = [
  [call("pkg.installed", null), "pkg.installed requires a name argument", "name: "],
  [
    call("file.managed", "/etc/motd", { sosurce: "x" }),
    "file.managed has no parameter `sosurce`",
    "did you mean `source`?\nit takes: name,",
  ],
  [
    call("cmd.run", null, { LANG: "C date" }),
    "cmd.run has no parameter `LANG`",
    "if it is the command, write command='LANG=C date'\nit takes: command,",
  ],
  [
    call("facts.set", "role", { _: ["web", "now"] }),
    'facts.set cannot take the word "now"',
    "it takes bare words for key, value only;",
  ],
  [call("test.ping", "x", { _: ["y"] }), 'test.ping cannot take the word "y"', "it takes no bare"],
  [call("facts.set", "role"), "facts.set requires a value argument", "value: "],
  [call("file.copy", "/a"), "file.copy requires a source argument", "source: "],
  [call("event.send", null, { any: "thing" }), "event.send requires a tag argument", "tag: "],
];
for (const [called, message, fix] of refused) {
  Deno.test(`checkKnownCall() says: ${message}`, async () => {
    await assert.rejects(checkKnownCall(called), (error) => {
      assert.ok(isZesterError(error, "bad_params"));
      assert.equal(error.message, message);
      assert.ok(error.fix?.startsWith(fix), error.fix);
      assert.ok(error.fix?.endsWith(`\nzester doc ${called.function}`), error.fix);
      return true;
    });
  });
}

const passed: [name: string, called: Called][] = [
  ["the id for the primary", call("pkg.installed", "nginx")],
  ["the primary by its name", call("pkg.installed", null, { name: "nginx" })],
  ["the primary by an alias", call("cmd.run", null, { cmd: "date" })],
  ["what belongs to every state", call("file.absent", "/a", { test: true, unless: "false" })],
  ["words for named places", call("file.replace", "/a", { _: ["x", "y"] })],
  ["any parameter where a function is open", call("sys.grants", "x.y", { _: ["a"], b: "c" })],
  ["a function that is not shipped", call("site.check", null, { what: "ever", _: ["a", "b"] })],
];
for (const [name, called] of passed) {
  Deno.test(`checkKnownCall() lets pass ${name}`, () => checkKnownCall(called));
}
