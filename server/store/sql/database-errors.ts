/**
 * Recognises the errors of databases. A conflict is an error that another transaction has caused,
 * and after which nothing was written. It has several shapes: they depend on the driver, and on
 * whether an ORM query, a raw query or the COMMIT failed.
 */

interface ErrorShape {
  code?: unknown;
  /** The number of an error of MySQL, in `mysql2` and `mariadb`. */
  errno?: unknown;
  kind?: unknown;
  originalCode?: unknown;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
}

/** Prisma: write conflict or deadlock. */
const PRISMA_CODE = "P2034";

/**
 * PostgreSQL: serialization failure, deadlock, row locked by another. MySQL and MariaDB: deadlock,
 * lock wait time-out, row changed since read, row locked by another.
 */
const DATABASE_CODES = new Set(["40001", "40P01", "55P03", "1213", "1205", "1020", "3572"]);

export function isWriteConflict(error: unknown): boolean {
  return someCause(
    error,
    ({ code, errno, kind, originalCode }) =>
      code === PRISMA_CODE ||
      kind === "TransactionWriteConflict" ||
      DATABASE_CODES.has(String(errno)) ||
      DATABASE_CODES.has(String(originalCode)) ||
      DATABASE_CODES.has(String(code)),
  );
}

/**
 * Whether SQLite was busy for longer than its time-out. Use it only for SQLite, where the statement
 * did not begin. Elsewhere the same code means a silent connection, which may have carried a write.
 */
export function isBusy(error: unknown): boolean {
  return someCause(
    error,
    ({ code, message }) =>
      code === "P1008" || (typeof message === "string" && message.includes("SQLITE_BUSY")),
  );
}

/** Whether a row could not be inserted because it exists. MySQL and MariaDB. */
export function isDuplicate(error: unknown): boolean {
  return someCause(
    error,
    ({ errno, kind, originalCode }) =>
      kind === "UniqueConstraintViolation" ||
      [errno, originalCode].some((each) => String(each) === "1062"),
  );
}

/** PostgreSQL. */
export function isDivisionByZero(error: unknown): boolean {
  return someCause(error, ({ code, originalCode }) => code === "22012" || originalCode === "22012");
}

/** Whether arithmetic left the range of doubles. Only the statement fails, not the connection. */
export function isOutOfRange(error: unknown): boolean {
  return someCause(error, ({ code, errno, originalCode }) =>
    [code, errno, originalCode].some((each) => each === "22003" || String(each) === "1690"),
  );
}

/**
 * The database's own message in an error of `mysql2` or `mariadb`. The message of `mariadb` goes on
 * with the statement and its parameters.
 */
export function databaseMessage(error: unknown): string | undefined {
  const { sqlMessage } = (error ?? {}) as { sqlMessage?: unknown };
  return typeof sqlMessage === "string" ? sqlMessage.trim().split("\n")[0] : undefined;
}

/** Searches an error and its causes: Prisma, its adapter and the driver wrap errors. */
function someCause(error: unknown, holds: (shape: ErrorShape) => boolean, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 4) return false;
  const shape: ErrorShape = error;
  return (
    holds(shape) ||
    someCause(shape.meta?.driverAdapterError, holds, depth + 1) ||
    someCause(shape.cause, holds, depth + 1)
  );
}
