/** Notice: there is a new revision of a file set or of the trust document. Peels then look for themselves. */
import { message, required, text, type TypeOf, uint64, version } from "./codec.ts";

export const noticeMessage = message("Notice", {
  v: version,
  name: required("name", text.min(1)),
  revision: required("revision", uint64),
});

export type Notice = TypeOf<typeof noticeMessage>;

export const { encode: encodeNotice, decode: decodeNotice } = noticeMessage;
