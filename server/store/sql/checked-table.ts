/** The table of a store. It is checked before its first use, and again after it was lost. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { RowId } from "../store.js";
import { checkTable } from "./check-table.js";
import { createDatabaseClock, type DatabaseClock } from "./database-clock.js";
import type { Connection, Dialect } from "./dialect.js";
import type { DialectName, SqlConnection } from "./driver.js";
import type { TableName } from "./sql.js";
import { isMissingTable } from "./store-error.js";

/**
 * What a store has learned about its database. Stores can share it: a worker that makes a store for
 * each request need not ask each time. It holds no promise, because one request of a worker cannot
 * wait for another one.
 */
export interface TableKnowledge {
  isChecked: boolean;
  readonly clock: DatabaseClock;
}

export function createTableKnowledge(): TableKnowledge {
  return { isChecked: false, clock: createDatabaseClock() };
}

interface CheckedTableOptions {
  dialectName: DialectName;
  dialect: Dialect;
  knowledge: TableKnowledge;
  /** For checks that no transaction makes. */
  connection: SqlConnection;
}

export class CheckedTable {
  #checking: Promise<void> | undefined;

  constructor(
    readonly name: TableName,
    private readonly options: CheckedTableOptions,
  ) {}

  /**
   * @returns `undefined` when there is nothing to do. After a suspension there is: the first batch
   * would otherwise decide by the time before it.
   */
  prepare(): Promise<void> | undefined {
    const { knowledge, connection } = this.options;
    if (knowledge.isChecked && !knowledge.clock.isInDoubt) return undefined;
    this.#checking ??= this.#check(connection).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** Runs `work` on the checked table. */
  async checked<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    await this.prepare();
    return work();
  }

  /** A read of the dialect, also as the first statement of a transaction. */
  read(connection: Connection, rows: readonly RowId[]): Promise<Map<string, RateLimitState>> {
    const { dialect, knowledge } = this.options;
    if (knowledge.isChecked) return dialect.read(connection, rows);
    return this.#check(connection).then(() => dialect.read(connection, rows));
  }

  /** Takes an error of the store: the next call checks the table again if it is missing. */
  noteError(error: Error): void {
    if (isMissingTable(error)) this.options.knowledge.isChecked = false;
  }

  async #check(connection: SqlConnection): Promise<void> {
    const { dialectName, dialect, knowledge } = this.options;
    const version = await checkTable(dialectName, connection, this.name, knowledge.clock);
    dialect.prepare?.(version);
    knowledge.isChecked = true;
  }
}
