/** Globs over peel ids, in linear time: targets come from operators and templates, so no pattern may cost more. */

/** Whether `text` matches `pattern`, in which `*` is any run and `?` any one character. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let p = 0;
  let star = -1; // where in the pattern the last `*` is,
  let mark = 0; // and up to where in the text it has eaten
  while (at < text.length) {
    if (pattern[p] === "*") {
      star = p++;
      mark = at;
    } else if (p < pattern.length && (pattern[p] === "?" || pattern[p] === text[at])) {
      p++;
      at++;
    } else if (star >= 0) {
      p = star + 1;
      at = ++mark;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}

/** Whether a peel id matches, in its own form or in the dotted one that operators see. */
export function matchesPeelId(pattern: string, peelId: string): boolean {
  return matchesGlob(pattern, peelId) || matchesGlob(pattern.replaceAll(".", "_"), peelId);
}
