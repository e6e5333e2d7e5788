/** Which keys a bucket has, asked as one question of its stream: for operators, who may make no consumer. */
import { buckets } from "../buckets.ts";
import { isZesterError, ZesterError } from "../errors.ts";
import { keyListOf } from "../grants.ts";
import { STORE_TIMEOUT_MS } from "../limits.ts";
import type { Bus, Message } from "../ports.ts";
import { bucketSubject } from "../stream_config.ts";
import { type ApiError, fromApi } from "./failures.ts";

interface Page {
  readonly error?: ApiError;
  readonly state?: { readonly subjects?: Readonly<Record<string, number>> };
  /** Absent on servers that have no more than what they answered. */
  readonly total?: number;
}

/** Ids of all peels that are or were enrolled, sorted. */
export async function enrolledPeels(bus: Bus): Promise<string[]> {
  const keys = await listKeys(bus, buckets.enrollments.name, PEEL_INDEX);
  return keys.map((key) => key.slice(PEEL_INDEX.length + 1));
}

const PEEL_INDEX = "peel";

/** Keys below `prefix` (whole tokens), sorted. Deleted ones are among them as long as the bucket remembers them. */
export async function listKeys(bus: Bus, bucket: string, prefix: string): Promise<string[]> {
  const subjects: string[] = [];
  for (;;) {
    const page = await askPage(bus, bucket, prefix, subjects.length);
    const found = Object.keys(page.state?.subjects ?? {});
    subjects.push(...found);
    if (found.length === 0 || subjects.length >= (page.total ?? 0)) break;
  }
  const cut = bucketSubject(bucket, "").length;
  return [...new Set(subjects)].map((subject) => subject.slice(cut)).sort();
}

async function askPage(bus: Bus, bucket: string, prefix: string, offset: number): Promise<Page> {
  const body = { subjects_filter: bucketSubject(bucket, `${prefix}.>`), offset };
  const { data } = await ask(bus, bucket, new TextEncoder().encode(JSON.stringify(body)));
  const page = parsed(data, bucket);
  if (page.error !== undefined) throw fromApi(`list keys of ${bucket}`, page.error);
  return page;
}

/** By its name among clients; where all are in one account, nobody answers to that. */
async function ask(bus: Bus, bucket: string, body: Uint8Array): Promise<Message> {
  const { asked, crossed } = keyListOf(bucket);
  try {
    return await bus.request(crossed, body, { timeoutMs: STORE_TIMEOUT_MS });
  } catch (thrown) {
    if (!isZesterError(thrown, "no_responders")) throw thrown;
    return await bus.request(asked, body, { timeoutMs: STORE_TIMEOUT_MS });
  }
}

function parsed(data: Uint8Array, bucket: string): Page {
  try {
    return JSON.parse(new TextDecoder().decode(data)) as Page;
  } catch (cause) {
    throw new ZesterError("decode_failed", `list keys of ${bucket}: the answer is not JSON`, {
      cause,
    });
  }
}
