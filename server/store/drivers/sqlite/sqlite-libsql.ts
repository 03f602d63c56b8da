/**
 * `@libsql/client`, on a file or over HTTP. The client's transactions have connections of their own.
 * Statements on a file are synchronous inside, so the store does not send one while a transaction of
 * its own is open.
 *
 * On a file, a statement that was answered SQLITE_BUSY stays open on its connection. Later writes on
 * the connection seem to succeed, but are not committed, and are lost when the statement is collected
 * as garbage. Such losses were seen with 0.8.1, 0.10.0, 0.14.0, 0.15.15 and 0.17.4. So each write has a
 * COMMIT of its own, which fails on such a connection, and the client reconnects after SQLITE_BUSY.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import { isBusy } from "../../sql/sqlite/errors.js";
import type { SqlConnection, SqlDriver, SqlRow } from "../../sql/driver.js";
import type {
  LibsqlClientLike,
  LibsqlExecutor,
  LibsqlTransactionLike,
  SqliteTransactionOf,
} from "./sqlite-clients.js";
import { createSqliteTurn } from "./sqlite-turn.js";

const REPLICA =
  "sqliteStore does not support embedded replicas (syncUrl): their reads are stale, and guarded " +
  "writes would fail until the next sync; give it a client with the URL of the primary";

export function libsqlDriver<TClient extends LibsqlClientLike>(
  client: TClient,
): SqlDriver<SqliteTransactionOf<TClient>> {
  const turn = createSqliteTurn();
  const isFile = client.protocol === "file";
  const { query, execute } = connectionOf(isFile ? committing(client) : client);
  let checking: Promise<void> | undefined;
  const prepare = (): Promise<void> => (checking ??= refuseReplica(client));
  /** Leaves a connection on which later writes would be lost. */
  async function leavingBusy<TResult>(run: () => Promise<TResult>): Promise<TResult> {
    try {
      return await run();
    } catch (error) {
      if (isFile && isBusy(error)) await reconnect(client);
      throw error;
    }
  }
  const alone = <TResult>(run: () => Promise<TResult>, isWanted?: () => boolean) =>
    turn.statement(() => prepare().then(() => leavingBusy(run)), isWanted);
  return {
    dialect: "sqlite",
    query: (text, params, isWanted) => alone(() => query(text, params), isWanted),
    execute: (text, params, isWanted) => alone(() => execute(text, params), isWanted),
    within(tx) {
      const { execute: run, commit } = tx as Partial<LibsqlTransactionLike>;
      if (typeof run === "function" && typeof commit === "function") {
        return connectionOf(tx);
      }
      throw new RateLimitConfigError("tx", tx, 'what client.transaction("write") resolves with');
    },
    transaction: (run, options) =>
      turn.transaction(options, async (bound) => {
        await prepare();
        const tx = await leavingBusy(() => client.transaction("write"));
        try {
          const result = await bound(run(tx as SqliteTransactionOf<TClient>));
          await tx.commit();
          return result;
        } finally {
          // Rolls back what was not committed, and refuses later statements.
          tx.close();
        }
      }),
  };
}

/**
 * Replaces the connection of the client. Without `reconnect`, an empty transaction does so: the client
 * opens another connection after it.
 */
async function reconnect(client: LibsqlClientLike): Promise<void> {
  if (client.reconnect === undefined) (await client.transaction("deferred")).close();
  else await client.reconnect();
}

function connectionOf(executor: LibsqlExecutor): SqlConnection {
  const run = (sql: string, params: readonly unknown[]) =>
    executor.execute({ sql, args: params as never[] });
  return {
    query: async (text, params) => (await run(text, params)).rows as SqlRow[],
    execute: async (text, params) => (await run(text, params)).rowsAffected,
  };
}

/** Commits each write explicitly. */
function committing(client: LibsqlClientLike): LibsqlExecutor {
  return {
    async execute(statement) {
      if (/^\s*SELECT\b/.test(statement.sql)) return client.execute(statement);
      const [result] = await client.batch([statement], "write");
      return result!;
    },
  };
}

/** The errors of `sync` on a plain file. The second one is that of `@libsql/client` 0.8. */
const PLAIN_FILE = /SyncNotSupported|Sync is not supported in databases opened in File mode/;

/**
 * A client does not tell its options, so its `sync` is tried: on a plain file, `sync` is not supported.
 */
async function refuseReplica(client: LibsqlClientLike): Promise<void> {
  if (client.protocol !== "file") return;
  const isPlain = await client.sync().then(
    () => false,
    (error: unknown) => PLAIN_FILE.test(String(error)),
  );
  if (!isPlain) throw new RateLimitConfigError("db", client, { message: REPLICA });
}

export function isLibsql(db: object): db is LibsqlClientLike {
  const { execute, transaction, protocol } = db as Partial<LibsqlClientLike>;
  return (
    typeof execute === "function" &&
    typeof transaction === "function" &&
    typeof protocol === "string"
  );
}
