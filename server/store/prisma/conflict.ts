/**
 * Which database errors mean "others were in the way, and nothing was written". One conflict has
 * several shapes, depending on whether it met an ORM query, a raw query or the COMMIT.
 */

interface ErrorShape {
  code?: unknown;
  kind?: unknown;
  originalCode?: unknown;
  message?: unknown;
  cause?: unknown;
  meta?: { driverAdapterError?: unknown };
}

/** P2034: write conflict or deadlock. P1008: SQLite was busy for longer than its time-out. */
const PRISMA_CODES = new Set(["P2034", "P1008"]);

/**
 * PostgreSQL: serialization failure, deadlock, row locked by another. MySQL and MariaDB: deadlock, lock wait time-out,
 * row changed since read.
 */
const DATABASE_CODES = new Set(["40001", "40P01", "55P03", "1213", "1205", "1020"]);

export function isWriteConflict(error: unknown, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth > 4) return false;
  const { code, kind, originalCode, message, cause, meta } = error as ErrorShape;
  return (
    PRISMA_CODES.has(String(code)) ||
    kind === "TransactionWriteConflict" ||
    DATABASE_CODES.has(String(originalCode)) ||
    (typeof message === "string" && message.includes("SQLITE_BUSY")) ||
    isWriteConflict(meta?.driverAdapterError, depth + 1) ||
    isWriteConflict(cause, depth + 1)
  );
}
