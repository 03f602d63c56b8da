/** The table of a store in the storage of a Durable Object. The first use creates the table. */
import { checkTable } from "../sql/table/check-table.js";
import { DatabaseClock } from "../sql/table/database-clock.js";
import type { SqlConnection, SqlRow } from "../sql/driver.js";
import { overridesBeside } from "../sql/override-table.js";
import { quotedTable, type TableName } from "../sql/sql.js";
import { sqlite } from "../sql/sqlite/sqlite.js";
import { isMissingTable, storeError } from "../sql/store-error.js";

export class DurableTable {
  readonly clock = new DatabaseClock();
  /** Whether the table was created and checked. */
  #isReady = false;

  constructor(
    private readonly query: (text: string, params: readonly unknown[]) => SqlRow[],
    private readonly name: TableName,
  ) {}

  readonly connection: SqlConnection = {
    query: async (text, params) => this.query(text, params),
    execute: async (text, params) => {
      this.query(text, params);
      const [row] = this.query("SELECT changes() AS n", []);
      return Number(row!["n"]);
    },
  };

  /**
   * Runs `run`, and creates the table again if it is missing: `deleteAll` of the storage also deletes
   * the table.
   */
  async run<TResult>(run: () => TResult | Promise<TResult>): Promise<TResult> {
    try {
      await this.#prepare();
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof Error && isMissingTable(error))) throw error;
        this.#isReady = false;
        await this.#prepare();
        return await run();
      }
    } catch (error) {
      throw this.#wrap(error);
    }
  }

  /** Runs statements page by page. */
  async *pages<TPage>(pages: () => AsyncIterable<TPage>): AsyncGenerator<TPage, void, undefined> {
    try {
      await this.#prepare();
      yield* pages();
    } catch (error) {
      throw this.#wrap(error);
    }
  }

  createOverrides(): void {
    const overrides = quotedTable(overridesBeside(this.name));
    this.query(`CREATE TABLE IF NOT EXISTS ${overrides} (${OVERRIDE_COLUMNS})`, []);
  }

  async #prepare(): Promise<void> {
    if (this.#isReady) return;
    this.query(`CREATE TABLE IF NOT EXISTS ${quotedTable(this.name)} (${COLUMNS})`, []);
    await checkTable(sqlite, this.connection, this.name, this.clock);
    this.#isReady = true;
  }

  #wrap(error: unknown): Error {
    return storeError(error, this.name, sqlite);
  }
}

// As in the package's migrations for SQLite.
const COLUMNS = `"name" TEXT NOT NULL, "key" TEXT NOT NULL DEFAULT '',
  "shard" INTEGER NOT NULL DEFAULT 0, "used" REAL NOT NULL, "ts" REAL NOT NULL,
  PRIMARY KEY ("name", "key", "shard")`;
const OVERRIDE_COLUMNS = `"name" TEXT NOT NULL, "key" TEXT NOT NULL DEFAULT '',
  "rule" TEXT NOT NULL, "until" REAL NOT NULL, "setAt" REAL NOT NULL, PRIMARY KEY ("name", "key")`;
