/**
 * Recognises the errors of databases by their codes. A code is the same whatever the driver, but each
 * driver keeps the code in another place, and ORMs wrap the error of the driver. The `errors.ts` of
 * each dialect says what its codes mean.
 */

export interface DatabaseErrors {
  /** Whether another transaction has caused the error, and nothing was written. */
  isConflict(error: unknown): boolean;
  /**
   * Whether a prepared statement was lost, does not fit its table any more, or cannot be prepared.
   * Nothing was run. On PostgreSQL, such an error ends a transaction.
   */
  isUnprepared(error: unknown): boolean;
  /**
   * Whether the server accepts no writes on this connection. The server is a former primary or a
   * standby, and a new connection may find the primary.
   */
  isReadOnly(error: unknown): boolean;
  /**
   * Whether the database works, and refuses the statement: a table was renamed, a column is missing, or
   * a right was revoked. Such an error is no outage: it stays until the set-up is mended, and a limit
   * must not be open until then.
   *
   * So each code of a database counts as an error of the set-up, unless the code says that the server
   * is away. A server that is away stops or starts, has lost the connection, has no memory or disk
   * left, fails inside, or takes no writes because another server is the primary now. An error without
   * a code of the database comes from a client that has got no answer.
   */
  isSetUp(error: unknown): boolean;
  /**
   * Whether a statement was given up because it took too long, or because there are too many
   * connections. Callers can cause such errors.
   */
  isTooBusy(error: unknown): boolean;
}

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
  meta?: { driverAdapterError?: unknown; code?: unknown; message?: unknown } | null;
  /** Prisma 8, Drizzle, libsql, and Prisma's adapters at COMMIT. */
  cause?: unknown;
}

/** Prisma: a write conflict or a deadlock, of an ORM query, and of a raw query or a COMMIT. */
export const PRISMA_CONFLICTS = ["P2034", "TransactionWriteConflict"] as const;

/** Tables, columns, databases and rights that are missing, as Prisma and its adapters name them. */
const PRISMA_SET_UP: ReadonlySet<string> = new Set([
  "P1000",
  "P1003",
  "P1010",
  "P2021",
  "P2022",
  "TableDoesNotExist",
  "ColumnNotFound",
  "DatabaseDoesNotExist",
  "DatabaseAccessDenied",
  "AuthenticationFailed",
]);

/**
 * @param isSetUp tells whether a code of the database is one of the set-up. The codes of Prisma are
 * known here.
 */
export function hasSetUpCode(error: unknown, isSetUp: (code: string) => boolean): boolean {
  return someCode(error, (code) => PRISMA_SET_UP.has(code) || isSetUp(code));
}

/** Whether a connection has gone silent; see `drivers/pools/silent-connections.ts`. */
export function isUnanswered(error: unknown): boolean {
  return someCode(error, (code) => code === "RATE_LIMIT_NO_ANSWER");
}

/** Whether no connection of the pool was free in time. */
export function isPoolWait(error: unknown): boolean {
  return someCode(error, (code) => POOL_WAITS.has(code)) || POOL_WAIT.test(messageOf(error));
}

/** `mariadb` and Prisma. */
const POOL_WAITS: ReadonlySet<string> = new Set(["45028", "P2024"]);

/** The message of `pg`, which has no code for this error. */
const POOL_WAIT = /^timeout exceeded when trying to connect$/;

function messageOf(error: unknown): string {
  const { message } = Object(error) as { message?: unknown };
  return typeof message === "string" ? message : "";
}

/** How many errors deep codes are looked for. A chain of causes can be a cycle. */
const MAX_DEPTH = 6;

/** Whether an error or one of its causes has one of these codes. */
export function hasCode(error: unknown, codes: ReadonlySet<string>): boolean {
  return someCode(error, (code) => codes.has(code));
}

/** Searches the codes of an error and of its causes. */
export function someCode(error: unknown, holds: (code: string) => boolean, depth = 0): boolean {
  if (typeof error !== "object" || error === null || depth === MAX_DEPTH) return false;
  const shape: ErrorShape = error;
  const { code, errno, sqlState, errcode, rawCode, extendedCode, kind, originalCode, meta } = shape;
  const codes = [code, errno, sqlState, errcode, rawCode, extendedCode, kind, originalCode];
  if (kind === "sqlite") codes.push(firstWord(shape.message));
  // Prisma 6.7 to 6.14 has no other sign of a conflict in a raw query through an adapter: the code is
  // "N/A".
  if (meta?.message === "Transaction write conflict") codes.push("TransactionWriteConflict");
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
