/**
 * What can go wrong, one class each, told apart by `kind` and `name` rather than by
 * `instanceof`, so that two copies of the package still understand each other.
 * A denial is data; it becomes an error only where `throws: true` asks for it.
 */
import type { RateLimitConfig } from "./config.js";

/**
 * The facts of a denial, plain JSON.
 *
 * - `retryAfter`: whole ms until the same call would pass, with nobody else consuming.
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

/** A config with an option that no limit could work with. Thrown at construction. */
export class RateLimitConfigError extends Error {
  override readonly name = "RateLimitConfigError";
  readonly kind = "InvalidConfig";

  constructor(
    readonly option: string,
    readonly value: unknown,
    requirement: string,
  ) {
    super(`${option} must be ${requirement}, got ${describe(value)}`);
  }
}

/** A call with a `count`, a `key` or a name that cannot be served. It consumed nothing. */
export class RateLimitInputError extends Error {
  override readonly name = "RateLimitInputError";
  readonly kind = "InvalidInput";

  /**
   * @param reason `"count"`: negative or not finite. `"unsatisfiable"`: a count that no wait could
   * satisfy. `"key"`: see {@link validateKey}. `"name"`: unknown, and no config was given.
   */
  constructor(
    readonly reason: "count" | "unsatisfiable" | "key" | "name",
    message: string,
  ) {
    super(message);
  }
}

/**
 * The store could not answer, or not in time: neither a denial nor a pass. Whether the tokens of
 * such a call were spent is unknown when the store had already been asked to write them.
 */
export class RateLimitStoreError extends Error {
  override readonly name = "RateLimitStoreError";
  readonly kind = "StoreFailure";
}

/**
 * Whether `error` says "rate limited": a {@link RateLimitError}, the `TRPCError` made of one, the
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

/** A short rendering for messages: never the whole of a hostile value. */
export function describe(value: unknown): string {
  if (typeof value === "string") {
    return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
  }
  return typeof value === "object" && value !== null ? "an object" : String(value);
}
