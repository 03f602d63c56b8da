/**
 * Recognises the errors of databases by their codes. A conflict is an error that another transaction
 * has caused, and after which nothing was written. The code is the same whatever the driver, but
 * each driver has another place for it, and ORMs wrap the error of the driver.
 *
 * These are no conflicts:
 * - PostgreSQL 57014 and MySQL 1317, 1969 and 3024: the statement was cancelled, or took too long.
 *   Trying again would load a slow database more.
 * - PostgreSQL 40003, and MariaDB 1180 (Galera: the node has left its cluster during COMMIT). The
 *   transaction may have been committed.
 * - MariaDB 1047 (Galera: the node has not joined its cluster yet). It lasts for seconds, and no
 *   other transaction has caused it. A conflict between two nodes is 1213.
 */

/** An error, or what an ORM keeps of it. */
interface ErrorShape {
  /** `pg`, postgres.js, `mysql2`, `mariadb`, better-sqlite3, libsql, Prisma. */
  code?: unknown;
  /** `mysql2`, `mariadb`. Operating systems use negative numbers here. */
  errno?: unknown;
  /** `mysql2`, `mariadb`, Prisma 8. */
  sqlState?: unknown;
  /** `node:sqlite`. */
  errcode?: unknown;
  /** libsql. */
  rawCode?: unknown;
  extendedCode?: unknown;
  /** The adapters of Prisma. */
  kind?: unknown;
  originalCode?: unknown;
  message?: unknown;
  /** Prisma: the error of the adapter, or without an adapter the code of the database. */
  meta?: { driverAdapterError?: unknown; code?: unknown } | null;
  /** Prisma 8, Drizzle, libsql, and Prisma's adapters at COMMIT. */
  cause?: unknown;
}

const CONFLICTS: ReadonlySet<string> = new Set([
  // Prisma: write conflict or deadlock, of an ORM query, and of a raw query or a COMMIT.
  "P2034",
  "TransactionWriteConflict",
  // PostgreSQL: serialization failure, deadlock, row locked by another.
  "40001",
  "40P01",
  "55P03",
  // MySQL and MariaDB: deadlock, lock wait time-out, row changed since read, row locked by another,
  // and Group Replication's conflict between two servers.
  "1213",
  "ER_LOCK_DEADLOCK",
  "1205",
  "ER_LOCK_WAIT_TIMEOUT",
  "1020",
  "ER_CHECKREAD",
  "3572",
  "ER_LOCK_NOWAIT",
  "3101",
  "ER_TRANSACTION_ROLLBACK_DURING_COMMIT",
]);

/** MySQL and MariaDB. */
const LOCK_TIMEOUTS: ReadonlySet<string> = new Set(["1205", "ER_LOCK_WAIT_TIMEOUT"]);

const OUT_OF_RANGE: ReadonlySet<string> = new Set(["22003", "1690", "ER_DATA_OUT_OF_RANGE"]);

const READ_ONLY: ReadonlySet<string> = new Set([
  "25006",
  "1290",
  "1792",
  "1836",
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_READ_ONLY_MODE",
]);

export function isWriteConflict(error: unknown): boolean {
  return someCode(error, (code) => CONFLICTS.has(code));
}

/**
 * Whether SQLite was busy for longer than its time-out, or another connection of this process has
 * locked the table. Use it only for SQLite, where the statement did not begin. Elsewhere the same
 * code means a silent connection, which may have carried a write.
 */
export function isBusy(error: unknown): boolean {
  return someCode(error, (code) => BUSY.test(code) || isBusyNumber(Number(code)));
}

const BUSY = /^(P1008|SocketTimeout|SQLITE_(BUSY|LOCKED)(_\w+)?)$/;

/** The low byte of an extended result code is the code: SQLITE_BUSY is 5, SQLITE_LOCKED is 6. */
function isBusyNumber(code: number): boolean {
  return Number.isInteger(code) && code > 0 && [5, 6].includes(code & 255);
}

/** Whether a statement waited for a lock for as long as it may. MySQL and MariaDB. */
export function isLockTimeout(error: unknown): boolean {
  return someCode(error, (code) => LOCK_TIMEOUTS.has(code));
}

/**
 * Whether the server accepts no writes on this connection. It is a former primary or a standby, and
 * a new connection may find the primary.
 */
export function isReadOnly(error: unknown): boolean {
  return someCode(error, (code) => READ_ONLY.has(code));
}

/**
 * Whether a transaction may have failed because its server is a standby. A standby of PostgreSQL
 * refuses Serializable transactions with the code of all that is not supported (0A000).
 */
export function isPerhapsReadOnly(error: unknown): boolean {
  return isReadOnly(error) || someCode(error, (code) => code === "0A000");
}

/** PostgreSQL. */
export function isDivisionByZero(error: unknown): boolean {
  return someCode(error, (code) => code === "22012");
}

/** Whether arithmetic left the range of doubles. Only the statement fails, not the connection. */
export function isOutOfRange(error: unknown): boolean {
  return someCode(error, (code) => OUT_OF_RANGE.has(code));
}

/**
 * Whether a statement was given up because it, or the wait for its connection, took too long, or
 * because there are too many connections. Callers can bring that about.
 */
export function isTooBusy(error: unknown): boolean {
  return someCode(error, (code) => TOO_BUSY.has(code)) || isPoolWait(error);
}

/** Whether no connection of the pool was free in time. */
export function isPoolWait(error: unknown): boolean {
  return someCode(error, (code) => POOL_WAITS.has(code)) || POOL_WAIT.test(messageOf(error));
}

/** `mariadb` and Prisma. */
const POOL_WAITS: ReadonlySet<string> = new Set(["45028", "P2024"]);

/** `pg` has no code for it. */
const POOL_WAIT = /^timeout exceeded when trying to connect$/;

function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === "string" ? message : "";
}

const TOO_BUSY: ReadonlySet<string> = new Set([
  // PostgreSQL: the statement was cancelled, as by `statement_timeout`; too many connections.
  "57014",
  "53300",
  // MySQL and MariaDB: the same.
  "1317",
  "1969",
  "3024",
  "1040",
  "1203",
  // This package; see `connections.ts`.
  "RATE_LIMIT_NO_ANSWER",
]);

/** How many errors deep codes are looked for. A chain of causes can be a cycle. */
const MAX_DEPTH = 6;

/** Searches the codes of an error and of its causes. */
export function someCode(error: unknown, holds: (code: string) => boolean, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth === MAX_DEPTH) return false;
  const shape: ErrorShape = error;
  const { code, errno, sqlState, errcode, rawCode, extendedCode, kind, originalCode, meta } = shape;
  const codes = [code, errno, sqlState, errcode, rawCode, extendedCode, kind, originalCode];
  if (kind === "sqlite") codes.push(firstWord(shape.message));
  return (
    [...codes, meta?.code].some((each) => isCode(each) && holds(String(each))) ||
    someCode(meta?.driverAdapterError, holds, depth + 1) ||
    someCode(shape.cause, holds, depth + 1)
  );
}

/** Over HTTP, libsql has no numbers. Prisma's adapter keeps the code only at the start of the message. */
function firstWord(message: unknown): unknown {
  return typeof message === "string" ? message.split(":", 1)[0] : undefined;
}

function isCode(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}
