/** The options that a router of tRPC and a handler of HTTP share, and their checks. */
import { RateLimitConfigError } from "../../core/errors.js";
import { SHARED_BUCKET } from "../limiter/types/key-answer.js";
import type { PlanBy, PlannedName } from "../limiter/types/plan-types.js";

/** How often `watch` reads the changes of other processes, ms. */
const DEFAULT_INTERVAL = 1000;
/** How many streams one caller may have open. A page has one stream, and two streams for a moment. */
const DEFAULT_MAX_STREAMS = 10;
/** How often the keys and plans of an open stream are resolved again, ms. */
const DEFAULT_KEY_INTERVAL = 60_000;

/** The options of streams. */
export interface StreamOptions {
  /** ms between two reads by `watch` for the changes of other processes, above 0. @default 1000 */
  interval?: number;
  /**
   * The most `watch` streams of one caller in this process: a whole number of at least 1, or `Infinity`.
   * A further stream is rejected with `CONFLICT`, and its page polls. A stream counts for the keys that
   * its caller has without requesting one. Callers without a key may together open 100 times as many
   * streams. All streams together follow at most 500 times as many keys that clients requested.
   * @default 10
   */
  maxStreams?: number;
  /**
   * ms between two calls of `key` and `plan` for each limit that a stream follows, above 0. The stream
   * ends when the key is rejected or has changed, and goes on by a plan that has changed. `ctx` is the
   * context of the stream's start. A resolver that only reads `ctx` never learns of a change: look the
   * right or the plan up. After `planChanged`, the streams of its key are checked at once.
   * @default 60000
   */
  keyInterval?: number;
}

/**
 * The option `plan` is required where the limits have plans, and the limiter does not say the plan.
 *
 * @typeParam TPlan the type of the option.
 */
export type SaysPlanOfRequest<TLimits, TBy extends PlanBy, TPlan> = "limiter" extends TBy
  ? unknown
  : [PlannedName<TLimits>] extends [never]
    ? unknown
    : { plan: TPlan };

/** The options before they are checked: plain JavaScript can pass any value. */
export interface UncheckedLiveOptions<TLimits> extends StreamOptions {
  limiter: { readonly limits: TLimits };
  key?: unknown;
  expose?: readonly (keyof TLimits & string)[];
  authorize?: unknown;
}

/**
 * Checks all options but `plan`. Returns all names, the names that clients may know, and what streams
 * need.
 *
 * @param example a `key` function as a message shows it.
 * @throws RateLimitConfigError quoting option and value.
 */
export function checkedLiveOptions<TLimits>(
  options: UncheckedLiveOptions<TLimits>,
  example: string,
) {
  type TName = keyof TLimits & string;
  const { limiter, key, authorize } = options;
  const { interval = DEFAULT_INTERVAL, keyInterval = DEFAULT_KEY_INTERVAL } = options;
  const { maxStreams = DEFAULT_MAX_STREAMS } = options;
  const names = Object.keys(limiter.limits as object) as TName[];
  if (names.length === 0) {
    const message = "the limiter has no limits; name at least one in createRateLimiter({ limits })";
    throw new RateLimitConfigError("limits", limiter.limits, { message });
  }
  const exposed: readonly TName[] = options.expose ?? names;
  if (!Array.isArray(exposed) || !exposed.every((name) => names.includes(name))) {
    throw new RateLimitConfigError("expose", exposed, `a list of ${names.join(", ")}`);
  }
  if (key !== SHARED_BUCKET && typeof key !== "function") {
    const problem =
      `a function that says whose bucket a request takes from, such as ${example}, or ` +
      "SHARED_BUCKET for one bucket of all callers";
    throw new RateLimitConfigError("key", key, problem);
  }
  if (authorize !== undefined && typeof authorize !== "function") {
    throw new RateLimitConfigError("authorize", authorize, "a function");
  }
  requireMs("interval", interval);
  requireMs("keyInterval", keyInterval);
  if (!(maxStreams >= 1 && (Number.isInteger(maxStreams) || maxStreams === Infinity))) {
    throw new RateLimitConfigError("maxStreams", maxStreams, "a whole number of at least 1");
  }
  return { names, exposed, interval, maxStreams, keyInterval };
}

/** @throws RateLimitConfigError */
function requireMs(option: string, value: number): void {
  if (!(value > 0)) throw new RateLimitConfigError(option, value, "a number of ms above 0");
}
