/**
 * The start of a fixed window that has no `start`: an offset derived from name and key, so that
 * limits do not all refill at once. A random offset is no alternative: processes and browsers would
 * not agree on the current window before the first row exists.
 *
 * A client that reads the offset can test guesses of the key. A limit with secret keys needs a
 * `start` of its own, or a limiter with a `hashKey`.
 */
import { bucketId } from "./bucket-id.js";
import { type Bucket, longestPeriod } from "./config.js";
import { hash } from "./hash.js";
import { isOfZone, withCalendar } from "./with-calendar.js";

/**
 * The config with `start` filled in, so that the config means the same in every process and browser.
 * Windows of a time zone have a calendar instead.
 */
export function withStart(config: Bucket, name: string, key: string | undefined): Bucket {
  if (config.kind !== "fixed window" || config.start !== undefined) return config;
  if (isOfZone(config)) return withCalendar(config);
  // Names and keys hold no NUL, so no two pairs of them make the same string.
  const fraction = hash(bucketId(name, key)) / 2 ** 32;
  return { ...config, start: Math.floor(fraction * longestPeriod(config)) };
}
