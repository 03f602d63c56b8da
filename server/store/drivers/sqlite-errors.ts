/** Errors of SQLite's clients, which say in different places that a database was busy. */

interface ErrorShape {
  code?: unknown;
  /** Of `node:sqlite`: the result code of SQLite. */
  errcode?: unknown;
  message?: unknown;
  cause?: unknown;
}

const BUSY = 5;
/** A table is locked by another connection that shares the cache. */
const LOCKED = 6;

/** The connection is not free, so nothing was sent. The call tries again. */
export class SqliteBusyError extends Error {
  override readonly name = "SqliteBusyError";
  readonly code = "SQLITE_BUSY";
}

/** Whether a statement failed because others use the database, and has written nothing. */
export function isSqliteBusy(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 4) return false;
  const { code, errcode, message, cause }: ErrorShape = error;
  if (typeof code === "string" && /^SQLITE_(BUSY|LOCKED)/.test(code)) return true;
  // The extended codes have the plain one in their lowest byte.
  if (typeof errcode === "number" && [BUSY, LOCKED].includes(errcode & 255)) return true;
  // better-sqlite3, while the application iterates over the rows of a statement.
  if (error instanceof TypeError && /connection is busy/.test(String(message))) return true;
  return isSqliteBusy(cause, depth + 1);
}
