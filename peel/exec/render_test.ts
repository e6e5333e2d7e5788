import assert from "node:assert/strict";
import { systemClock as clock } from "../../core/adapters/system_clock.ts";
import { renderInWorker } from "./render.ts";

const { signal } = new AbortController();

Deno.test("renderInWorker() renders with the values that it is given", async () => {
  const text = await renderInWorker({
    source: "{{ a }} on {{ facts.os }}",
    values: { a: 1, facts: { os: "x" } },
  }, { clock, signal });
  assert.equal(text, "1 on x");
});

Deno.test("renderInWorker() says what is wrong with a template", async () => {
  await assert.rejects(renderInWorker({ source: "{% if %}", values: {} }, { clock, signal }), {
    code: "template_failed",
  });
});

Deno.test("renderInWorker() ends when it is told to", async () => {
  const ending = new AbortController();
  const rendering = renderInWorker({ source: "a", values: {} }, { clock, signal: ending.signal });
  ending.abort();
  await assert.rejects(rendering, /ended from outside/);
});
