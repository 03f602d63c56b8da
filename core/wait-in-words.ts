/**
 * A length of time in the words of a language. `Intl` has the numbers and the units. The text is what
 * `Intl.DurationFormat` would say, made with `Intl.NumberFormat` and `Intl.ListFormat`. Node.js 20 and
 * older browsers lack `Intl.DurationFormat`, and a page has to be the same on a server and in a browser.
 */
import { isNever } from "./config.js";

/** s. The largest unit first. */
const UNITS = [
  [86_400, "day"],
  [3600, "hour"],
  [60, "minute"],
  [1, "second"],
] as const;

/**
 * @param seconds whole, above 0.
 * @param most how many units there may be: the largest one, and those below it.
 * @param style `"narrow"` ("2m 0s") leaves smaller units out, for a text that changes each second.
 * `"long"` ("2 minutes") rounds up, so that the wait is over after that time, and says no zeros.
 */
export function inUnits(
  seconds: number,
  locale: string,
  most: number,
  style: "narrow" | "long",
): string {
  const first = UNITS.findIndex(([size]) => seconds >= size);
  const units = UNITS.slice(first, first + most);
  const [step] = units.at(-1)!;
  const rounded = Math.ceil(seconds / step) * step;
  // 59 minutes and 59.5 seconds are an hour.
  if (style === "long" && rounded > seconds) return inUnits(rounded, locale, most, style);
  let rest = seconds;
  const parts: string[] = [];
  for (const [size, unit] of units) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count === 0 && style === "long") continue;
    const format = new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay: style });
    parts.push(format.format(count));
  }
  return new Intl.ListFormat(locale, { type: "unit", style }).format(parts);
}

/**
 * A wait for people to read, in its two largest units and rounded up: "6 seconds", "22 days, 3 hours".
 *
 * @param ms such as the `retryAfter` of a denial; above 0.
 * @param locale a language tag of BCP 47, such as `"de"`. `Intl` throws a RangeError for any other text.
 * @returns `undefined` where no wait helps, as with credits.
 *
 * @example
 * import { waitInWords } from "trpc-rate-limit";
 *
 * const { ok, retryAfter = 0 } = await limiter.limit("sendMessage", { key: userId });
 * if (!ok) console.log(`Try again in ${waitInWords(retryAfter)}`);
 */
export function waitInWords(ms: number, locale: string = "en"): string | undefined {
  // Malformed data has `NaN`.
  if (isNever(ms) || Number.isNaN(ms)) return undefined;
  return inUnits(Math.max(1, Math.ceil(ms / 1000)), locale, 2, "long");
}
