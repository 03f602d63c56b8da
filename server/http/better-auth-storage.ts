/**
 * Keeps the rate limits of better-auth in the store of a limiter. better-auth decides which rule a
 * request has; each rule is a fixed window of the limiter. The package imports nothing of better-auth:
 * the types match better-auth's types by structure.
 */
import type { RateLimitConfig } from "../../core/limit-config.js";
import { RateLimitConfigError } from "../../core/errors.js";
import { namesOf, rejectUnknownOptions } from "../limiter/types/known-options.js";
import type { LimitOptions } from "../limiter/types/limit.js";
import type { WithConfig } from "../limiter/types/call.js";
import { plainKey } from "./better-auth-key.js";
import { OLDEST_BETTER_AUTH } from "./better-auth-version.js";

/** The `BetterAuthRateLimitStorage` of better-auth 1.7, by structure. */
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
   * The answer to a request while the store fails or does not answer in time.
   *
   * - `"fail"`: `consume` and better-auth's handler reject with the `RateLimitStoreError`.
   *   `rateLimitResponse` makes a 503 of this error.
   * - `"allow"`: the request is allowed in an outage, as with `whenStoreFails` of a limit. Passwords
   *   can then be guessed without a limit.
   * @default "fail"
   */
  whenStoreFails?: "fail" | "allow" | undefined;
  /**
   * The name of the limit, in the table and for `onDecision`. The rows are pruned if the limiter has a
   * limit of this name: a fixed window with the largest `max` of the rules as its `rate`, and the longest
   * `window` as its `period`. The rules still decide each request. The other options of that limit, such
   * as `rememberDenials`, then count for these requests, too. Without such a limit, rows stay.
   * @default "better-auth"
   */
  name?: string | undefined;
}

const OPTIONS = namesOf<BetterAuthStorageOptions>({ whenStoreFails: true, name: true });

/**
 * For better-auth's `rateLimit: { customStorage: betterAuthStorage(limiter) }`. Needs better-auth 1.7 or
 * later. With an older version, the option does not compile, and requests fail with an error that says
 * so, because they cannot be charged in one step.
 *
 * A rule is a fixed window: `max` requests in each `window`, and `max` again when the next window starts.
 * Across the edge of two windows, up to `2 * max` requests can pass within `window` seconds. A rule with
 * a `max` below 1 denies every request.
 *
 * A key that is too long for a row, or that has a character outside of printable ASCII, is replaced by
 * its SHA-256.
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
    ...readAndWrite,
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

/**
 * The methods that older versions of better-auth ask of a storage. These methods are refused, because two
 * requests that read at once would both pass. The methods are in no type, so that an older version does
 * not compile.
 */
const readAndWrite = { get: refuse, set: refuse };

function refuse(): Promise<never> {
  const message =
    `betterAuthStorage needs better-auth ${OLDEST_BETTER_AUTH} or later: this version reads and writes ` +
    "a count in two steps, between which other requests pass; update better-auth";
  return Promise.reject(new RateLimitConfigError("customStorage", "better-auth", { message }));
}

interface LimitAnswer {
  ok: boolean;
  retryAfter?: number;
}
