/**
 * A dialect: what one kind of database can do, and its statements. Each dialect has a folder of its
 * own, and a line in `dialects.ts`. Engines that share a dialect differ in what its `engines.ts` says.
 */
import type { Row } from "../../../core/rows/row.js";
import type { PeriodicConfig } from "../../../core/config.js";
import type { OverrideRow } from "../override-table.js";
import type { Settled, Write, WriteGroup } from "../plan-writes.js";
import type { TakeLine, TakeOptions } from "../row-access.js";
import type { Decision, FoundRow, RowId } from "../store.js";
import type { FoundSums, SumTerms } from "../sums.js";
import type { Connection } from "./connection.js";
import type { ConnectionAtOnce } from "./connection-at-once.js";
import type { DatabaseErrors } from "./database-errors.js";
import type { SqlConnection, SqlRow } from "./driver.js";
import type { Pruning } from "./prune-page.js";
import type { TableName } from "./sql.js";
import type { Catalog } from "./table/catalog.js";
import type { DatabaseClock } from "./table/database-clock.js";

export interface Dialect {
  /** The mark around names. */
  readonly mark: '"' | "`";
  /** The most batches in flight at once, on different rows. */
  readonly maxInFlight: number;
  /** Whether reads inside a transaction lock rows, and wait for rows that others have locked. */
  readonly hasRowLocks: boolean;
  /** Whether transactions have levels of isolation. Otherwise all transactions are Serializable. */
  readonly hasLevels: boolean;
  /** Whether a client opens a file, which is never silent, and has no pool of connections. */
  readonly isFile: boolean;
  /** Whether the COMMIT of a transaction with a failed statement rolls back without an error. */
  readonly commitHidesFailure: boolean;
  /**
   * Whether a conflict may have rolled a whole transaction back, so that its next statements would be
   * committed one by one. Other databases reject such statements.
   */
  readonly conflictEndsTransaction: boolean;
  /** Whether `Statements.waitingOutdatesSnapshot` is true on any of its engines. */
  readonly mayOutdateSnapshots: boolean;
  /**
   * The text of a statement that bounds, for the rest of a transaction, how long each statement may
   * wait for a lock. The statement takes no snapshot. Absent if the statements have bounds of their
   * own.
   */
  boundLockWaits?(ms: number): string;
  /**
   * The text of a statement that bounds how long each later statement of a transaction may take. Absent if
   * a statement goes on when its caller no longer waits.
   */
  boundStatements?(ms: number): string;
  /** Makes a driver or a client close a connection to a server that accepts no writes. */
  readonly readOnlyProbe?: {
    /** Whether a transaction may have failed because its server accepts no writes. */
    isDue(error: unknown): boolean;
    /** A statement that writes nothing, and that such a server refuses as read-only. */
    text(table: TableName): string;
  };
  readonly errors: DatabaseErrors;
  /** How a table is looked up and checked. */
  readonly catalog: Catalog;
  readonly pruning: Pruning;
  /**
   * The statements on a table of limits.
   *
   * @param clock is read through the statements that select and take rows.
   * @param version what the database reports; see `Catalog.version`.
   */
  statements(table: TableName, clock: DatabaseClock, version: string): Statements;
  /**
   * Applies decisions in one transaction of a client that answers at once. Absent if the dialect has no
   * such client.
   */
  transactAtOnce?(
    table: TableName,
    clock: DatabaseClock,
    connection: ConnectionAtOnce,
  ): (decisions: readonly Decision<unknown>[]) => Settled[];
  /**
   * The statements on a table of overrides.
   *
   * @param version as for `statements`, once it is known.
   */
  overrides(table: TableName, version?: string): OverrideStatements;
}

/**
 * The statements on one table. A row was written if the statement returns it. A row that is missing
 * from the result was not as expected, and was not written.
 */
export interface Statements {
  /**
   * Whether a Serializable transaction that waits for a row fails if the row has changed meanwhile.
   * Such an engine has the locks `"holding"` and `"passing"`.
   */
  readonly waitingOutdatesSnapshot: boolean;
  /** The rows that exist, by `rowKey`. Inside a transaction, `read` locks the rows, if the engine can. */
  read(connection: Connection, rows: readonly RowId[]): Promise<Map<string, Row>>;
  /** See `RowAccess.take`. Absent if the engine cannot take. */
  readonly take?:
    | ((
        connection: SqlConnection,
        lines: readonly TakeLine<PeriodicConfig>[],
        options: TakeOptions,
      ) => Promise<Map<string, Row>>)
    | undefined;
  /** See `RowAccess.takeOne`. Absent if `take` is as short. */
  readonly takeOne?:
    | ((
        connection: SqlConnection,
        line: TakeLine<PeriodicConfig>,
        options: TakeOptions,
      ) => Promise<Row | undefined>)
    | undefined;
  /** See `RowAccess.mixesTerms`. */
  readonly mixesTerms: boolean;
  /**
   * Whether `update` also inserts rows that did not exist and still do not, and guards rows that have
   * to stay absent.
   */
  readonly canUpsert: boolean;
  /**
   * Writes groups of rows that exist, each group only if all of its rows are as they were. Returns
   * the rows that were written, by `rowKey`.
   */
  update(connection: Connection, groups: readonly WriteGroup[]): Promise<ReadonlySet<string>>;
  /** Inserts rows that do not exist. Returns the inserted rows. */
  insert(connection: Connection, writes: readonly Write[]): Promise<ReadonlySet<string>>;
  /** Deletes rows that are as they were. Returns the deleted rows. */
  remove(connection: Connection, writes: readonly Write[]): Promise<ReadonlySet<string>>;
  /**
   * Writes a group of several kinds of write in one statement or one batch, all or nothing, for
   * drivers without transactions. Returns the rows that were written, or none. Absent if the engine
   * cannot.
   */
  readonly writeAtOnce?:
    | ((
        connection: Pick<Connection, "query" | "batch">,
        writes: readonly Write[],
      ) => Promise<ReadonlySet<string>>)
    | undefined;
  /** See `RateLimitStore.list`. */
  list(
    connection: SqlConnection,
    name: string,
    after: RowId | undefined,
    count: number,
    prefix?: string,
  ): Promise<RowId[]>;
  /** See `RateLimitStore.earliest`. */
  earliest(
    connection: SqlConnection,
    name: string,
    prefix: string,
    count: number,
  ): Promise<FoundRow[]>;
  /** See `RateLimitStore.sums`. */
  sums(connection: SqlConnection, name: string, terms: SumTerms): Promise<FoundSums>;
  /** The first name after `after`, in the order of the primary key, found without a scan. */
  nextName(connection: SqlConnection, after: string | undefined): Promise<string | undefined>;
}

/** Numbers are sent as text, because some drivers type a parameter by its value. */
export interface OverrideStatements {
  /** Returns all rows. */
  readonly read: string;
  /** Returns the rows with one of so many names. Parameters: the names and the key of `id`. */
  readonly readOf: (names: number) => string;
  /** Returns the first `limit` rows, by name and key. */
  readonly readFirst: (limit: number) => string;
  /** Returns the first `limit` rows after an `id`. Parameters: `name`, `name` and `key`. */
  readonly readAfter: (limit: number) => string;
  /**
   * Returns the rows that were set at an instant or later, and a row without a name, whose `until` is
   * the number of all rows. The rows and the number are of one snapshot.
   */
  readonly readChanges: string;
  /** Inserts or replaces a row. Parameters: `id`, `rule`, `until` and `setAt`. */
  readonly write: string;
  /** Deletes the row with an `id`. */
  readonly remove: string;
  /** Deletes the rows that have ended by an instant. */
  readonly removeEnded: string;
  /** The name and the key as parameters. */
  id(name: string, key: string): [name: string, key: string];
  /** A row that `read` has returned. */
  row(found: SqlRow): OverrideRow;
}

/** Bounds how long each later statement of a transaction may wait for a lock, ms. */
export async function boundLockWaits(
  dialect: Dialect,
  connection: SqlConnection,
  ms: number,
): Promise<void> {
  if (dialect.boundLockWaits) await connection.execute(dialect.boundLockWaits(ms), []);
}
