/** `docs/errors.md`: every error code, from the table that the programs use. */
import { ERRORS, type Remedy } from "../../core/errors.ts";
import { code, generatedFrom, page, table } from "./markdown.ts";

const REMEDIES: Readonly<Record<Remedy, string>> = {
  retry: "try again",
  reject: "give up: it will fail again",
  duplicate: "nothing: it was done before",
};

/** The whole page. */
export async function errorsPage(): Promise<string> {
  const rows = Object.entries(ERRORS).map(([name, { number, remedy, exit }]) => [
    number,
    code(name),
    code(remedy),
    String(exit),
  ]);
  return await page(
    generatedFrom("core/errors.ts"),
    "# Errors",
    "Every failure has a number and a code that never change, so scripts can match on them; messages may. The remedy says what a " +
      "caller should do:",
    table(
      ["Remedy", "Meaning"],
      Object.entries(REMEDIES).map(([name, text]) => [code(name), text]),
    ),
    table(["Number", "Code", "Remedy", "Exit code of `zester`"], rows),
  );
}
