/**
 * By which terms a process takes blocks of a limit.
 *
 * A block is taken from a bucket of which so much is used at least as refills in `ms`. After a block of
 * b tokens, rate * ms + b tokens are used at least, so it cannot hold more than capacity - b before the
 * block has ended. The same is true of several blocks, of any processes. So the row and
 * all blocks together never hold more than the capacity, which is the bound of a limit without
 * leases. A row of a fixed window does not refill before its block ends, so nothing has to be used of it.
 */
import type { Bucket, PeriodicConfig } from "../../core/config.js";
import { tokensWithin } from "../../core/validate-lease.js";

export interface LeaseTerms {
  /** See `LeaseConfig.ms`. */
  readonly ms: number;
  readonly config: PeriodicConfig;
  /** What is used at least before a block is taken. */
  readonly least: number;
  /** How long before its end a block is left alone, ms: two clocks may differ by that. */
  readonly margin: number;
}

/** The most that the clocks of two processes are expected to differ by, ms. */
const CLOCK_DIFFERENCE = 10;

/** @param limit a config with a `lease` that is valid, and with `start` filled in. */
export function leaseTerms(limit: Bucket, ms: number): LeaseTerms {
  const config = limit as PeriodicConfig;
  const margin = Math.min(CLOCK_DIFFERENCE, ms / 10);
  const least = config.kind === "fixed window" ? 0 : tokensWithin(config, ms);
  return { ms, config, least, margin };
}
