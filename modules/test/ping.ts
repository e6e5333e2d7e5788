/** `test.ping`: the smallest proof that a peel hears, verifies, runs and answers. */
import { defineModule } from "../../core/module.ts";

export default defineModule({
  name: "test.ping",
  summary: "Answers true: the peel hears its master, trusts it and can answer.",
  params: {},
  readOnly: true,
  inline: true,
  run: () => true,
});
