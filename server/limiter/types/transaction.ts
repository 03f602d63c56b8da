/** Operations in a transaction of the database. */
import type { TransactionOptions } from "../../store/store.js";
import type { LimitConfigs, TokensName } from "./names.js";
import type { RateLimitOperations } from "./operations.js";
import type { RateLimitOverrides } from "./override-types.js";
import type { PlanBy, PlanName } from "./plan-types.js";

/** The operations inside a transaction. */
export interface JoinedOperations<
  TLimits extends LimitConfigs,
  TBy extends PlanBy = "call",
> extends RateLimitOperations<TLimits, TokensName<TLimits>, TBy> {
  /**
   * Overrides that change with the transaction: together with its tokens, and with the application's own
   * rows. Later calls of the transaction go by the change at once, and other calls from the commit on.
   * With `transaction`, this process obeys before `transaction` resolves, and other processes obey as
   * after any `set`. The limiter is not told when a transaction of the caller's own (`using`) commits:
   * this process looks for the commit for five seconds, and tells the other processes when it has seen
   * the commit. After the five seconds, each process obeys within `overridesFor`.
   */
  readonly overrides: RateLimitOverrides<keyof TLimits & string, PlanName<TLimits>>;
}

/** `transaction` and `using`. */
export interface TransactionMethods<
  TLimits extends LimitConfigs,
  TBy extends PlanBy,
  TTransaction,
> {
  /**
   * Runs `run` in a Serializable transaction of the database. The tokens that it takes and the data
   * that it writes through `tx` are committed together or not at all. After a conflict all of `run`
   * runs again. Any other error of `run` rolls back and is rethrown. Rejects with a
   * `RateLimitStoreError` if the transaction cannot begin or commit, takes too long, or still meets
   * conflicts after `retryFor`.
   *
   * @example
   * const message = await limiter.transaction(async ({ tx, limit }) => {
   *   await limit("sendMessage", { key: userId, throws: true });
   *   return tx.message.create({ data: { visitor: userId, text } });
   * });
   */
  transaction<TResult>(
    run: (scope: JoinedOperations<TLimits, TBy> & { tx: TTransaction }) => Promise<TResult>,
    options?: TransactionOptions,
  ): Promise<TResult>;

  /**
   * The operations inside a transaction that the caller has opened and owns. The operations hold the rows
   * that they touch until the transaction ends. A conflict aborts the transaction, and only its owner can
   * try again.
   *
   * @example
   * await prisma.$transaction(async (tx) => {
   *   await limiter.using(tx).limit("sendMessage", { key: userId, throws: true });
   *   await tx.message.create({ data: { visitor: userId, text } });
   * });
   */
  using(tx: TTransaction): JoinedOperations<TLimits, TBy>;
}
