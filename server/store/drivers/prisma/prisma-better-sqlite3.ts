/**
 * Prisma's adapter for better-sqlite3 has one connection. A statement that a process sends while one of
 * its transactions is open becomes part of that transaction, and is lost if the transaction is rolled
 * back. So each write is a transaction of Prisma, which waits for the other transactions. The
 * transaction always commits, also after an error: a write of the application may have become part of
 * it.
 *
 * Without WAL, a COMMIT is answered SQLITE_BUSY while another process reads. The adapter does not roll
 * back then, and every later statement seems to succeed, inside of a transaction that never ends. No
 * statement tells whether it is inside of a transaction. So the journal has to be a WAL, in which no
 * COMMIT waits.
 */
import { RateLimitConfigError } from "../../../../core/errors.js";
import type { SqlConnection } from "../../sql/driver.js";
import type { PrismaRaw } from "./prisma-client.js";

const NEEDS_WAL =
  "on a file, @prisma/adapter-better-sqlite3 needs a write-ahead log, or it may lose what it has " +
  "answered; run PRAGMA journal_mode = WAL once, which the file remembers, or use " +
  "@prisma/adapter-libsql";

export function isBetterSqlite3(adapterName: unknown): boolean {
  return adapterName === "@prisma/adapter-better-sqlite3";
}

/**
 * @param connection runs statements on the client, outside of transactions.
 * @param transact runs its argument in a transaction of Prisma.
 * @param within the connection of such a transaction.
 */
export function committingAlone(
  connection: SqlConnection,
  transact: (body: (tx: PrismaRaw) => Promise<void>) => Promise<void>,
  within: (tx: PrismaRaw) => SqlConnection,
): SqlConnection {
  let isChecked = false;

  async function check(): Promise<void> {
    if (isChecked) return;
    const [row] = await connection.query("PRAGMA journal_mode", []);
    const mode = row?.["journal_mode"];
    // Only this process can use a database in memory.
    if (mode !== "wal" && mode !== "memory") {
      throw new RateLimitConfigError("journal_mode", mode, { message: NEEDS_WAL });
    }
    isChecked = true;
  }

  async function alone<TResult>(run: (tx: SqlConnection) => Promise<TResult>): Promise<TResult> {
    await check();
    let answer: Promise<TResult> | undefined;
    await transact(async (tx) => {
      answer = run(within(tx));
      await answer.catch(() => {});
    });
    return answer!;
  }

  return {
    async query(text, params) {
      if (!/^\s*SELECT\b/.test(text)) return alone((tx) => tx.query(text, params));
      await check();
      return connection.query(text, params);
    },
    execute: (text, params) => alone((tx) => tx.execute(text, params)),
  };
}
