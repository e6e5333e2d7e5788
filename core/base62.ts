/** Numbers in base 62, digits in the order of their character codes, so that texts of one width sort like the numbers. */

const DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const BASE = 62n;

/** The number, filled up with zeros to the width. */
export function toBase62(value: bigint, width: number): string {
  let text = "";
  for (let rest = value; rest > 0n; rest /= BASE) text = DIGITS[Number(rest % BASE)] + text;
  return text.padStart(width, "0");
}

/** The number that the digits stand for; null if one of them is no digit. */
export function fromBase62(text: string): bigint | null {
  let value = 0n;
  for (const character of text) {
    const digit = DIGITS.indexOf(character);
    if (digit < 0) return null;
    value = value * BASE + BigInt(digit);
  }
  return value;
}
