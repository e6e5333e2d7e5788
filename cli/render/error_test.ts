import assert from "node:assert/strict";
import { ERRORS, ZesterError } from "../../core/errors.ts";
import { errorJson, renderError } from "./error.ts";
import { EXIT_CODES } from "./exit_code.ts";
import { PLAIN } from "./style.ts";

const refused = new ZesterError("unreachable", "nobody answers at nats://127.0.0.1:4222", {
  cause: new Error("connect: refused"),
  fix: "start a fleet: deno task up\nor choose another: zester context list",
});

const samples: [name: string, error: ZesterError, want: string][] = [
  [
    "the problem, what is known, and what to do",
    new ZesterError("nobody_matches", "nobody matches  G@os:ubunut\nG@os:ubunut   0 peels", {
      fix: "G@os:ubuntu",
    }),
    "error ZE0405: nobody matches  G@os:ubunut\n  = G@os:ubunut   0 peels\n  fix      G@os:ubuntu\n",
  ],
  [
    "several fixes below each other",
    refused,
    "error ZE0801: nobody answers at nats://127.0.0.1:4222\n" +
    "  fix      start a fleet: deno task up\n" +
    "           or choose another: zester context list\n",
  ],
  [
    "nothing that could move the cursor",
    new ZesterError("internal", "bad \u001b[2Jname"),
    "error ZE0001: bad \\u001b[2Jname\n",
  ],
];
for (const [name, error, want] of samples) {
  Deno.test(`renderError() shows ${name}`, () => {
    assert.equal(renderError(error, { style: PLAIN }), want);
  });
}

Deno.test("renderError() shows the causes when asked for more", () => {
  const shown = renderError(refused, { style: PLAIN, verbose: true });
  assert.equal(shown.split("\n")[1], "  = cause  Error: connect: refused");
});

Deno.test("renderError() colours the code only where colours are allowed", () => {
  const error = new ZesterError("internal", "x");
  const shown = renderError(error, { style: { color: true, unicode: true } });
  assert.equal(shown, "\u001b[31merror ZE0001:\u001b[0m x\n");
});

Deno.test("errorJson() has the stable number and a list of fixes", () => {
  assert.deepEqual(errorJson(refused), {
    code: "ZE0801",
    name: "unreachable",
    message: "nobody answers at nats://127.0.0.1:4222",
    fix: ["start a fleet: deno task up", "or choose another: zester context list"],
  });
});

Deno.test("EXIT_CODES explains every exit code that an error can lead to", () => {
  for (const [code, { exit }] of Object.entries(ERRORS)) {
    assert.ok(Object.hasOwn(EXIT_CODES, exit), `${code} exits ${exit}`);
  }
});
