/**
 * What `RateLimitStore.sums` is asked for, and what it finds: the sums of counters by bucket, see
 * `core/rows/usage.ts`. The key of a counter is the key of its bucket, a bar, and the digits of its `ts`.
 */
import type { Counts } from "../../core/rows/usage.js";

export interface SumTerms {
  /** The least `ts` of a counter that is summed up, epoch ms. */
  readonly from: number;
  /** Above the `ts` of every counter that is summed up, epoch ms. */
  readonly to: number;
  /** The shards of the counters whose sum decides which buckets have the most. */
  readonly by: readonly number[];
  /** The most buckets in the answer. */
  readonly count: number;
}

/** The sums of the counters of one bucket. */
export interface KeySums {
  /** What the keys of its counters begin with, up to and with the last bar. */
  readonly start: string;
  /** By shard. */
  readonly counts: Counts;
}

export interface FoundSums {
  /** The buckets with the most, the most first. A bucket with nothing of `by` is left out. */
  readonly top: readonly KeySums[];
  /** The sums of all buckets together. */
  readonly keys: Counts;
  /** The sums of the counters without the key of a bucket. */
  readonly all: Counts;
}
