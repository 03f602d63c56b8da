/** A line of calls of `acquire` that wait for one key in this process; see `acquire-line.ts`. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { AcquireOptions } from "../types/acquire.js";
import type { Claim } from "../claims/draft.js";
import type { LimitRequest } from "../limits/limit-request.js";
import type { Refunded } from "../claims/refund-rows.js";

export type Granted = RateLimitResult & { ok: true };

/** A call of `acquire`. */
export interface Waiter {
  readonly name: string;
  readonly request: LimitRequest;
  /** The options of `limit`. */
  readonly options: Omit<AcquireOptions, "maxWait" | "signal">;
  /** When the caller must have its tokens at the latest, epoch ms; `Infinity` for no such time. */
  readonly until: number;
  resolve(result: Granted): void;
  reject(error: unknown): void;
}

export interface Line {
  join(waiter: Waiter): void;
  /** The time of the caller is over. The caller may still be in the queue. */
  expire(waiter: Waiter): void;
  /**
   * The caller does not wait any more. Tokens that were reserved for the caller go to another caller, or
   * back.
   */
  leave(waiter: Waiter, reason: unknown): void;
  /** Gives tokens back to the row. The calls that wait for the row move up, where that is safe. */
  givingBack(claim: Claim<Refunded>): Promise<Refunded>;
}
