/** `test.echo`: returns its text from inside a worker, so it also proves that workers can be made. */
import { defaulted, defineFunction, primary, text } from "../../core/module.ts";

export default defineFunction({
  name: "test.echo",
  summary: "Returns the text that it is given, from inside a worker without permissions.",
  params: { text: defaulted(primary(text("What to return.")), "") },
  isReadOnly: true,
  run: ({ text }) => text,
});
