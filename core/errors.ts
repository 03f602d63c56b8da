/**
 * One class per kind of failure. Distinguish them by `kind` and `name`, not by `instanceof`, so
 * that it also works between two copies of the package. A denial is data. It becomes an error only
 * where `throws: true` asks for it.
 */
import type { RateLimitConfig } from "./config.js";

/**
 * The facts of a denial, plain JSON.
 *
 * - `retryAfter`: whole ms until the same call would pass, if no other call consumes tokens.
 * - `value`: tokens left now; negative while reservations are outstanding.
 * - `now`: the server's clock, epoch ms, so that a reader can correct its own.
 */
export interface RateLimitErrorData<TName extends string = string> {
  kind: "RateLimited";
  name: TName;
  retryAfter: number;
  value: number;
  config: RateLimitConfig;
  now: number;
}

/** Thrown for a denied call with `throws: true`. The facts are in `data.rateLimit`. */
export class RateLimitError<TName extends string = string> extends Error {
  override readonly name = "RateLimitError";
  readonly kind = "RateLimited";
  readonly data: { rateLimit: RateLimitErrorData<TName> };

  constructor(rateLimit: RateLimitErrorData<TName>) {
    super(`Rate limit "${rateLimit.name}" exceeded; retry after ${rateLimit.retryAfter} ms`);
    this.data = { rateLimit };
  }
}

/** An option that cannot work, or a store that cannot do what was asked for. */
export class RateLimitConfigError extends Error {
  override readonly name = "RateLimitConfigError";
  readonly kind = "InvalidConfig";

  /** @param problem what `option` must be, or a whole message. */
  constructor(
    readonly option: string,
    readonly value: unknown,
    problem: string | { message: string },
  ) {
    super(
      typeof problem === "string"
        ? `${option} must be ${problem}, got ${describe(value)}`
        : problem.message,
    );
  }
}

/** A call with a `count`, a `key` or a name that is not valid. It consumed nothing. */
export class RateLimitInputError extends Error {
  override readonly name = "RateLimitInputError";
  readonly kind = "InvalidInput";

  /**
   * @param reason
   * - `"count"`: negative or not finite;
   * - `"unsatisfiable"`: a count that no wait could satisfy;
   * - `"key"`: not valid, see {@link validateKey}, or not an address where `ipKey` wants one;
   * - `"name"`: not valid, or unknown and without a config;
   * - `"result"`: not a result that the function can use, such as one that the limiter never gave.
   */
  constructor(
    readonly reason: "count" | "unsatisfiable" | "key" | "name" | "result",
    message: string,
  ) {
    super(message);
  }
}

/**
 * The store failed, or did not answer in time: neither a denial nor a pass. If the store had
 * already been asked to write, it is unknown whether the tokens were spent.
 */
export class RateLimitStoreError extends Error {
  override readonly name = "RateLimitStoreError";
  readonly kind = "StoreFailure";
}

/**
 * Whether `error` is a denial: a {@link RateLimitError}, the `TRPCError` made of one, the
 * `TRPCClientError` it arrives as, or its serialised form. Narrows to `error.data.rateLimit`.
 */
export function isRateLimitError<TName extends string = string>(
  error: unknown,
): error is { data: { rateLimit: RateLimitErrorData<TName> } } {
  const { data } = Object(error) as { data?: { rateLimit?: Partial<RateLimitErrorData> } | null };
  const { kind, name, retryAfter, config, now } = data?.rateLimit ?? {};
  return (
    kind === "RateLimited" &&
    typeof name === "string" &&
    typeof retryAfter === "number" &&
    typeof config?.rate === "number" &&
    typeof now === "number"
  );
}

/** A value for a message, shortened, because the value may be hostile. */
export function describe(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
