/**
 * Cloudflare D1, through the binding of a worker. D1 is SQLite without interactive transactions, but a
 * batch of statements runs in one transaction. Each decision is one statement, or one batch. The types
 * of the binding are structural, so the package imports none.
 */
import { RateLimitConfigError } from "../../../core/errors.js";
import { createSqlStore } from "../sql/create-sql-store.js";
import type { SqlDriver, SqlRow } from "../sql/driver.js";
import type { TableName } from "../sql/sql.js";
import { type SqlStoreOptions, tableOf } from "../sql-store.js";
import type { RateLimitStore } from "../store.js";

/** The answer to one statement. */
export interface D1ResultLike {
  /** The rows, keyed by column. */
  results: unknown[];
  /** The effects of the statement, such as `changes`: how many rows were written. */
  meta: object;
}

/** A prepared statement. */
export interface D1StatementLike {
  /** The statement with its parameters. */
  bind(...params: never[]): D1StatementLike;
  /** Runs the statement. */
  all(): Promise<D1ResultLike>;
}

/** A `D1Database`, such as `env.DB`. */
export interface D1DatabaseLike {
  /** Prepares one statement. */
  prepare(text: string): D1StatementLike;
  /** Runs statements in one transaction. */
  batch(statements: never[]): Promise<D1ResultLike[]>;
  /** Runs text without parameters. */
  exec(text: string): Promise<unknown>;
}

/**
 * Whether `db` is a binding to D1. A session of a binding is not: its reads may be older than its
 * writes.
 */
export function isD1(db: unknown): db is D1DatabaseLike {
  if (typeof db !== "object" || db === null) return false;
  const { prepare, batch, exec } = db as Partial<D1DatabaseLike>;
  return [prepare, batch, exec].every((method) => typeof method === "function");
}

/** Whether `db` is what `withSession` of a binding returns. */
export function isD1Session(db: unknown): boolean {
  const { prepare, batch, getBookmark } = Object(db) as Record<string, unknown>;
  return [prepare, batch, getBookmark].every((method) => typeof method === "function");
}

/** The options of `d1Store`. */
export type D1StoreOptions = Pick<SqlStoreOptions, "table" | "overridesTable">;

const EXPECTED = "a binding to D1, such as env.DB";

/**
 * A store on a D1 database. Make one for each request, or one for each binding: stores on one
 * binding share what they know of the table and of the database's clock.
 *
 * `transaction` and `using` are refused, because D1 has no interactive transactions. `limitAll` and
 * `settle` are exact all the same.
 *
 * @param db the binding, such as `env.DB`. Not a session of it: reads of a session may be stale.
 * @throws RateLimitConfigError when `db` is no binding to D1, or `isolation` is given.
 *
 * @example
 * import { createRateLimiter, d1Store, MINUTE } from "trpc-rate-limit/server";
 *
 * // In a Worker, for each request: `env` is that of its `fetch(request, env)`.
 * const inWorker = createRateLimiter({
 *   store: d1Store(env.DB),
 *   limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE } },
 * });
 */
export function d1Store(db: D1DatabaseLike, options: D1StoreOptions = {}): RateLimitStore<never> {
  const problem = problemOf(db);
  if (problem !== undefined) throw new RateLimitConfigError("db", db, problem);
  return createD1Store(db, tableOf(options), (options as SqlStoreOptions).isolation);
}

/** @param isolation the option that the caller has given, which is refused. */
export function createD1Store(
  db: D1DatabaseLike,
  table: TableName,
  isolation: unknown,
): RateLimitStore<never> {
  if (isolation !== undefined) {
    const expected =
      "left out: D1 has no interactive transactions, and decisions are exact without";
    throw new RateLimitConfigError("isolation", isolation, expected);
  }
  return withoutTransactions(createSqlStore(d1Driver(db), { table, isRemote: true }));
}

const INSTEAD =
  "D1 has no interactive transactions; call limit() first, write by db.batch(), and give the tokens " +
  "back by refund() if that fails";

/** A store that says why it has no transactions. */
export function withoutTransactions(store: RateLimitStore): RateLimitStore<never> {
  return {
    ...store,
    using(tx) {
      throw new RateLimitConfigError("tx", tx, { message: `using() cannot work: ${INSTEAD}` });
    },
    async transaction() {
      const message = `transaction() cannot work: ${INSTEAD}`;
      throw new RateLimitConfigError("db", undefined, { message });
    },
  };
}

function d1Driver(db: D1DatabaseLike): SqlDriver {
  const prepared = (text: string, params: readonly unknown[]): D1StatementLike => {
    const statement = db.prepare(text);
    return params.length === 0 ? statement : statement.bind(...(params as never[]));
  };
  return {
    dialect: "sqlite",
    // A worker has one object per binding for all requests.
    database: db,
    query: async (text, params) => (await prepared(text, params).all()).results as SqlRow[],
    async execute(text, params) {
      const { meta } = await prepared(text, params).all();
      return Number((meta as { changes?: unknown }).changes ?? 0);
    },
    async batch(statements) {
      const all = statements.map(({ text, params }) => prepared(text, params));
      return (await db.batch(all as never[])).map(({ results }) => results as SqlRow[]);
    },
    within: (tx) => {
      throw new RateLimitConfigError("tx", tx, { message: INSTEAD });
    },
    isConflict: isD1Busy,
  };
}

/** Whether D1 was busy. D1 has codes only in its messages. After these errors, nothing was written. */
export function isD1Busy(error: unknown): boolean {
  return error instanceof Error && /\bSQLITE_(BUSY|LOCKED)/.test(error.message);
}

/**
 * Says what is wrong with a binding, and what to pass instead; `undefined` if the binding can be used.
 */
function problemOf(db: unknown): string | undefined {
  if (isD1(db)) return undefined;
  if (isD1Session(db)) return `${EXPECTED}, and not a session of it, whose reads may be stale`;
  const { $client, $queryRawUnsafe, sql, storage } = Object(db) as Record<string, unknown>;
  if (isD1($client)) return `${EXPECTED}, and not a Drizzle database: use drizzleStore, or env.DB`;
  if ($queryRawUnsafe !== undefined) return `${EXPECTED}, and not a Prisma client: pass env.DB`;
  if (sql !== undefined || storage !== undefined) {
    return `${EXPECTED}: use durableStore(ctx.storage) in a Durable Object`;
  }
  return EXPECTED;
}
