/** What a server tells its clients about one limit, so that they can go on calculating. */
import type { RateLimitState } from "./calculate.js";
import type { RateLimitConfig } from "./config.js";

/**
 * The state of one limit for one reader, plain JSON. `calculateRateLimit(snapshot, snapshot.config,
 * now, count)` gives what the server would decide, until somebody consumes.
 */
export interface RateLimitSnapshot<TName extends string = string> extends RateLimitState {
  name: TName;
  /** The key as the reader asked for it; absent when it asked for none. */
  key?: string | undefined;
  /** With `start` filled in for fixed windows, so that reader and server agree on the window. */
  config: RateLimitConfig;
  /**
   * Of a limit with shards, the two that hold the most, as they stand in their rows. No call sees
   * two that have more, so a count that these do not grant is refused, whichever it sees.
   */
  fullest?: readonly RateLimitState[] | undefined;
  /** The server's clock when the state was read, epoch ms. */
  now: number;
}
