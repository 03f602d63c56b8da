/** The clock, the random numbers and the texts of a limiter, for its decisions. */
import type { DenialMessage } from "../../../core/errors.js";
import type { TransactionScope } from "./receipt-entries.js";

/** The things that a decision needs besides its arguments. */
export interface Environment {
  /** May be called more than once per decision. */
  clock(): number;
  /** May be called more than once per decision. */
  random(): number;
  /**
   * The same object in all calls of one limiter. By this object, a limiter refuses the results of other
   * limiters.
   */
  readonly owner: object;
  /** The text of denials, if the application has a text of its own. */
  readonly denialMessage?: DenialMessage | undefined;
  /** The transaction of the calls, if `transaction` has begun it. */
  readonly scope?: TransactionScope | undefined;
}
