/**
 * The start of a fixed window that has no `start`: an offset derived from name and key, so that
 * limits do not all refill at once. A random offset is no alternative: processes and browsers would
 * not agree on the current window before the first row exists.
 *
 * A client that reads the offset can test guesses of the key. A limit with secret keys needs a
 * `start` of its own, or a limiter with a `hashKey`.
 */
import { bucketId } from "./bucket-id.js";
import { type RateLimitConfig, longestPeriod } from "./config.js";

/** The config with `start` filled in, so that it means the same in every process and browser. */
export function withStart<TConfig extends RateLimitConfig>(
  config: TConfig,
  name: string,
  key: string | undefined,
): TConfig {
  if (config.kind !== "fixed window" || config.start !== undefined) return config;
  // Names and keys hold no NUL, so no two pairs make the same string.
  const fraction = hash(bucketId(name, key)) / 2 ** 32;
  return { ...config, start: Math.floor(fraction * longestPeriod(config)) };
}

/**
 * FNV-1a over UTF-16 code units, 32 bits, with the final mix of MurmurHash3 to spread short keys.
 */
function hash(text: string): number {
  let h = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193);
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
