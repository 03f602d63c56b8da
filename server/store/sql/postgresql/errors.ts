/**
 * The meanings of the errors of PostgreSQL. These errors are no conflicts:
 * - 57014: the statement was cancelled, or took too long. Trying again would load a slow database more.
 * - 40003: the transaction may have been committed.
 */
import { hasCode, hasSetUpCode, PRISMA_CONFLICTS } from "../database-errors.js";

/** A serialization failure, a deadlock, a row that another transaction has locked. */
const CONFLICTS: ReadonlySet<string> = new Set([...PRISMA_CONFLICTS, "40001", "40P01", "55P03"]);
const READ_ONLY: ReadonlySet<string> = new Set(["25006"]);
/** The statement was cancelled, as by `statement_timeout`; too many connections. */
const TOO_BUSY: ReadonlySet<string> = new Set(["57014", "53300"]);
const OUT_OF_RANGE: ReadonlySet<string> = new Set(["22003"]);
const NOT_SUPPORTED: ReadonlySet<string> = new Set(["0A000"]);
const DIVISION_BY_ZERO: ReadonlySet<string> = new Set(["22012"]);

/**
 * A prepared statement that is not there, or is there already, as behind a pooler; and a prepared
 * statement whose plan does not fit its table any more. The code of the last case has other meanings,
 * too.
 */
const UNPREPARED: ReadonlySet<string> = new Set(["26000", "42P05", ...NOT_SUPPORTED]);

export function isConflict(error: unknown): boolean {
  return hasCode(error, CONFLICTS);
}

export function isUnprepared(error: unknown): boolean {
  return hasCode(error, UNPREPARED);
}

export function isReadOnly(error: unknown): boolean {
  return hasCode(error, READ_ONLY);
}

/** A standby refuses Serializable transactions with the code for everything that is not supported. */
export function isPerhapsReadOnly(error: unknown): boolean {
  return isReadOnly(error) || hasCode(error, NOT_SUPPORTED);
}

/**
 * By SQLSTATE. Prisma's codes of raw queries have the form of a SQLSTATE, and are left out: the
 * database's own code is inside such an error.
 */
export function isSetUp(error: unknown): boolean {
  const isOwn = (code: string) =>
    /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) && !/^(08|53|57|58|XX|P[1-9])/.test(code);
  return !isReadOnly(error) && hasSetUpCode(error, isOwn);
}

export function isTooBusy(error: unknown): boolean {
  return hasCode(error, TOO_BUSY);
}

/** Whether arithmetic left the range of doubles. Only the statement fails, not the connection. */
export function isOutOfRange(error: unknown): boolean {
  return hasCode(error, OUT_OF_RANGE);
}

export function isDivisionByZero(error: unknown): boolean {
  return hasCode(error, DIVISION_BY_ZERO);
}
