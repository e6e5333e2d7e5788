/** Reads all pages of an answer, up to as many rows as are wanted. */
import type { Query, ReplyKinds, ReplyOf } from "../../core/wire/query.ts";
import type { Fleet } from "../app.ts";
import type { Listed } from "../render/list.ts";

export type Asking = Pick<Fleet, "ask">;

/** Rows of a query, page after page. */
export async function allRows<N extends keyof ReplyKinds, T>(
  name: N,
  query: Query,
  rowsOf: (reply: ReplyOf<ReplyKinds[N]>) => readonly T[],
  fleet: Asking,
): Promise<Listed<T>> {
  const rows: T[] = [];
  const most = query.limit || Infinity;
  let after: string | undefined;
  for (;;) {
    const left = most === Infinity ? {} : { limit: most - rows.length };
    const reply = await fleet.ask(name, {
      ...query,
      ...left,
      ...(after === undefined ? {} : { after }),
    });
    rows.push(...rowsOf(reply));
    const page = reply as { next?: string; nowMs: number }; // every kind of answer has these
    after = page.next;
    if (after === undefined || rows.length >= most) return { rows, nowMs: page.nowMs };
  }
}
