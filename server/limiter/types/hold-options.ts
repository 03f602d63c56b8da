/** How calls name a hold, and what they get when they end it. */
import type { HoldThen } from "../../../core/rows/hold.js";
import type { HoldEnd } from "../../../core/rows/marker.js";
import type { KeyOptions } from "./call-options.js";

/** How calls name a hold. */
export interface HoldOptions extends KeyOptions {
  /** The id of the call that took the tokens. */
  once: string;
}

/** One of several limits that a hold is of, with a key or a config of its own. */
export interface HeldBucket<TName extends string = string> extends KeyOptions {
  /** The limit. */
  name: TName;
}

/** Why there is nothing to end: how the hold has ended before, or that there is none of this id. */
export type NotHeld = HoldEnd | "unknown";

/**
 * The result of `settle` by an id.
 *
 * - `settled: true`: `count` tokens were held until now, and `value` are left in the bucket.
 * - `settled: false`: nothing changed. `reason` says how the hold has ended before. It is `"unknown"` for
 *   an id that was never held, and for one that is forgotten (`onceFor`).
 */
export type SettledHold =
  { settled: true; count: number; value: number } | { settled: false; reason: NotHeld };

/** The result of `release`; see {@link SettledHold}. */
export type ReleaseResult =
  { released: true; count: number; value: number } | { released: false; reason: NotHeld };

/** Tokens that a call has taken, and that nothing has settled yet. */
export interface OpenHold {
  /** The id of the call, hashed where there is a `hashKey`. */
  once: string;
  /** Tokens held. */
  count: number;
  /** What becomes of them when the hold lapses. */
  then: HoldThen;
  /** When it lapses, epoch ms by the clock of the store. May have passed: it then ends with the next denial. */
  until: number;
}
