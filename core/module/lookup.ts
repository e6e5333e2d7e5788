/** Finds a value by a path such as `os.family` or `os:family` in nested data. Own properties only. */
import type { PlainValue } from "../module.ts";

/** The value at the path; undefined when there is none. A whole key wins over its parts. */
export function valueAt(data: unknown, path: string): PlainValue | undefined {
  if (isMap(data) && Object.hasOwn(data, path)) return data[path] as PlainValue;
  let at: unknown = data;
  for (const part of path.split(/[.:]/)) {
    const isIndex = Array.isArray(at) && /^\d+$/.test(part);
    if (!isIndex && !(isMap(at) && Object.hasOwn(at, part))) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at as PlainValue;
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
