/**
 * By which terms a process takes blocks of a limit.
 *
 * A block is taken from a bucket whose capacity is smaller by what refills in `ms`. After a block of
 * b tokens, the row holds at most capacity - rate * ms - b, so it cannot hold more than capacity - b
 * before the block has ended. The same is true of several blocks, of any processes. So the row and
 * all blocks together never hold more than the capacity, which is the bound of a limit without
 * leases. A row of a fixed window does not refill before its block ends, so its capacity stays.
 */
import { capacityOf, type PeriodicConfig, type Bucket } from "../../core/config.js";
import { tokensWithin } from "../../core/validate-lease.js";

export interface LeaseTerms {
  /** See `LeaseConfig.ms`. */
  readonly ms: number;
  /** The limit's config with the capacity that blocks are taken from. */
  readonly config: PeriodicConfig;
  /** How long before its end a block is left alone, ms: two clocks may differ by that. */
  readonly margin: number;
}

/** The most that the clocks of two processes are expected to differ by, ms. */
const CLOCK_DIFFERENCE = 10;

/** @param limit a config with a `lease` that is valid, and with `start` filled in. */
export function leaseTerms(limit: Bucket, ms: number): LeaseTerms {
  const config = limit as PeriodicConfig;
  const margin = Math.min(CLOCK_DIFFERENCE, ms / 10);
  if (config.kind === "fixed window") return { ms, config, margin };
  const capacity = capacityOf(config) - tokensWithin(config, ms);
  return { ms, config: { ...config, capacity }, margin };
}
