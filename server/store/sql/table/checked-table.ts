/**
 * The table of a store, and whether a statement may be sent to it: the table was checked, and the
 * database's clock is not in doubt. The table is checked before its first use, and again after it was
 * lost.
 */
import type { Row } from "../../../../core/rows/row.js";
import { requestsOwnIo } from "../../../runtime/requests-own-io.js";
import type { RowId } from "../../store.js";
import type { Connection } from "../connection.js";
import type { Dialect, Statements } from "../dialect.js";
import type { SqlConnection, SqlDriver } from "../driver.js";
import type { TableName } from "../sql.js";
import { isMissingTable } from "../store-error.js";
import { LIMITS } from "./catalog.js";
import { checkTable } from "./check-table.js";
import type { DatabaseClock } from "./database-clock.js";
import { type KnownTable, knownTable } from "./known-table.js";

export class CheckedTable {
  readonly clock: DatabaseClock;
  readonly #known: KnownTable;
  /** The statements that `onStatements` was told of. */
  #told: Statements | undefined;
  #checking: Promise<void> | undefined;
  /** Whether calls may wait for a check that another call has begun. */
  readonly #sharesChecks = !requestsOwnIo();

  /**
   * @param driver makes the checks that no transaction makes.
   * @param onStatements is told of the statements before the first of them is sent, and again if
   * another engine answers.
   */
  constructor(
    readonly name: TableName,
    private readonly dialect: Dialect,
    private readonly driver: SqlDriver,
    private readonly onStatements: (statements: Statements) => void = () => {},
  ) {
    this.#known = knownTable(driver, name);
    this.clock = this.#known.clock;
  }

  /** The statements on the table, once it was checked. */
  get statements(): Statements {
    return this.#known.statements!;
  }

  /**
   * @returns `undefined` if a statement may be sent now. After a suspension, no statement may be sent
   * yet: the first batch would otherwise decide by the time before the suspension.
   */
  readonly prepare = (): Promise<void> | undefined => {
    const known = this.#known;
    if (!known.isChecked || !known.isCheckedAlone || known.clock.isInDoubt()) {
      return this.#checkAlone();
    }
    // Another store on this database may have checked the table.
    if (known.statements !== this.#told) this.#tell();
    return undefined;
  };

  /** Runs `work` on the checked table. */
  async checked<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    await this.prepare();
    return work();
  }

  /** Reads rows, also as the first statement of a transaction. */
  async read(connection: Connection, rows: readonly RowId[]): Promise<Map<string, Row>> {
    if (!this.#known.isChecked) await this.#check(connection, false);
    return this.statements.read(connection, rows);
  }

  /** Notes an error of the store. If the table is missing, the next call checks the table again. */
  noteError(error: Error): void {
    if (isMissingTable(error)) this.#known.isChecked = false;
  }

  #checkAlone(): Promise<void> {
    if (!this.#sharesChecks) return this.#check(this.driver, true);
    this.#checking ??= this.#check(this.driver, true).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** @param isAlone whether the connection runs single statements, and no transaction. */
  async #check(connection: SqlConnection, isAlone: boolean): Promise<void> {
    const { name, dialect } = this;
    const known = this.#known;
    const version = await checkTable(dialect, connection, name, known.clock, LIMITS, isAlone);
    if (known.statements === undefined || version !== known.version) {
      known.version = version;
      known.statements = dialect.statements(name, known.clock, version);
    }
    known.isChecked = true;
    known.isCheckedAlone ||= isAlone;
    this.#tell();
  }

  #tell(): void {
    this.#told = this.statements;
    this.onStatements(this.#told);
  }
}
