/**
 * The terms by which a process takes blocks of a limit.
 *
 * A block lives for `ms`. A block is taken only from a bucket of which at least rate * ms tokens are
 * used: as many as refill in that time. After a block of b tokens, at least rate * ms + b tokens are
 * used, so the bucket cannot hold more than capacity - b before the block has ended. For example, with 10
 * tokens per second, a capacity of 100 and blocks of 1 s: the bucket has at most 90 tokens before a block
 * of 20 tokens, 70 after the take, and 80 when the block ends. The same is true of several blocks, of any
 * processes. So the row and all blocks together never hold more than the capacity, which is the bound of
 * a limit without leases. The row of a fixed window does not refill before its block ends, so no tokens
 * of the window have to be used.
 */
import { type Bucket, emptyAt, type PeriodicConfig } from "../../core/config.js";
import { quietMost } from "../../core/rows/warning.js";
import { tokensWithin } from "../../core/validate-lease.js";

export interface LeaseTerms {
  /** See `LeaseConfig.ms`. */
  readonly ms: number;
  readonly config: PeriodicConfig;
  /** A block is taken only where at least so many tokens of the row are used. */
  readonly least: number;
  /**
   * How long before its end a block serves no more calls, ms: the clocks of two processes may differ by
   * so much.
   */
  readonly margin: number;
  /**
   * The tokens that blocks leave in the row, so that no block crosses a level of `warnAt`; 0 without
   * levels.
   */
  readonly keeps: number;
}

/** The most that the clocks of two processes are expected to differ by, ms. */
const CLOCK_DIFFERENCE = 10;

/** @param limit a config with a `lease` that is valid, and with `start` filled in. */
export function leaseTerms(limit: Bucket, ms: number): LeaseTerms {
  const config = limit as PeriodicConfig;
  const margin = Math.min(CLOCK_DIFFERENCE, ms / 10);
  const least = config.kind === "fixed window" ? 0 : tokensWithin(config, ms);
  const keeps = config.warnAt ? emptyAt(config) - quietMost(config) : 0;
  return { ms, config, least, margin, keeps };
}
