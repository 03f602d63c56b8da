/**
 * The part of the demand that a block covers. The gain grows while blocks are used up early, so that a
 * busy process asks the store less often. The gain shrinks when a block lapses, because the rest of the
 * block is lost. After a while without a lapse, a small gain grows again, or a limit that was idle would
 * never be leased.
 */
import type { Block } from "./block.js";

const MOST = 2;
const LEAST = 1 / 16;
/** A block that is used up before this part of its life was too small. */
const EARLY = 1 / 2;
/** A block of which more than this part is left was too large. */
const UNUSED = 1 / 8;

/** After so many lives of a block without a change, a gain below 1 grows again. */
const FORGETS_AFTER = 20;

export class Gain {
  private value = 1;
  /** When `lapsed` or `at` last changed the gain, by the monotonic clock. */
  private changedAt = -Infinity;

  /** @param life of a block, ms. */
  constructor(private readonly life: number) {}

  /** @param now ms, by the monotonic clock. */
  at(now: number): number {
    if (this.value < 1 && now - this.changedAt > FORGETS_AFTER * this.life) {
      this.value *= 2;
      this.changedAt = now;
    }
    return this.value;
  }

  usedUp(block: Block): void {
    if (block.age() < EARLY) this.value = Math.min(MOST, this.value * 1.5);
  }

  /** @param now ms, by the monotonic clock. */
  lapsed({ remaining, size }: Block, now: number): void {
    if (remaining <= size * UNUSED) return;
    this.value = Math.max(LEAST, this.value / 2);
    this.changedAt = now;
  }
}
