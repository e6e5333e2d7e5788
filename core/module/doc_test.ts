import assert from "node:assert/strict";
import {
  defaulted,
  defineModule,
  flag,
  line,
  optional,
  primary,
  sensitive,
  text,
} from "../module.ts";
import { docText, documentModule, schemaOf } from "./doc.ts";

const module = defineModule({
  name: "x.y",
  summary: "Does it.",
  params: {
    name: primary(line("What."), "it"),
    quick: defaulted(flag("Whether."), false),
    key: optional(sensitive(text("Secret."))),
  },
  permissions: () => ({}),
  check: () => null,
  apply: () => null,
  whyNoRevert: "it is done",
  examples: [{ title: "So", code: "zester '*' x.y a" }],
});

Deno.test("documentModule() tells all that the spec tells", () => {
  const { params, primary, revert } = documentModule(module);
  assert.deepEqual(params.map(({ name, absent }) => [name, absent]), [
    ["name", "the id"],
    ["quick", "default false"],
    ["key", ""],
  ]);
  assert.deepEqual([primary, revert], ["name", "it is done"]);
});

Deno.test("docText() reads well", () => {
  assert.equal(
    docText(documentModule(module)),
    `x.y: Does it.

Parameters
  name (text; the id; also it)
      What.
  quick (flag; default false)
      Whether.
  key (text; never shown)
      Secret.

Undo: it is done

So
  zester '*' x.y a`,
  );
});

Deno.test("schemaOf() marks secrets and closes the list", () => {
  const schema = schemaOf(module) as {
    properties: Record<string, { writeOnly?: boolean }>;
    additionalProperties: boolean;
  };
  assert.equal(schema.properties["key"]?.writeOnly, true);
  assert.equal(schema.additionalProperties, false);
});
