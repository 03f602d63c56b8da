/** Runs the statements of a store through a Drizzle database or one of its transactions. */
import { bunSqlDriver } from "../store/drivers/bun-sql/bun-sql-driver.js";
import {
  type BunSqlExecutor,
  type BunSqlLike,
  checkBunSql,
} from "../store/drivers/bun-sql/bun-sql-client.js";
import { checkNotAborted, runBounded } from "../store/drivers/pools/bounded-transactions.js";
import { NoTransactionsError } from "../store/sql/connection.js";
import { DIALECTS } from "../store/sql/dialects.js";
import type { DialectName, SqlConnection, SqlDriver, SqlRow } from "../store/sql/driver.js";
import { type DrizzleParts, ON_BUN_SQL } from "./drizzle-parts.js";
import { MarkedQuery } from "./marked-query.js";

/** The methods of databases and transactions, by dialect. */
interface PgOrMySql {
  execute(query: MarkedQuery): PromiseLike<unknown>;
}
interface Sqlite {
  all(query: MarkedQuery): PromiseLike<SqlRow[]>;
  run(query: MarkedQuery): PromiseLike<{ rowsAffected?: number }>;
}

export interface AnyDrizzle {
  transaction<TResult>(
    run: (tx: object) => Promise<TResult>,
    options: { isolationLevel: "read committed" | "serializable" } | { behavior: "immediate" },
  ): Promise<TResult>;
}

export function drizzleDriver(
  db: AnyDrizzle,
  { dialect, hasTransactions, ...parts }: DrizzleParts,
): SqlDriver<object> {
  const isOnBun = ON_BUN_SQL.has(parts.session);
  const { within, ...own } = isOnBun
    ? bunDriver(dialect as "postgresql" | "mysql", parts.client as BunSqlLike)
    : throughDrizzle(db, dialect);
  const { commitHidesFailure, hasLevels } = DIALECTS[dialect];
  const single = { dialect, ...own, within };
  if (!hasTransactions) return { ...single, within: refuseUsing };
  return {
    ...single,
    transaction(run, { isolationLevel, timeout }) {
      const level = isolationLevel === "Serializable" ? "serializable" : "read committed";
      const bounded = runBounded(run, timeout, async (tx) => {
        if (!commitHidesFailure) return;
        await checkNotAborted(() => within(tx).query("SELECT 1", []));
      });
      // Before 1.0, Drizzle's libsql always begins with the write lock.
      return db.transaction(
        bounded,
        hasLevels ? { isolationLevel: level } : { behavior: "immediate" },
      );
    },
  };
}

function refuseUsing(): never {
  throw new NoTransactionsError("using()");
}

type Statements = Omit<SqlDriver<object>, "dialect" | "transaction">;

function throughDrizzle(db: object, dialect: DialectName): Statements {
  const within = (target: object) => CONNECTIONS[dialect](target as PgOrMySql & Sqlite);
  return { ...within(db), within };
}

/**
 * Statements on the client under Drizzle. Bun's client needs parameters in another form than Drizzle
 * passes.
 */
function bunDriver(dialect: "postgresql" | "mysql", client: BunSqlLike): Statements {
  checkBunSql(client, dialect);
  const { query, execute, isExhausted, within } = bunSqlDriver(client, dialect);
  return {
    query,
    execute,
    ...(isExhausted && { isExhausted }),
    within(tx) {
      const { session } = tx as { session?: { client?: BunSqlExecutor } };
      return within(session?.client as BunSqlExecutor);
    },
  };
}

const CONNECTIONS: Record<DialectName, (target: PgOrMySql & Sqlite) => SqlConnection> = {
  /** Drivers resolve with an array, or with an object that has `rows`. */
  postgresql: (target) => {
    const run = async (text: string, params: readonly unknown[]) =>
      (await target.execute(new MarkedQuery(text, params))) as PgAnswer;
    return {
      query: async (text, params) => rowsOf(await run(text, params)),
      execute: async (text, params) => countOf(await run(text, params)),
    };
  },
  /**
   * The driver resolves with an array: first the rows, or a header with the number of rows, and then the
   * fields.
   */
  mysql: (target) => {
    const run = async <TAnswer>(text: string, params: readonly unknown[]) => {
      const [answer] = (await target.execute(new MarkedQuery(text, params))) as [TAnswer];
      return answer;
    };
    return {
      query: (text, params) => run<SqlRow[]>(text, params),
      execute: async (text, params) =>
        (await run<{ affectedRows?: number }>(text, params)).affectedRows ?? 0,
    };
  },
  sqlite: (target) => ({
    query: async (text, params) => target.all(new MarkedQuery(text, params)),
    execute: async (text, params) =>
      (await target.run(new MarkedQuery(text, params))).rowsAffected ?? 0,
  }),
};

type PgAnswer =
  | (SqlRow[] & { count?: number | null })
  | { rows: SqlRow[]; rowCount?: number | null; affectedRows?: number };

function rowsOf(answer: PgAnswer): SqlRow[] {
  return Array.isArray(answer) ? answer : answer.rows;
}

function countOf(answer: PgAnswer): number {
  const count = Array.isArray(answer) ? answer.count : (answer.rowCount ?? answer.affectedRows);
  return count ?? 0;
}
