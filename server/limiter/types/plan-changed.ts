/** Tells of a change of plan. */

/** `planChanged`. */
export interface PlanMethods {
  /**
   * Tells open pages that the plan of a key has changed, in this process and, by the channel, in all
   * others: their streams ask at once which limits the key has now. Nothing else needs it. What was used
   * is the same under every config, so calls by the new plan have what it leaves from the first one on,
   * and a late call by the old plan takes nothing away. It may be called any number of times. Throws
   * `RateLimitInputError` for a key that is not valid.
   *
   * @example
   * await savePlan(userId, "pro"); // in your own table
   * limiter.planChanged(userId);
   */
  planChanged(key: string): void;
}
