/** How a call holds its tokens under an id. */
import type { HoldThen } from "../../../core/rows/hold.js";

/** How a call holds its tokens. */
export interface HoldTerms {
  /** When the hold lapses if nothing settles it, in ms from the call: whole, 1 to `onceFor`. */
  for: number;
  /**
   * What becomes of a hold that lapses.
   *
   * - `"keep"`: its tokens stay charged, as they were estimated. For whatever costs money: a process that
   *   died may have sent its request, and the provider then bills it.
   * - `"release"`: its tokens come back. For work that has cost nothing unless it was settled.
   */
  then: HoldThen;
}
