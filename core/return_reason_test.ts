import assert from "node:assert/strict";
import { reasonOf, reasonText, RETURN_REASONS, type ReturnReason } from "./return_reason.ts";

Deno.test("reasonOf() reads what reasonText() wrote, and finds none in an ordinary failure", () => {
  for (const reason of Object.keys(RETURN_REASONS) as ReturnReason[]) {
    assert.equal(reasonOf(reasonText(reason, "x")), reason);
  }
  for (const error of [undefined, "", "canceled", "no function", "the peel was interrupted: x"]) {
    assert.equal(reasonOf(error), null, error);
  }
});

Deno.test("reasonText() says what the seeds say about a full queue", () => {
  assert.equal(reasonText("busy", "execution queue full"), "peel busy: execution queue full");
});
