import assert from "node:assert/strict";
import { isZesterError } from "../core/errors.ts";
import { type Invocation, readInvocation } from "./grammar.ts";

const command = (...inputs: string[]): Invocation => ({ kind: "command", inputs });
const help = (...words: string[]): Invocation => ({ kind: "help", words });

const rows: [line: string, want: Invocation][] = [
  ["* test.ping", command("run", "*", "test.ping")],
  ["-o json * test.ping", command("run", "-o", "json", "*", "test.ping")],
  ["* test.ping -o json", command("run", "*", "test.ping", "-o", "json")],
  ["--context lab * test.ping", command("run", "--context", "lab", "*", "test.ping")],
  ["web-1 state.apply web test=true", command("run", "web-1", "state.apply", "web", "test=true")],
  ["* test.echo -- --help", command("run", "*", "test.echo", "--", "--help")],
  ["run context test.ping", command("run", "context", "test.ping")],
  ["-o json context list", command("context", "list", "-o", "json")],
  ["context --origin show", command("context", "show", "--origin")],
  ["version", { kind: "version" }],
  ["--version", { kind: "version" }],
  ["version -o json", command("version", "-o", "json")],
  ["", help()],
  ["--help", help()],
  ["-h", help()],
  ["help exit-codes", help("exit-codes")],
  ["context --help", help("context")],
  ["* test.ping --help", command("doc", "test.ping")],
  ["* --help", help()],
  ["doc file.managed", command("doc", "file.managed")],
];
for (const [line, want] of rows) {
  Deno.test(`readInvocation() of "zester ${line}"`, () => {
    assert.deepEqual(readInvocation(line === "" ? [] : line.split(" ")), want);
  });
}

const refused: [line: string, message: string, fix: string][] = [
  ["contxt list", "no such command: contxt", "did you mean `zester context`?"],
  ["versoin", "no such command: versoin", "did you mean `zester version`?"],
  ["*", 'nothing to run on "*"', "say what to run: zester '*' test.ping"],
  [
    "web-1 ping",
    '"ping" is not a function: it must look like module.function',
    "say what to run: zester 'web-1' test.ping",
  ],
  ["context", "context needs a verb", "one of: show, list"],
  ["context lst", 'context has no verb "lst"', "did you mean `zester context list`?"],
  ["-o json", "flags alone do nothing", "zester '*' test.ping, or zester --help"],
];
for (const [line, message, fix] of refused) {
  Deno.test(`readInvocation() refuses "zester ${line}"`, () => {
    assert.throws(() => readInvocation(line.split(" ")), (error) => {
      assert.ok(isZesterError(error, "usage"));
      assert.deepEqual([error.message, error.fix], [message, fix]);
      return true;
    });
  });
}
