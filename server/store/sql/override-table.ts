/** The table of overrides in a SQL database: four statements that all drivers can run. */
import { retryConflicts } from "../retry-conflicts.js";
import type { Call } from "../call.js";
import { overridesName, type OverrideRow, type OverrideTable } from "../override-table.js";
import { checkTable, OVERRIDES } from "./table/check-table.js";
import type { DatabaseClock } from "./table/database-clock.js";
import type { DialectName, SqlConnection } from "./driver.js";
import { isCockroach } from "./engine.js";
import { shownText, storedText } from "./mysql/text.js";
import { shownBits, shownState } from "./postgresql/text.js";
import { quoted, quotedTable, type TableName } from "./sql.js";
import { isMissingTable, storeError } from "./store-error.js";

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
  dialect: DialectName,
  connection: SqlConnection,
  limits: TableName,
  clock: DatabaseClock,
  { isConflict, within, prepare }: OverrideTableOptions,
): OverrideTable {
  const table = overridesBeside(limits);
  const sql = statements(dialect, table);
  const [stored, read] = dialect === "mysql" ? [storedText, shownText] : [asItIs, asItIs];
  let isReady = false;
  let readText = sql.read;

  async function attempt<TResult>(work: () => Promise<TResult>): Promise<TResult> {
    // After a suspension, the clock is behind, and calls that overrides answer do not tell.
    if (!isReady || clock.isInDoubt()) {
      prepare?.();
      const version = await checkTable(dialect, connection, table, clock, OVERRIDES);
      if (dialect === "postgresql" && !isCockroach(version)) readText = sql.readBits;
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
    const rows = await reader.query(readText, []);
    return rows.map(({ name, key, rule, state, until, setAt }): OverrideRow => {
      const id = { name: read(String(name)), key: read(String(key)) };
      const { value, ts } = shownState({ state, value: until, ts: setAt });
      return { ...id, rule: String(rule), until: value, setAt: ts };
    });
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
        const params = [stored(name), stored(key), rule, String(until), String(setAt)];
        await connection.execute(sql.write, params, isWanted);
      }),
    remove: (name, key, call) =>
      run(call, async (isWanted) => {
        return (await connection.execute(sql.remove, [stored(name), stored(key)], isWanted)) > 0;
      }),
    removeEnded: (before, call) =>
      run(call, (isWanted) => connection.execute(sql.removeEnded, [String(before)], isWanted)),
  };
}

function asItIs(text: string): string {
  return text;
}

/** Numbers are sent as text, because some drivers type a parameter by its value. */
function statements(dialect: DialectName, tableName: TableName) {
  const mark = dialect === "mysql" ? "`" : '"';
  const column = (name: string) => quoted(name, mark);
  const table = quotedTable(tableName, mark);
  let count = 0;
  const isNumbered = dialect === "postgresql";
  const text = () => (isNumbered ? `$${++count}::text` : "?");
  const number = () =>
    isNumbered ? `${text()}::float8` : `CAST(? AS ${dialect === "mysql" ? "DOUBLE" : "REAL"})`;
  const started = <TText>(make: () => TText): TText => {
    count = 0;
    return make();
  };
  const [name, key, rule, until, setAt] = ["name", "key", "rule", "until", "setAt"].map(column);
  const replace = [rule, until, setAt].map((each) =>
    dialect === "mysql" ? `${each} = VALUES(${each})` : `${each} = EXCLUDED.${each}`,
  );
  const onConflict =
    dialect === "mysql" ? "ON DUPLICATE KEY UPDATE" : `ON CONFLICT (${name}, ${key}) DO UPDATE SET`;
  return {
    read: `SELECT ${[name, key, rule, until, setAt].join(", ")} FROM ${table}`,
    /** On PostgreSQL; see `shownBits`. */
    readBits: `SELECT ${[name, key, rule].join(", ")}, ${shownBits(until!, setAt!)} FROM ${table}`,
    write: started(
      () =>
        `INSERT INTO ${table} (${[name, key, rule, until, setAt].join(", ")}) ` +
        `VALUES (${[text(), text(), text(), number(), number()].join(", ")}) ` +
        `${onConflict} ${replace.join(", ")}`,
    ),
    remove: started(() => `DELETE FROM ${table} WHERE ${name} = ${text()} AND ${key} = ${text()}`),
    removeEnded: started(() => `DELETE FROM ${table} WHERE ${until} <= ${number()}`),
  };
}
