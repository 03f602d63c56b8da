/**
 * PostgreSQL through `pg`, without an ORM: prepared statements on the application's own pool, or on its
 * single connection.
 */
import { startTimer } from "../../../timers/timer.js";
import { UnsentError } from "../../row-access.js";
import type { SqlConnection, SqlDriver, SqlRow, TransactionDriver } from "../../sql/driver.js";
import { MAX_WAIT, TIMEOUT } from "../../transactions/time-limits.js";
import { LEVELS, ROLLED_BACK } from "../pools/bounded-transactions.js";
import type { Connections } from "../pools/connections.js";
import { listenToClients } from "../pools/lending.js";
import { listenToPool } from "../pools/pool-errors.js";
import { ReadOnlyConnections } from "../pools/read-only-connections.js";
import {
  checkNotInTransaction,
  type PgClientLike,
  pgDatabaseOf,
  type PgPoolLike,
  type PgQuery,
  type PgQueryable,
  type PgResult,
  type PgSingleClientLike,
} from "./pg-client.js";
import {
  createPgConnections,
  type Send,
  sendingNamed,
  sendingNamedIfDirect,
  sendQuery,
} from "./pg-connections.js";
import { PreparedTexts } from "../prepared-texts.js";
import { WriteConflictError } from "../../retry-conflicts.js";

/** How statements are sent through `pg`. */
export interface PgDriverOptions {
  /**
   * Whether statements are prepared once per connection, under names of their own. Turn `prepare` off
   * behind a pooler that does not support prepared statements, such as PgBouncer before 1.21 in
   * transaction mode. A client of Bun has an option of its own, `new SQL(url, { prepare: false })`.
   * @default true
   */
  prepare?: boolean;
}

/**
 * @param prepare `"if direct"` prepares statements outside of transactions, on connections that go to
 * PostgreSQL itself: for an application that did not ask for prepared statements.
 */
export function pgDriver(
  pool: PgPoolLike,
  { prepare = true }: { prepare?: boolean | "if direct" } = {},
): TransactionDriver<PgQueryable> {
  const connections = createPgConnections(pool);
  const readOnly = new ReadOnlyConnections();
  const texts = new PreparedTexts();
  const send =
    prepare === "if direct"
      ? sendingNamedIfDirect(texts)
      : prepare
        ? sendingNamed(texts)
        : sendQuery;
  const sendWithin = prepare === true ? sendingNamedWithin(texts) : sendQuery;
  listenToClients(pool);
  return {
    dialect: "postgresql",
    database: pgDatabaseOf(pool),
    onPoolError: listenToPool(pool),
    ...connectionOf((query, pick, isWanted) =>
      connections.runAlone((client, done) => send(client, query, done), pick, isWanted),
    ),
    within: (client) =>
      connectionOf(async (query, pick) =>
        pick(await readOnly.noting(client, answerOf(sendWithin, client, query))),
      ),
    isExhausted: () => connections.isExhausted(),
    transaction: createPgTransactions(connections, readOnly),
  };
}

/**
 * The driver of a single connection of the application. The driver has no transactions of its own,
 * because statements of the application would become part of them. The client sends one statement at a
 * time.
 */
export function pgClientDriver(
  client: PgSingleClientLike,
  { prepare = true }: PgDriverOptions,
): SqlDriver<PgQueryable> {
  const texts = new PreparedTexts();
  const send = prepare ? sendingNamed(texts) : sendQuery;
  const sendWithin = prepare ? sendingNamedWithin(texts) : sendQuery;
  const connection = connectionOf(async (query, pick, isWanted) => {
    if (isWanted !== undefined && !isWanted()) throw new UnsentError();
    checkNotInTransaction(client);
    const result = await answerOf(send, client, query);
    // A BEGIN of the application may have been in line before the statement.
    checkNotInTransaction(client);
    return pick(result);
  });
  return {
    dialect: "postgresql",
    database: pgDatabaseOf(client),
    ...connection,
    within: (own) =>
      connectionOf(async (query, pick) => pick(await answerOf(sendWithin, own, query))),
  };
}

function createPgTransactions(
  connections: Connections<PgClientLike>,
  readOnly: ReadOnlyConnections,
): TransactionDriver<PgQueryable>["transaction"] {
  return async (run, { isolationLevel, timeout = TIMEOUT, maxWait = MAX_WAIT }) => {
    const client = await connections.borrow(maxWait);
    let hasBegun = false;
    let late: Error | undefined;
    const timer = startTimer(() => {
      late = new Error(`the transaction took longer than ${timeout} ms`);
      // The pool closes the connection, and the database rolls its transaction back.
      client.release(late);
    }, timeout);
    try {
      await client.query({ text: `BEGIN ISOLATION LEVEL ${LEVELS[isolationLevel]}` });
      hasBegun = true;
      const result = await run(client);
      const { command } = await client.query({ text: "COMMIT" });
      // After a failed statement, PostgreSQL answers COMMIT with ROLLBACK, and raises no other error.
      if (command === "ROLLBACK") throw new Error(ROLLED_BACK);
      timer.stop();
      if (late !== undefined) throw late;
      client.release(readOnly.errorOf(client));
      return result;
    } catch (error) {
      timer.stop();
      if (late !== undefined) throw late;
      // If BEGIN has failed, close the connection. A standby refuses to begin a Serializable
      // transaction, by a code that means other things, too.
      if (hasBegun) await rollBack(client, readOnly, error);
      else client.release(true);
      throw error;
    } finally {
      connections.forget(client);
    }
  };
}

/**
 * Rolls back, and gives the connection back. Closes the connection if the rollback fails, or if the
 * connection is read-only.
 */
async function rollBack(
  client: PgClientLike,
  readOnly: ReadOnlyConnections,
  cause: unknown,
): Promise<void> {
  try {
    await client.query({ text: "ROLLBACK" });
    client.release(readOnly.errorOf(client, cause));
  } catch (error) {
    client.release(error instanceof Error ? error : true);
  }
}

/** @param pick reads from the result what the caller wants. */
type Run = <TPicked>(
  query: PgQuery,
  pick: (result: PgResult) => TPicked,
  isWanted?: () => boolean,
) => Promise<TPicked>;

const UNPREPARED =
  "a prepared statement was lost, or does not fit its table after a migration; retry the transaction";

/**
 * Sends named statements inside a transaction. A prepared statement that was lost is a conflict:
 * PostgreSQL rolls the transaction back after the error, and the owner can begin it again.
 */
function sendingNamedWithin(texts: PreparedTexts): Send {
  return sendingNamed(texts, ({ version, error }, done) => {
    texts.renew(version);
    done(new WriteConflictError(UNPREPARED, { cause: error }));
  });
}

function answerOf(send: Send, client: PgQueryable, query: PgQuery): Promise<PgResult> {
  return new Promise((resolve, reject) => {
    send(client, query, (error, result) => {
      if ((error ?? undefined) !== undefined) reject(error);
      else resolve(result!);
    });
  });
}

function connectionOf(run: Run): SqlConnection {
  const queryOf = (text: string, params: readonly unknown[], doublesFrom?: number): PgQuery => ({
    text,
    values: params as unknown[],
    doublesFrom,
  });
  return {
    query: (text, params, isWanted, doublesFrom) =>
      run(queryOf(text, params, doublesFrom), rowsOf, isWanted),
    execute: (text, params, isWanted) => run(queryOf(text, params), countOf, isWanted),
  };
}

const rowsOf = ({ rows }: PgResult) => rows as SqlRow[];

const countOf = ({ rowCount }: PgResult) => rowCount ?? 0;
