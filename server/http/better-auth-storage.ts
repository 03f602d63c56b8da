/**
 * Keeps the rate limits of better-auth in the store of a limiter. better-auth decides which rule a
 * request has; each rule is a fixed window of the limiter. There is no import of better-auth: the
 * types are its types by structure.
 */
import type { RateLimitConfig } from "../../core/limit-config.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/known-options.js";
import type { LimitOptions, WithConfig } from "../limiter/call-options.js";
import { plainKey } from "./better-auth-key.js";

/** What better-auth 1.7 calls `BetterAuthRateLimitStorage`. */
export interface BetterAuthStorage {
  /**
   * Charges one request, and says whether it is allowed.
   *
   * @param key better-auth's `address|path`.
   * @param rule at most `max` requests per `window` seconds.
   * @returns `retryAfter` in whole seconds, rounded up, or `null` where the request is allowed.
   */
  consume(
    key: string,
    rule: { window: number; max: number },
  ): Promise<{ allowed: boolean; retryAfter: number | null }>;
}

/** The options of `betterAuthStorage`. */
export interface BetterAuthStorageOptions {
  /**
   * What becomes of a request while the store fails or does not answer in time.
   *
   * - `"fail"`: `consume` rejects with the `RateLimitStoreError`, and so does better-auth's
   *   handler. Answer with `rateLimitResponse`, which makes it a 503.
   * - `"allow"`: the request is allowed in an outage, as with `whenStoreFails` of a limit. Passwords
   *   can then be guessed without a limit.
   * @default "fail"
   */
  whenStoreFails?: "fail" | "allow" | undefined;
  /**
   * The name of the limit, in the table and for `onDecision`. No limit of the limiter should have
   * it. To have rows pruned, give `autoPrune` or `prune` a config of this name in `alsoConfigs`: a
   * fixed window with the longest `window` and the largest `max` of the rules.
   * @default "better-auth"
   */
  name?: string | undefined;
}

const OPTIONS = namesOf<BetterAuthStorageOptions>({ whenStoreFails: true, name: true });

/**
 * For better-auth's `rateLimit: { customStorage: betterAuthStorage(limiter) }`.
 *
 * A rule is a fixed window: `max` requests in each `window`, all of them again when the next one
 * starts. Across the edge of two windows, up to `2 * max` requests can pass within `window` seconds.
 * A rule with a `max` below 1 denies every request.
 *
 * A key that is too long for a row, or that has other characters than those of a URL, is replaced
 * by its SHA-256.
 *
 * @throws RateLimitConfigError for options that do not exist or make no sense.
 *
 * @example
 * import { betterAuthStorage } from "trpc-rate-limit/server";
 *
 * const rateLimit = { enabled: true, customStorage: betterAuthStorage(limiter) };
 * // betterAuth({ rateLimit })
 */
export function betterAuthStorage(
  limiter: {
    limit(name: string, options: WithConfig<LimitOptions>): Promise<LimitAnswer>;
  },
  options: BetterAuthStorageOptions = {},
): BetterAuthStorage {
  rejectUnknownOptions(options, OPTIONS, "betterAuthStorage()");
  const { whenStoreFails = "fail", name = "better-auth" } = options;
  if (whenStoreFails !== "fail" && whenStoreFails !== "allow") {
    throw new RateLimitConfigError("whenStoreFails", whenStoreFails, '"fail" or "allow"');
  }
  return {
    async consume(key, { window, max }) {
      if (max < 1) return { allowed: false, retryAfter: Math.ceil(window) };
      // A config has whole ms. A window of better-auth may be a fraction of a second.
      const period = Math.ceil(window * 1000);
      const config: RateLimitConfig = { kind: "fixed window", rate: max, period, whenStoreFails };
      const { ok, retryAfter = 0 } = await limiter.limit(name, {
        key: await plainKey(key),
        config,
      });
      return { allowed: ok, retryAfter: ok ? null : Math.ceil(retryAfter / 1000) };
    },
  };
}

interface LimitAnswer {
  ok: boolean;
  retryAfter?: number;
}
