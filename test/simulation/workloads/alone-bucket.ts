/** The bucket of a caller that uses it alone, on a clock that stands still: a number of tokens. */
import type { RateLimitResult } from "../../../server/index.js";
import { FROZEN } from "./context.js";
import { OwnBucket } from "./own-bucket.js";
import type { Change, Effect } from "./possible.js";

const { rate, period } = FROZEN.own;
export const CAPACITY = rate;
/** The time until one token refills, ms. A whole number. */
const PER_TOKEN = period / rate;

export class AloneBucket extends OwnBucket<number> {
  /** The effect of a call that had this answer. @param floor the least value that the call may leave. */
  take(count: number, floor: number, result: RateLimitResult): Effect {
    const { ok, value, retryAfter } = result;
    this.saw = `${count} tokens, ${ok ? "granted" : "denied"}, ${value} left, after ${retryAfter} ms`;
    return (held) => {
      const left = held - count;
      if (ok !== left >= floor) return undefined;
      const wait = ok ? Math.max(0, -left) : floor - left;
      if ((retryAfter ?? 0) !== wait * PER_TOKEN) return undefined;
      const after = ok ? left : held;
      return after === value ? after : undefined;
    };
  }
}

/** Gives tokens back. */
export const giving =
  (count: number): Change =>
  (held) =>
    Math.min(CAPACITY, held + count);
