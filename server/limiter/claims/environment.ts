/** The clock, the chance and the words of a limiter, for what decides. */
import type { DenialMessage } from "../../../core/errors.js";
import type { TransactionScope } from "./receipt-entries.js";

/** What a decision needs besides its arguments. */
export interface Environment {
  /** May be called more than once per decision. */
  clock(): number;
  /** May be called more than once per decision. */
  random(): number;
  /** The same object in all calls of one limiter. It refuses the results of others. */
  readonly owner: object;
  /** What denials say, if the application has words of its own. */
  readonly denialMessage?: DenialMessage | undefined;
  /** The transaction of the calls, if `transaction` has begun it. */
  readonly scope?: TransactionScope | undefined;
}
