/** The table of a store. It is checked before its first use, and again after it was lost. */
import type { RateLimitState } from "../../../../core/calculate.js";
import type { RowId } from "../../store.js";
import { requestsOwnIo } from "../../../runtime/requests-own-io.js";
import { checkTable, LIMITS } from "./check-table.js";
import type { Connection, Dialect } from "../dialect.js";
import type { DialectName, SqlConnection } from "../driver.js";
import type { KnownTable } from "./known-table.js";
import type { TableName } from "../sql.js";
import { isMissingTable } from "../store-error.js";

interface CheckedTableOptions {
  dialectName: DialectName;
  dialect: Dialect;
  known: KnownTable;
  /** For checks that no transaction makes. */
  connection: SqlConnection;
}

export class CheckedTable {
  #checking: Promise<void> | undefined;
  /** The version that the dialect was prepared for. */
  #preparedFor: string | undefined;
  /** Whether calls may wait for a check that another call has begun. */
  readonly #sharesChecks = !requestsOwnIo();

  constructor(
    readonly name: TableName,
    private readonly options: CheckedTableOptions,
  ) {}

  /**
   * @returns `undefined` when there is nothing to do. After a suspension there is: the first batch
   * would otherwise decide by the time before it.
   */
  prepare(): Promise<void> | undefined {
    const { known, connection } = this.options;
    const isChecked = this.#isChecked() && known.isCheckedAlone;
    if (isChecked && !known.clock.isInDoubt()) return undefined;
    if (!this.#sharesChecks) return this.#check(connection, true);
    this.#checking ??= this.#check(connection, true).finally(() => (this.#checking = undefined));
    return this.#checking;
  }

  /** Runs `work` on the checked table. */
  async checked<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    await this.prepare();
    return work();
  }

  /** A read of the dialect, also as the first statement of a transaction. */
  read(connection: Connection, rows: readonly RowId[]): Promise<Map<string, RateLimitState>> {
    const { dialect } = this.options;
    if (this.#isChecked()) return dialect.read(connection, rows);
    return this.#check(connection, false).then(() => dialect.read(connection, rows));
  }

  /** Takes an error of the store: the next call checks the table again if it is missing. */
  noteError(error: Error): void {
    if (isMissingTable(error)) this.options.known.version = undefined;
  }

  /** @param isAlone whether the connection runs single statements, and no transaction. */
  async #check(connection: SqlConnection, isAlone: boolean): Promise<void> {
    const { dialectName, known } = this.options;
    const { name } = this;
    known.version = await checkTable(dialectName, connection, name, known.clock, LIMITS, isAlone);
    known.isCheckedAlone ||= isAlone;
    this.#isChecked();
  }

  /** Whether the table was checked. Another store on this database may have done so. */
  #isChecked(): boolean {
    const { dialect, known } = this.options;
    const { version } = known;
    if (version === undefined) return false;
    if (version !== this.#preparedFor) {
      dialect.prepare?.(version);
      this.#preparedFor = version;
    }
    return true;
  }
}
