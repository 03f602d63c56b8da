/**
 * The parts of the storage of a Durable Object that a store needs. They are structural types, so the
 * package imports none, and works with the storage of the application.
 */

/** A `DurableObjectStorage` with SQLite, such as `ctx.storage`. */
export interface DurableStorageLike {
  /** The SQLite of the object. */
  readonly sql: {
    /** Runs one statement. */
    exec(text: string, ...params: never[]): { toArray(): unknown[]; readonly rowsWritten: number };
  };
  /** Runs a function without an `await` in a transaction. */
  transactionSync<TResult>(run: () => TResult): TResult;
}
