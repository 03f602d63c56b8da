/** The meanings of the errors of SQLite. The low byte of an extended result code is the code. */
import { hasCode, hasSetUpCode, PRISMA_CONFLICTS, someCode } from "../database-errors.js";

const CONFLICTS: ReadonlySet<string> = new Set(PRISMA_CONFLICTS);

/** SQLITE_BUSY and SQLITE_LOCKED. */
const BUSY: ReadonlySet<number> = new Set([5, 6]);
const BUSY_NAMES = /^(P1008|SocketTimeout|SQLITE_(BUSY|LOCKED)(_\w+)?)$/;

/** ERROR, READONLY, CONSTRAINT, MISMATCH, MISUSE, AUTH and RANGE. */
const SET_UP: ReadonlySet<number> = new Set([1, 8, 19, 20, 21, 23, 25]);
const SET_UP_NAMES = /^SQLITE_(ERROR|READONLY|CONSTRAINT|MISMATCH|MISUSE|AUTH|RANGE)/;

function isOneOf(code: string, codes: ReadonlySet<number>): boolean {
  return /^\d+$/.test(code) && codes.has(Number(code) & 255);
}

export function isConflict(error: unknown): boolean {
  return isBusy(error) || hasCode(error, CONFLICTS);
}

/**
 * Whether SQLite was busy for longer than its time-out, or another connection of this process has
 * locked the table. The statement did not begin. On other databases, the same code of Prisma means a
 * silent connection, which may have carried a write.
 */
export function isBusy(error: unknown): boolean {
  return someCode(error, (code) => BUSY_NAMES.test(code) || isOneOf(code, BUSY));
}

/** There is no other server. A file that cannot be written stays like that. */
export function isReadOnly(): boolean {
  return false;
}

/** SQLite prepares a statement anew by itself. */
export function isUnprepared(): boolean {
  return false;
}

export function isSetUp(error: unknown): boolean {
  return hasSetUpCode(error, (code) => SET_UP_NAMES.test(code) || isOneOf(code, SET_UP));
}

/** A busy file is a conflict. */
export function isTooBusy(): boolean {
  return false;
}
