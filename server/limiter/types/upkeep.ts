/** Deletes rows. */

/** `prune` and `forget`. */
export interface UpkeepMethods {
  /**
   * Deletes rows that are full again by the limit's own config, by each of its plans, and by its
   * overrides. Resolves with the number of deleted rows. Run `prune` regularly.
   *
   * @example
   * const deleted = await limiter.prune();
   */
  prune(): Promise<number>;

  /**
   * Deletes the rows of a key under all names, also names that this limiter does not know, such as names
   * of calls with a `config`. For users who leave. Resolves with the number of rows deleted. Each
   * deletion is atomic. A call that is in flight meanwhile, or comes later, makes a new row. The
   * overrides of the key go, too, and count as rows. Each round trip is bounded by `timeout`: after a
   * rejection, some rows may be deleted, and the next call deletes the others. Rejects with a
   * `RateLimitInputError` for a missing key: `forget` never deletes the shared bucket.
   *
   * @param key as in other calls; the key is hashed if there is a `hashKey`.
   *
   * @example
   * await limiter.forget(userId); // a user who leaves
   */
  forget(key: string): Promise<number>;
}
