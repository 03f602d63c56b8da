/** The state of one limit, sent by a server to its clients so that they can calculate with it. */
import type { RateLimitState } from "./calculate.js";
import type { ShownConfig } from "./config.js";

/**
 * The state of one limit for one reader, plain JSON. `calculateRateLimit(snapshot, snapshot.config,
 * now, count)` gives what the server would decide, until the next call consumes tokens.
 */
export interface RateLimitSnapshot<TName extends string = string> extends RateLimitState {
  /** The limit. */
  name: TName;
  /** The key that the reader requested; absent when it requested none. */
  key?: string | undefined;
  /** With `start` filled in for fixed windows, so that reader and server agree on the window. */
  config: ShownConfig;
  /**
   * With shards: the two rows that hold the most, as they were written. No pair of shards has more,
   * so a count that these two do not grant is denied on every pair.
   */
  fullest?: readonly RateLimitState[] | undefined;
  /**
   * Tokens that calls hold and have not settled yet, of a limit with holds. They are not in `value`.
   */
  held?: number | undefined;
  /** The server's clock when the state was read, epoch ms. */
  now: number;
}
