/** Tells of a change of plan. */

/** `planChanged`. */
export interface PlanMethods {
  /**
   * Tells open pages that the plan of a key has changed, in this process and, by the channel, in all
   * others. The streams of the pages ask at once which limits the key has now. The `plan` function of the
   * limiter, too, is asked again at the next call. The use is the same under every config, so the first
   * call by the new plan has the tokens that the new plan leaves, and a late call by the old plan takes
   * nothing away. `planChanged` may be called any number of times. Throws `RateLimitInputError` for a key
   * that is not valid.
   *
   * @example
   * await savePlan(userId, "pro"); // in your own table
   * limiter.planChanged(userId);
   */
  planChanged(key: string): void;
}
