/** A block: tokens that this process has taken from a row in one take, and serves calls from. */
import type { RateLimitState } from "../../core/calculate.js";
import { type Instant, isBefore, type LeaseClocks } from "./clocks.js";

export class Block {
  /** Tokens that no call has got. */
  remaining: number;
  #isOver = false;

  constructor(
    /** All tokens of the take. */
    readonly size: number,
    /** The tokens that were left in the row after the take. */
    readonly row: RateLimitState,
    private readonly startedAt: Instant,
    private readonly end: Instant,
    private readonly clocks: LeaseClocks,
  ) {
    this.remaining = size;
  }

  isLiving(): boolean {
    if (this.#isOver) return false;
    if (isBefore(this.clocks, this.end)) return true;
    // The block is over for good: a clock that is set back must not bring the block back.
    this.#isOver = true;
    return false;
  }

  /** Takes tokens for a call. Returns whether there were enough. */
  take(count: number): boolean {
    if (count > this.remaining) return false;
    this.remaining -= count;
    return true;
  }

  /** Puts tokens of its calls back. A block never has more tokens than were taken from the row. */
  giveBack(count: number): void {
    this.remaining = Math.min(this.size, this.remaining + count);
  }

  /** The part of the block's life that has passed. */
  age(): number {
    const { startedAt, end, clocks } = this;
    return (clocks.monotonic() - startedAt.monotonic) / (end.monotonic - startedAt.monotonic);
  }

  /** Ends the block before its time, because its row was reset. */
  stop(): void {
    this.#isOver = true;
  }
}
