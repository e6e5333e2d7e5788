/** Amounts as operators write them: `5`, or `10%` of something. */
import { ZesterError } from "../../core/errors.ts";

/** The number meant, of `total`; percentages are rounded down. */
export function amountOf(text: string, total: number): number {
  const [, digits = "", percent] = /^(\d{1,9})(%?)$/.exec(text) ?? [];
  if (digits === "") {
    throw new ZesterError("usage", `${JSON.stringify(text.slice(0, 20))} is no amount`, {
      fix: "write a whole number such as 5, or a share such as 10%",
    });
  }
  const number = Number(digits);
  return percent === "%" ? Math.floor(total * Math.min(number, 100) / 100) : number;
}
