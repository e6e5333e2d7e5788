/** Entry of the worker in which templates are rendered. It has no permission at all, and nothing to call. */
import { renderTemplate } from "../../core/template/render.ts";
import type { RenderReply, RenderRequest } from "./render.ts";

const scope = self as unknown as {
  onmessage: (event: MessageEvent<RenderRequest>) => void;
  postMessage(reply: RenderReply): void;
};

scope.onmessage = ({ data: { source, values } }) => {
  try {
    scope.postMessage({ ok: true, text: renderTemplate(source, values) });
  } catch (thrown) {
    scope.postMessage({
      ok: false,
      message: thrown instanceof Error ? thrown.message : `${thrown}`,
    });
  }
};
