/**
 * Which part of the demand a block covers. It grows while blocks are used up early, so that a busy
 * process asks the store less often. It shrinks when a block lapses, because what is left of it is
 * lost.
 */
import type { Block } from "./block.js";

const MOST = 2;
const LEAST = 1 / 16;
/** A block that is used up before this part of its life was too small. */
const EARLY = 1 / 2;
/** A block of which more than this part is left was too large. */
const UNUSED = 1 / 8;

export class Gain {
  value = 1;

  usedUp(block: Block): void {
    if (block.age() < EARLY) this.value = Math.min(MOST, this.value * 1.5);
  }

  lapsed({ remaining, size }: Block): void {
    if (remaining > size * UNUSED) this.value = Math.max(LEAST, this.value / 2);
  }
}
