/**
 * The meanings of the errors of MySQL and MariaDB, by their numbers, names and SQLSTATEs. These errors
 * are no conflicts:
 * - 1317, 1969 and 3024: the statement was cancelled, or took too long. Trying again would load a slow
 *   database more.
 * - MariaDB 1180 (Galera: the node has left its cluster during COMMIT). The transaction may have been
 *   committed.
 * - MariaDB 1047 (Galera: the node has not joined its cluster yet). This error lasts for seconds, and
 *   no other transaction has caused it. A conflict between two nodes is 1213.
 */
import { hasCode, hasSetUpCode, PRISMA_CONFLICTS } from "../database-errors.js";

const LOCK_TIMEOUTS: ReadonlySet<string> = new Set(["1205", "ER_LOCK_WAIT_TIMEOUT"]);

/**
 * A deadlock, a wait for a lock that took too long, a row that has changed since it was read, a row
 * that another transaction has locked, and Group Replication's conflict between two servers.
 */
const CONFLICTS: ReadonlySet<string> = new Set([
  ...PRISMA_CONFLICTS,
  "40001",
  "1213",
  "ER_LOCK_DEADLOCK",
  ...LOCK_TIMEOUTS,
  "1020",
  "ER_CHECKREAD",
  "3572",
  "ER_LOCK_NOWAIT",
  "3101",
  "ER_TRANSACTION_ROLLBACK_DURING_COMMIT",
]);

const READ_ONLY: ReadonlySet<string> = new Set([
  "25006",
  "1290",
  "1792",
  "1836",
  "ER_OPTION_PREVENTS_STATEMENT",
  "ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION",
  "ER_READ_ONLY_MODE",
]);

/** The statement was cancelled or took too long; too many connections. */
const TOO_BUSY: ReadonlySet<string> = new Set(["1317", "1969", "3024", "1040", "1203"]);

const OUT_OF_RANGE: ReadonlySet<string> = new Set(["22003", "1690", "ER_DATA_OUT_OF_RANGE"]);

/** Names of errors, for where `mysql2` keeps the name alone. */
const NAMED: ReadonlySet<string> = new Set(["ER_NO_SUCH_TABLE", "ER_BAD_FIELD_ERROR"]);

const AWAY: ReadonlySet<number> = new Set([
  // No disk, no memory, a storage engine that fails, a full table.
  1021, 1030, 1037, 1038, 1041, 1114,
  // The server stops, or has ended the connection.
  1053, 1077, 1078, 1079, 1080, 1152, 1153, 1158, 1159, 1160, 1161, 1184, 1927, 3169, 4031,
  // Galera: the node is not in its cluster. Vitess: 1105 is every error, also one without a primary.
  1047,
  1180, 1105,
]);

/**
 * A prepared statement that is not there, that the server has no room for, that does not fit its table
 * any more, or that a proxy does not prepare.
 */
const UNPREPARED: ReadonlySet<string> = new Set([
  "1243",
  "ER_UNKNOWN_STMT_HANDLER",
  "1461",
  "ER_MAX_PREPARED_STMT_COUNT_REACHED",
  "1615",
  "ER_NEED_REPREPARE",
  "1295",
  "ER_UNSUPPORTED_PS",
]);

export function isConflict(error: unknown): boolean {
  return hasCode(error, CONFLICTS);
}

export function isUnprepared(error: unknown): boolean {
  return hasCode(error, UNPREPARED);
}

export function isReadOnly(error: unknown): boolean {
  return hasCode(error, READ_ONLY);
}

/**
 * By the numbers of the server. Numbers from 2000 to 2999 are of its client library, and from 45000 on
 * of `mariadb`.
 */
export function isSetUp(error: unknown): boolean {
  const isOwn = (code: string) =>
    NAMED.has(code) || (/^(1\d|[34]\d)\d\d$/.test(code) && !AWAY.has(Number(code)));
  return !isReadOnly(error) && hasSetUpCode(error, isOwn);
}

export function isTooBusy(error: unknown): boolean {
  return hasCode(error, TOO_BUSY);
}

/** Whether a statement waited for a lock for as long as it may. */
export function isLockTimeout(error: unknown): boolean {
  return hasCode(error, LOCK_TIMEOUTS);
}

/** Whether arithmetic left the range of doubles. Only the statement fails, not the connection. */
export function isOutOfRange(error: unknown): boolean {
  return hasCode(error, OUT_OF_RANGE);
}
