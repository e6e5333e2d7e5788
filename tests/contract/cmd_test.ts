/** What `cmd.run` promises, on this machine in a real worker. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { openModuleLab } from "../fakes/module_lab.ts";

async function inLab<T>(
  work: (lab: ReturnType<typeof openModuleLab>, folder: string) => Promise<T>,
): Promise<T> {
  const lab = openModuleLab();
  const folder = await Deno.makeTempDir({ prefix: "zester-cmd-" });
  try {
    return await work(lab, folder);
  } finally {
    lab.close();
    await Deno.remove(folder, { recursive: true });
  }
}

type Failure = Error & { details: Record<string, string>; changed: boolean };

const isRoot = Deno.uid() === 0;

const rows: [
  name: string,
  command: string,
  args: Record<string, unknown>,
  want: Record<string, string>,
][] = [
  ["gives both outputs and the status", "echo out; echo err >&2", {}, {
    stdout: "out",
    stderr: "err",
    exitcode: "0",
  }],
  ["has a small environment", "env | cut -d= -f1 | sort | tr '\\n' ' '", {}, {}],
  ["adds variables", "echo $A-$B", { env: { A: "1" }, secret_env: { B: "2" } }, { stdout: "1-2" }],
  ["feeds its input", "cat", { stdin: "some text" }, { stdout: "some text" }],
  ["runs where it is told", "pwd", { cwd: "/usr" }, { stdout: "/usr" }],
  ["has a mask", "umask", { umask: "027" }, { stdout: "0027" }],
  ["takes other codes for success", "exit 7", { success_retcodes: [0, 7] }, { exitcode: "7" }],
  ["passes arguments as they are", "printf", { args: ["%s|", "a b", "$(id)", ";"] }, {
    stdout: "a b|$(id)|;|",
  }],
];
for (const [name, command, args, want] of rows) {
  Deno.test(`cmd.run ${name}`, () =>
    inLab(async (lab) => {
      const { details } = (await lab.apply("cmd.run", { id: command, args }))!;
      for (const [key, value] of Object.entries(want)) assert.equal(details?.[key], value);
    }));
}

Deno.test("cmd.run shows none of the peel's own environment", () =>
  inLab(async (lab) => {
    Deno.env.set("ZESTER_TEST_CANARY", "leaked");
    try {
      const { details } = (await lab.apply("cmd.run", { id: "env" }))!;
      assert.doesNotMatch(details?.["stdout"] ?? "", /leaked|ZESTER_TEST_CANARY/);
    } finally {
      Deno.env.delete("ZESTER_TEST_CANARY");
    }
  }));

Deno.test("cmd.run keeps the output of a command that failed", () =>
  inLab(async (lab) => {
    await assert.rejects(lab.apply("cmd.run", { id: "echo so far; exit 3" }), (error: Failure) => {
      assert.match(error.message, /^cmd\.run: .*exit status 3$/);
      assert.deepEqual([error.details["stdout"], error.details["exitcode"], error.changed], [
        "so far",
        "3",
        true,
      ]);
      return true;
    });
  }));

Deno.test("cmd.run marks what it left out of a long output", () =>
  inLab(async (lab) => {
    const { details } = (await lab.apply("cmd.run", { id: "yes | head -c 1000000" }))!;
    assert.match(details?.["truncated"] ?? "", /^\d+ bytes of output were left out$/);
    assert.ok(details!["stdout"]!.length < 200_000);
  }));

Deno.test("cmd.run ends the command and its grandchildren when its time is up", () =>
  inLab(async (lab, folder) => {
    const alive = join(folder, "alive");
    // The grandchild touches the file again and again for as long as it lives.
    const command = `(while :; do touch ${alive}; sleep 0.1; done) & sleep 60`;
    await assert.rejects(
      lab.apply("cmd.run", { id: command, args: { timeout: 0.5 } }),
      /its time was up/,
    );
    await Deno.remove(alive).catch(() => {});
    await new Promise((resume) => setTimeout(resume, 400));
    await assert.rejects(Deno.stat(alive), Deno.errors.NotFound);
  }));

Deno.test(
  "cmd.run runs as another user with the groups of that user",
  { ignore: false },
  () =>
    inLab(async (lab) => {
      if (!isRoot) return console.log("      skipped: becoming another user needs root");
      const { details } =
        (await lab.apply("cmd.run", { id: "id -un", args: { runas: "nobody" } }))!;
      assert.equal(details?.["stdout"], "nobody");
    }),
);

Deno.test("cmd.run refuses variables that change what programs load", () =>
  inLab(async (lab) => {
    const hostile = lab.apply("cmd.run", {
      id: "true",
      args: { env: { LD_PRELOAD: "/tmp/x.so" } },
    });
    await assert.rejects(hostile, /LD_PRELOAD/);
  }));

const stateful: [line: string, changed: boolean | null][] = [
  ["changed=yes comment='did it'", true],
  ["changed=no", false],
  ['{"changed": true, "comment": "did it"}', true],
  ["nothing of the kind", null],
];
for (const [line, changed] of stateful) {
  Deno.test(`cmd.run with stateful takes ${JSON.stringify(line)} for ${changed ?? "an error"}`, () =>
    inLab(async (lab) => {
      const applied = lab.apply("cmd.run", {
        id: "cat",
        args: { stdin: `some output\n${line}\n`, stateful: true },
      });
      if (changed === null) await assert.rejects(applied, /stateful/);
      else assert.equal((await applied)?.changed, changed);
    }));
}
