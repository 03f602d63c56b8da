/** What is particular about a database: how it reads rows, and how it writes them guarded. */
import type { Statements } from "../row-io.js";
import type { RowId } from "../store.js";
import type { PrismaLike, PrismaRaw } from "./client.js";

/** Where statements run. */
export interface Connection {
  client: PrismaRaw;
  /** The table's name, not quoted. */
  table: string;
  /**
   * The client again, where a write may open a transaction of its own; absent inside one of somebody
   * else's. There, reading a row locks it, and conflicts are thrown.
   */
  own: PrismaLike | undefined;
  /**
   * What to do about a row that another transaction has locked, where the database leaves a choice.
   * `"skip"`: take it for changed. `"fail"`: raise a conflict at once, for an owner who will retry;
   * at Serializable a wait would end in one anyway, and two waits can be a deadlock. `"wait"`: for
   * an owner who might not.
   */
  onLocked: "skip" | "fail" | "wait";
}

export interface Dialect {
  /** Whether an error says that others were in the way, and that nothing was written. */
  isConflict(error: unknown): boolean;
  /** See `RowIO.maxTrips`. */
  maxTrips: number;
  /** Whether reads inside a transaction lock rows, and wait for those who have. */
  hasRowLocks: boolean;
  io(connection: Connection): Statements;
  /** See `RateLimitStore.list`. */
  list(
    connection: Connection,
    name: string,
    after: RowId | undefined,
    count: number,
  ): Promise<RowId[]>;
}
