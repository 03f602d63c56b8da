/** Reads the names of limits from the type of a limiter, without tRPC. */

/**
 * The source of the names: the type of the limiter of `createRateLimiter`, or of the handler of
 * `createRateLimitHandler`.
 */
export interface WithLimits {
  /** The limits, by name. */
  readonly limits: object;
}

/** Limits of any name, where the type of the limiter is not given. */
export interface AnyLimits {
  /** The limits, by name. */
  readonly limits: Readonly<Record<string, unknown>>;
}

/** The names of the limits of a limiter, or those that a handler tells of. */
export type LimitNameOf<TLimiter extends WithLimits> = keyof TLimiter["limits"] & string;
