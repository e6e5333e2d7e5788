/** `test.echo`: returns its text from inside a worker, so it also proves that workers can be made. */
import { defineModule } from "../../core/module.ts";

export default defineModule({
  name: "test.echo",
  summary: "Returns the text that it is given, from inside a worker without permissions.",
  params: { text: "What to return." },
  readOnly: true,
  inline: false,
  run: ({ text }) => String(text ?? ""),
});
