/** The table of overrides in a SQL database, by statements that all drivers can run. */
import { retryConflicts } from "../retry-conflicts.js";
import type { Call } from "../call.js";
import {
  type OverrideRow,
  type OverrideRowIds,
  overridesName,
  type OverrideTable,
} from "../override-table.js";
import type { Dialect, OverrideStatements } from "./dialect.js";
import type { SqlConnection, SqlRow } from "./driver.js";
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

export interface SqlOverrideTableOptions {
  dialect: Dialect;
  /** Runs the statements of the store itself. */
  connection: SqlConnection;
  /** The table of the limits. */
  limits: TableName;
  /**
   * Learns the time of the database from the check of the table. The end of an override goes by this
   * clock, and calls that overrides answer make no trip that could read it.
   */
  clock: DatabaseClock;
  isConflict(error: unknown): boolean;
  /** Joins a transaction of the caller. Absent where there are no transactions. */
  within?(tx: unknown): SqlConnection;
  /** Creates the table, where a store does that itself. */
  prepare?(): void;
}

export class SqlOverrideTable implements OverrideTable {
  readonly readWithin?: NonNullable<OverrideTable["readWithin"]>;
  readonly writeWithin?: NonNullable<OverrideTable["writeWithin"]>;
  readonly #table: TableName;
  #sql: OverrideStatements;
  #isReady = false;

  constructor(private readonly options: SqlOverrideTableOptions) {
    const { dialect, limits, within } = options;
    this.#table = overridesBeside(limits);
    this.#sql = dialect.overrides(this.#table);
    if (within === undefined) return;
    this.readWithin = (tx, of) =>
      this.#within(() => (of ? this.#readOfBy(within(tx), of) : this.#readBy(within(tx))));
    this.writeWithin = (tx, row) =>
      this.#within(async () => {
        if (row.rule === undefined) return this.#removeBy(within(tx), row);
        await this.#writeBy(within(tx), row);
        return true;
      });
  }

  read(call?: Call): Promise<OverrideRow[]> {
    return this.#run(call, () => this.#readBy(this.options.connection));
  }

  readOf(names: readonly string[], key: string, call?: Call): Promise<OverrideRow[]> {
    return this.#run(call, () => this.#readOfBy(this.options.connection, { names, key }));
  }

  readPage(
    after: Pick<OverrideRow, "name" | "key"> | undefined,
    limit: number,
    call?: Call,
  ): Promise<OverrideRow[]> {
    const { connection } = this.options;
    return this.#run(call, async () => {
      if (after === undefined)
        return this.#rows(await connection.query(this.#sql.readFirst(limit), []));
      const [name, key] = this.#sql.id(after.name, after.key);
      return this.#rows(await connection.query(this.#sql.readAfter(limit), [name, name, key]));
    });
  }

  readChanges(since: number, call?: Call): Promise<{ rows: OverrideRow[]; count: number }> {
    return this.#run(call, async () => {
      const { connection } = this.options;
      const all = this.#rows(await connection.query(this.#sql.readChanges, [String(since)]));
      const rows = all.filter(({ name }) => name !== "");
      return { rows, count: all.find(({ name }) => name === "")!.until };
    });
  }

  async write(row: OverrideRow, call?: Call): Promise<void> {
    const { connection } = this.options;
    await this.#run(call, (isWanted) => this.#writeBy(connection, row, isWanted));
  }

  remove(name: string, key: string, call?: Call): Promise<boolean> {
    const { connection } = this.options;
    return this.#run(call, (isWanted) => this.#removeBy(connection, { name, key }, isWanted));
  }

  removeEnded(before: number, call?: Call): Promise<number> {
    return this.#run(call, (isWanted) =>
      this.options.connection.execute(this.#sql.removeEnded, [String(before)], isWanted),
    );
  }

  async #readBy(reader: SqlConnection): Promise<OverrideRow[]> {
    return this.#rows(await reader.query(this.#sql.read, []));
  }

  async #readOfBy(reader: SqlConnection, { names, key }: OverrideRowIds): Promise<OverrideRow[]> {
    const ids = names.map((name) => this.#sql.id(name, key));
    const params = [...ids.map(([name]) => name), ids[0]![1]];
    return this.#rows(await reader.query(this.#sql.readOf(names.length), params));
  }

  #rows(found: readonly SqlRow[]): OverrideRow[] {
    return found.map((row) => this.#sql.row(row));
  }

  async #writeBy(
    writer: SqlConnection,
    { name, key, rule, until, setAt }: OverrideRow,
    isWanted?: () => boolean,
  ): Promise<number> {
    const params = [...this.#sql.id(name, key), rule, String(until), String(setAt)];
    return writer.execute(this.#sql.write, params, isWanted);
  }

  async #removeBy(
    writer: SqlConnection,
    { name, key }: Pick<OverrideRow, "name" | "key">,
    isWanted?: () => boolean,
  ): Promise<boolean> {
    return (await writer.execute(this.#sql.remove, this.#sql.id(name, key), isWanted)) > 0;
  }

  /** In a transaction of the caller. */
  async #within<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    try {
      return await work();
    } catch (error) {
      const { dialect, isConflict } = this.options;
      // Only the owner of the transaction can retry.
      throw isConflict(error) ? error : storeError(error, this.#table, dialect);
    }
  }

  async #run<TResult>(
    call: Call | undefined,
    work: (isWanted: () => boolean) => Promise<TResult>,
  ): Promise<TResult> {
    const { dialect, isConflict } = this.options;
    const isWanted = () => !(call?.expired ?? false);
    const attempt = async () => {
      await this.#prepare();
      return work(isWanted);
    };
    try {
      return await retryConflicts(attempt, {
        isConflict: (error) => isWanted() && isConflict(error),
      });
    } catch (error) {
      const wrapped = storeError(error, this.#table, dialect);
      if (isMissingTable(wrapped)) this.#isReady = false;
      throw wrapped;
    }
  }

  async #prepare(): Promise<void> {
    const { dialect, connection, clock, prepare } = this.options;
    // After a suspension, the clock is behind, and calls that overrides answer do not read it again.
    if (this.#isReady && !clock.isInDoubt()) return;
    prepare?.();
    const version = await checkTable(dialect, connection, this.#table, clock, OVERRIDES);
    this.#sql = dialect.overrides(this.#table, version);
    this.#isReady = true;
  }
}
