/** Says, once, that a countdown has its times in another language than its sentences. */
import type { CountdownWords } from "./words.js";

let hasWarned = false;

/** Only in development: in production, bundlers leave out all of it. */
export function warnOfMixedWords(own: CountdownWords, above: CountdownWords): void {
  try {
    if ((process.env as { NODE_ENV?: string }).NODE_ENV !== "production") {
      const locale = own.locale ?? above.locale ?? "en";
      // Labels that are not given are in English.
      if (hasWarned || (own.labels ?? above.labels) || /^en\b/i.test(locale)) return;
      hasWarned = true;
      console.warn(
        `RateLimitCountdown has the locale "${locale}" without labels, so it mixes that language with English. Give it or its provider labels, too.`,
      );
    }
  } catch {
    // Without a bundler there may be no `process`.
  }
}
