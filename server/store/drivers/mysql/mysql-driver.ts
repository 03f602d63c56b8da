/** MySQL and MariaDB through `mysql2` or `mariadb`, without an ORM, on the application's own pool. */
import type { SqlConnection, SqlRow, TransactionDriver } from "../../sql/driver.js";
import { type Lent, LEVELS, runOnLent } from "../pools/bounded-transactions.js";
import { byPromise, type Connections } from "../pools/connections.js";
import { asError } from "../pools/lending.js";
import { ReadOnlyConnections } from "../pools/read-only-connections.js";
import { isUnprepared } from "../../sql/mysql/errors.js";
import { PreparedTexts } from "../prepared-texts.js";
import type {
  ConnectionInternals,
  MysqlConnectionLike,
  MysqlPoolLike,
  MysqlQuery,
  MysqlQueryable,
} from "./mysql-client.js";
import { createMysqlConnections } from "./mysql-connections.js";

/** How statements are sent through `mysql2` or `mariadb`. */
export interface MysqlDriverOptions {
  /**
   * Whether statements are prepared once per connection. Turn `prepare` off behind a proxy that does
   * not support prepared statements, or that keeps a connection for each client because of them. The
   * driver then escapes values inside the text. Sessions with `NO_BACKSLASH_ESCAPES` are rejected,
   * because `mysql2` escapes by backslashes all the same.
   * @default true
   */
  prepare?: boolean;
}

export function mysqlDriver(
  pool: MysqlPoolLike,
  { prepare = true }: MysqlDriverOptions = {},
): TransactionDriver<MysqlConnectionLike> {
  const connections = createMysqlConnections(pool);
  const readOnly = new ReadOnlyConnections();
  const run = prepare ? createPreparedRunner() : createTextRunner();
  return {
    dialect: "mysql",
    ...connectionOf((query, pick, isWanted) =>
      connections.runAlone(
        byPromise((connection) => run(connection, query)),
        pick,
        isWanted,
      ),
    ),
    within: (tx) =>
      connectionOf(async (query, pick) =>
        pick(await readOnly.noting(tx, run(withPromises(tx), query))),
      ),
    isExhausted: () => connections.isExhausted(),
    transaction: createTransactions(connections, readOnly),
  };
}

function createTransactions(
  connections: Connections<MysqlConnectionLike>,
  readOnly: ReadOnlyConnections,
): TransactionDriver<MysqlConnectionLike>["transaction"] {
  return (run, { isolationLevel, ...bounds }) =>
    runOnLent(connections, bounds, async (lent) => {
      const { client } = lent;
      try {
        // `mariadb` sends both statements before the first one is answered.
        await Promise.all([
          client.query({ sql: `SET TRANSACTION ISOLATION LEVEL ${LEVELS[isolationLevel]}` }),
          client.query({ sql: "START TRANSACTION" }),
        ]);
        const result = await run(client);
        await client.query({ sql: "COMMIT" });
        lent.giveBack(readOnly.errorOf(client));
        return result;
      } catch (error) {
        await rollBack(lent, readOnly, error);
        throw error;
      }
    });
}

/**
 * Rolls back, and gives the connection back. Closes the connection if the rollback fails, or if the
 * connection is read-only.
 */
async function rollBack(
  lent: Lent<MysqlConnectionLike>,
  readOnly: ReadOnlyConnections,
  cause: unknown,
): Promise<void> {
  if (lent.isOver) return;
  try {
    await lent.client.query({ sql: "ROLLBACK" });
    lent.giveBack(readOnly.errorOf(lent.client, cause));
  } catch (error) {
    lent.giveBack(asError(error));
  }
}

type Run = (connection: MysqlQueryable, query: MysqlQuery) => Promise<unknown>;

/**
 * A statement that cannot be prepared is sent as text. Unlike on PostgreSQL, a transaction goes on
 * after the failed attempt.
 */
function createPreparedRunner(): Run {
  const texts = new PreparedTexts();
  const runText = createTextRunner();
  return async (connection, query) => {
    const { version } = texts;
    const sql = texts.of(query.sql);
    if (sql === undefined) return runText(connection, query);
    try {
      return await connection.execute(sql === query.sql ? query : { ...query, sql });
    } catch (error) {
      if (!isUnprepared(error)) throw error;
      const answer = await runText(connection, query);
      texts.renew(version);
      return answer;
    }
  };
}

const UNSAFE =
  "the session has the SQL mode NO_BACKSLASH_ESCAPES, under which values in the text of a " +
  "statement are not safe; leave out `prepare: false`, or the mode";

/** Asks for the SQL mode before the first statement of each store. */
function createTextRunner(): Run {
  let isSafe = false;
  return async (connection, query) => {
    if (!isSafe) {
      const answer = await connection.query({ sql: "SELECT @@sql_mode AS mode", ...OPTIONS });
      if (String(rowsOf(answer)[0]?.["mode"]).includes("NO_BACKSLASH_ESCAPES")) {
        throw new Error(UNSAFE);
      }
      isSafe = true;
    }
    return connection.query({ ...query, ...TEXT_OPTIONS });
  };
}

/** The application may pass the connection of a `mysql2` without promises, in spite of its type. */
function withPromises(connection: MysqlQueryable): MysqlQueryable {
  return (connection as ConnectionInternals).promise?.() ?? connection;
}

/** A pool can have its own `typeCast`. Only another function replaces that function. */
const typeCast = (_field: Field, next: () => unknown) => next();

interface Field {
  type: string;
  string(): string | null;
}

/** Reads doubles from the text of an answer, because `mysql2` reads some of them one bit off. */
function typeCastText(field: Field, next: () => unknown): unknown {
  if (field.type !== "DOUBLE") return next();
  const text = field.string();
  return text === null ? null : Number(text);
}

/** Options of a pool that would change results. Each driver ignores the options of the other driver. */
const OPTIONS = {
  rowsAsArray: false,
  metaAsArray: false,
  nestTables: false,
  namedPlaceholders: false,
  typeCast,
  // `mariadb` puts parameters into the messages of errors.
  logParam: false,
};

const TEXT_OPTIONS = { typeCast: typeCastText };

/** @param pick reads from the answer what the caller wants. */
type RunAndPick = <TPicked>(
  query: MysqlQuery,
  pick: (answer: unknown) => TPicked,
  isWanted?: () => boolean,
) => Promise<TPicked>;

function connectionOf(run: RunAndPick): SqlConnection {
  const queryOf = (sql: string, params: readonly unknown[]): MysqlQuery => ({
    sql,
    values: params as unknown[],
    ...OPTIONS,
  });
  return {
    query: (text, params, isWanted) => run(queryOf(text, params), rowsOf, isWanted),
    execute: (text, params, isWanted) => run(queryOf(text, params), affectedRows, isWanted),
  };
}

/** `mysql2` resolves with the rows and the fields, `mariadb` with the rows. */
function rowsOf(answer: unknown): SqlRow[] {
  const rows = answer as SqlRow[] | [SqlRow[], unknown];
  return Array.isArray(rows[0]) ? rows[0] : (rows as SqlRow[]);
}

/** `mysql2` resolves with a header and `undefined`, `mariadb` with the header. */
function affectedRows(answer: unknown): number {
  const header: unknown = Array.isArray(answer) ? answer[0] : answer;
  return Number((header as { affectedRows: unknown }).affectedRows);
}
