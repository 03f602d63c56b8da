/** PostgreSQL through `pg`, without an ORM: prepared statements on the application's own pool. */
import { UnsentError } from "../row-access.js";
import type { DriverTransactionOptions, SqlConnection, SqlDriver, SqlRow } from "../sql/driver.js";
import { createSqlStore, type SqlStoreOptions } from "../sql/sql-store.js";
import type { RateLimitStore } from "../store.js";

interface PgQuery {
  name?: string;
  text: string;
  values?: unknown[];
}

interface PgResult {
  rows: unknown[];
  rowCount: number | null;
}

/** A client of `pg`, or a `pg.Pool`, as far as it runs statements. */
export interface PgQueryable {
  query(query: PgQuery): Promise<PgResult>;
}

/** A client that a `pg.Pool` has lent. */
export interface PgClientLike extends PgQueryable {
  /** @param error destroys the connection instead of giving it back. */
  release(error?: Error | boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  removeListener(event: "error", listener: (error: Error) => void): unknown;
}

/** A `pg.Pool`, structurally, so that the package imports none. */
export interface PgPoolLike extends PgQueryable {
  connect(callback: (error: Error | undefined, client: PgClientLike | undefined) => void): void;
}

export interface PgDriverOptions {
  /**
   * Whether statements are prepared once per connection, under names of their own. Turn it off
   * behind a pooler that does not support prepared statements, such as PgBouncer before 1.21 in
   * transaction mode.
   * @default true
   */
  prepare?: boolean;
}

export interface PgStoreOptions extends PgDriverOptions {
  /** The table's name, as in `prisma/postgresql/migrations`. @default "RateLimit" */
  table?: string;
  /** The schema of the table. @default the connection's search_path */
  schema?: string;
  /** See `PrismaStoreOptions.isolation`. */
  isolation?: SqlStoreOptions["isolation"];
}

/**
 * A store on a pool of `pg`, 8.11 or later. One store per pool and process: calls that share a
 * store share their round trips. `using` takes a client of `pg` that has begun a transaction.
 *
 * @throws RateLimitConfigError when `isolation` is given and is not `"serializable"`.
 */
export function pgStore(
  pool: PgPoolLike,
  { table = "RateLimit", schema, isolation, ...options }: PgStoreOptions = {},
): RateLimitStore<PgQueryable> {
  return createSqlStore(pgDriver(pool, options), { table: { name: table, schema }, isolation });
}

/** How long to wait for a connection, ms; the default of Prisma. */
const MAX_WAIT = 2000;
/** How long a transaction may take, ms; the default of Prisma. */
const TIMEOUT = 5000;

const LEVELS: Record<DriverTransactionOptions["isolationLevel"], string> = {
  ReadCommitted: "READ COMMITTED",
  Serializable: "SERIALIZABLE",
};

export function pgDriver(
  pool: PgPoolLike,
  { prepare = true }: PgDriverOptions = {},
): SqlDriver<PgQueryable> {
  return {
    dialect: "postgresql",
    ...connectionOf(pool, prepare, (...query) => runAlone(pool, ...query)),
    within: (client) => connectionOf(client, prepare),
    async transaction(run, { isolationLevel, timeout = TIMEOUT, maxWait = MAX_WAIT }) {
      const client = await lend(pool, maxWait);
      let late: Error | undefined;
      const timer = setTimeout(() => {
        late = new Error(`the transaction took longer than ${timeout} ms`);
        // The connection is closed, and the database rolls its transaction back.
        client.release(late);
      }, timeout);
      try {
        await client.query({ text: `BEGIN ISOLATION LEVEL ${LEVELS[isolationLevel]}` });
        const result = await run(client);
        await client.query({ text: "COMMIT" });
        clearTimeout(timer);
        if (late !== undefined) throw late;
        client.release();
        return result;
      } catch (error) {
        clearTimeout(timer);
        if (late !== undefined) throw late;
        await rollBack(client);
        throw error;
      } finally {
        client.removeListener("error", ignore);
      }
    },
  };
}

/** @param runOnce runs a statement that is not part of a transaction. */
function connectionOf(
  client: PgQueryable,
  prepare: boolean,
  runOnce = (query: PgQuery, _isWanted?: () => boolean) => client.query(query),
): SqlConnection {
  const queryOf = (text: string, params: readonly unknown[]): PgQuery => {
    const values = params as unknown[];
    return prepare ? { name: nameOf(text), text, values } : { text, values };
  };
  return {
    query: async (text, params, isWanted) =>
      (await runOnce(queryOf(text, params), isWanted)).rows as SqlRow[],
    execute: async (text, params) => (await runOnce(queryOf(text, params))).rowCount ?? 0,
  };
}

/**
 * Runs a statement on any connection. Unlike the pool's own `query`, it keeps the connection after
 * an error of the statement.
 */
async function runAlone(pool: PgPoolLike, query: PgQuery, isWanted?: () => boolean) {
  const client = await lend(pool);
  let broken: Error | boolean = false;
  try {
    if (isWanted !== undefined && !isWanted()) throw new UnsentError();
    return await client.query(query);
  } catch (error) {
    if (!isAnswer(error)) broken = error instanceof Error ? error : true;
    throw error;
  } finally {
    client.removeListener("error", ignore);
    client.release(broken);
  }
}

/**
 * A connection that breaks rejects its query and also emits an error event. The pool does not
 * listen to the events of a borrowed connection, and an error event without a listener ends the
 * process.
 */
function ignore(): void {}

/**
 * Borrows a connection. By callback, because a connection can break before a promise of it is
 * settled. One that comes after `maxWait` ms goes back to the pool.
 */
function lend(pool: PgPoolLike, maxWait: number = Infinity): Promise<PgClientLike> {
  return new Promise((resolve, reject) => {
    let isLate = false;
    const giveUp = () => {
      isLate = true;
      reject(new Error(`no connection was free within ${maxWait} ms`));
    };
    const timer = maxWait === Infinity ? undefined : setTimeout(giveUp, maxWait);
    pool.connect((error, client) => {
      clearTimeout(timer);
      if (client === undefined) reject(error!);
      else if (isLate) client.release();
      else {
        client.on("error", ignore);
        resolve(client);
      }
    });
  });
}

/** Whether the connection can be kept: the error came from the database, or nothing was sent. */
function isAnswer(error: unknown): boolean {
  const { severity } = error as { severity?: unknown };
  return severity === "ERROR" || error instanceof UnsentError;
}

/** Rolls back and gives the connection back. If that fails, the connection is closed. */
async function rollBack(client: PgClientLike): Promise<void> {
  try {
    await client.query({ text: "ROLLBACK" });
    client.release();
  } catch (error) {
    client.release(error instanceof Error ? error : true);
  }
}

const names = new Map<string, string>();

/**
 * The name of a prepared statement, derived from its text. It is the same in every copy of this
 * module: after a reload, a connection rejects a known name with another text. FNV-1a, 64 bits.
 */
function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) {
    let hash = 0xcbf29ce484222325n;
    for (let i = 0; i < text.length; i++) {
      hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n);
    }
    name = `rate_limit_${hash.toString(36)}`;
    names.set(text, name);
  }
  return name;
}
