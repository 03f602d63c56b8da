/** The table of overrides in a SQL database: four statements that all drivers can run. */
import { retryConflicts } from "../retry-conflicts.js";
import type { Call } from "../call.js";
import { overridesName, type OverrideRow, type OverrideTable } from "../override-table.js";
import type { Dialect } from "./dialect.js";
import type { SqlConnection } from "./driver.js";
import type { TableName } from "./sql.js";
import { isMissingTable, storeError } from "./store-error.js";
import { OVERRIDES } from "./table/catalog.js";
import { checkTable } from "./table/check-table.js";
import type { DatabaseClock } from "./table/database-clock.js";

/** Where the table of overrides is, if the table of limits has this name. */
export function overridesBeside(table: TableName): TableName {
  const { overrides, ...limits } = table;
  return { ...limits, ...(overrides ?? { name: overridesName(table.name) }) };
}

interface OverrideTableOptions {
  isConflict(error: unknown): boolean;
  /** Joins a transaction of the caller. Absent where there are none. */
  within?(tx: unknown): SqlConnection;
  /** Creates the table, where a store does that itself. */
  prepare?(): void;
}

/**
 * @param limits the table of the limits.
 * @param clock learns the time of the database from the check of the table. The end of an override
 * goes by it, and calls that overrides answer make no trip that could tell.
 */
export function sqlOverrideTable(
  dialect: Dialect,
  connection: SqlConnection,
  limits: TableName,
  clock: DatabaseClock,
  { isConflict, within, prepare }: OverrideTableOptions,
): OverrideTable {
  const table = overridesBeside(limits);
  let sql = dialect.overrides(table);
  let isReady = false;

  async function attempt<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    // After a suspension, the clock is behind, and calls that overrides answer do not tell.
    if (!isReady || clock.isInDoubt()) {
      prepare?.();
      sql = dialect.overrides(
        table,
        await checkTable(dialect, connection, table, clock, OVERRIDES),
      );
    }
    isReady = true;
    return work();
  }

  async function run<TResult>(
    call: Call | undefined,
    work: (isWanted: () => boolean) => Promise<TResult>,
  ): Promise<TResult> {
    const isWanted = () => !(call?.expired ?? false);
    try {
      return await retryConflicts(() => attempt(() => work(isWanted)), {
        isConflict: (error) => isWanted() && isConflict(error),
      });
    } catch (error) {
      const wrapped = storeError(error, table, dialect);
      if (isMissingTable(wrapped)) isReady = false;
      throw wrapped;
    }
  }

  async function readBy(reader: SqlConnection): Promise<OverrideRow[]> {
    return (await reader.query(sql.read, [])).map((row) => sql.row(row));
  }

  return {
    read: (call) => run(call, () => readBy(connection)),
    ...(within && {
      async readWithin(tx: unknown) {
        try {
          return await readBy(within(tx));
        } catch (error) {
          // Only the owner of the transaction can retry.
          throw isConflict(error) ? error : storeError(error, table, dialect);
        }
      },
    }),
    write: ({ name, key, rule, until, setAt }, call) =>
      run(call, async (isWanted) => {
        const params = [...sql.id(name, key), rule, String(until), String(setAt)];
        await connection.execute(sql.write, params, isWanted);
      }),
    remove: (name, key, call) =>
      run(call, async (isWanted) => {
        return (await connection.execute(sql.remove, sql.id(name, key), isWanted)) > 0;
      }),
    removeEnded: (before, call) =>
      run(call, (isWanted) => connection.execute(sql.removeEnded, [String(before)], isWanted)),
  };
}
