/** Errors of synchronous clients of SQLite that the database itself does not raise. */

/** The connection is not free, so nothing was sent. The call tries again. */
export class SqliteBusyError extends Error {
  override readonly name = "SqliteBusyError";
  readonly code = "SQLITE_BUSY";
}

/** better-sqlite3, while the application iterates over the rows of a statement. */
export function isConnectionBusy(error: unknown): boolean {
  return error instanceof TypeError && error.message.includes("connection is busy");
}
