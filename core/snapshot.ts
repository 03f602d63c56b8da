/** The state of one limit, sent by a server to its clients so that they can calculate with it. */
import type { RateLimitState } from "./calculate.js";
import type { ShownConfig } from "./config.js";

/** Tokens that come back when their hold lapses. */
export interface LapsingTokens {
  /** The instant, epoch ms. */
  at: number;
  /** How many tokens. */
  count: number;
}

/**
 * The state of one limit for one reader, plain JSON. `calculateRateLimit(snapshot, snapshot.config,
 * now, count)` gives what the server would decide, until the next call consumes tokens.
 */
export interface RateLimitSnapshot<TName extends string = string> extends RateLimitState {
  /** The limit. */
  name: TName;
  /** The key that the reader requested; absent when it requested none. */
  key?: string | undefined;
  /**
   * While a denial has closed the bucket (`blockFor`): when it opens, epoch ms. `value` is 0 until then.
   */
  closedUntil?: number | undefined;
  /** The plan by which the server decides; absent for a limit without plans. */
  plan?: string | undefined;
  /** The config, with `start` filled in for fixed windows, so that reader and server agree on the window. */
  config: ShownConfig;
  /**
   * With shards: the two rows that hold the most, as they were written. No pair of shards has more,
   * so a count that these two do not grant is denied on every pair.
   */
  fullest?: readonly (RateLimitState & Pick<RateLimitSnapshot, "closedUntil">)[] | undefined;
  /**
   * Tokens that calls hold and have not settled yet, of a limit with holds. `value` does not include them.
   */
  held?: number | undefined;
  /**
   * The tokens of `held` that come back if nothing settles their hold in time, in the order of the
   * instants, for the first 20 holds. The hooks and the observer count with these tokens;
   * `calculateRateLimit` does not.
   */
  lapses?: readonly LapsingTokens[] | undefined;
  /** The server's clock when the state was read, epoch ms. */
  now: number;
}
