/**
 * The error that callers receive when the database fails. The message of the error is written to logs,
 * so it never has a parameter of the statement: keys can be e-mail addresses. Drivers and ORMs do put
 * parameters into their messages. So the message is that of the database itself, without the values
 * that the database quotes.
 */
import { RateLimitStoreError } from "../../../core/errors.js";
import { isPoolWait, isUnanswered } from "./database-errors.js";
import type { Dialect } from "./dialect.js";
import type { TableName } from "./sql.js";
import { EngineError } from "./table/check-engine.js";
import { missingTableHint } from "./table/check-table.js";
import { TableError } from "./table/table-error.js";

/** Whether a table or a column is missing, so that the table has to be checked again. */
export function isMissingTable({ message }: Error): boolean {
  return MISSING.test(message);
}

/** @param isSilent whether the database answers nothing at all. */
export function storeError(
  cause: unknown,
  table: TableName,
  { catalog, errors }: Pick<Dialect, "catalog" | "errors">,
  isSilent: () => boolean = () => false,
): RateLimitStoreError {
  if (cause instanceof RateLimitStoreError) return cause;
  const isOwn = cause instanceof TableError || cause instanceof EngineError;
  const said = isOwn ? cause.message : databaseMessage(cause);
  const isMissing = !isOwn && MISSING.test(said);
  const hint = POOLED.test(said)
    ? POOLER_HINT
    : isMissing
      ? ` (${missingTableHint(table, catalog)})`
      : isPoolWait(cause)
        ? LENT_HINT
        : "";
  const isSetUp = isOwn || isMissing || errors.isSetUp(cause);
  const isBusy = isUnanswered(cause) || isPoolWait(cause) || errors.isTooBusy(cause);
  const isOutage = !isSetUp && (!isBusy || isSilent());
  return new RateLimitStoreError(`the rate limit store failed: ${said}${hint}`, {
    cause,
    isOutage,
  });
}

const MISSING = /no such (table|column)|does not exist|doesn't exist/;

/** "prepared statement … does not exist" and "… already exists". */
const POOLED = /prepared statement/;
const POOLER_HINT =
  " (a pooler in transaction mode mixes up prepared statements; give the store `prepare: false`, " +
  "or use PgBouncer 1.21 or later)";

/** `pg` has the same error for a connection that cannot be opened in time. */
const LENT_HINT =
  " (if the database can be reached, the application holds all connections of its pool: hold them " +
  "for a shorter time, or let the pool have more)";

interface MessageShape {
  /** `mysql2` and `mariadb`: the message without the statement. */
  sqlMessage?: unknown;
  /** The adapters of Prisma. */
  originalMessage?: unknown;
  message?: unknown;
  /** Stands in for the message of an error that has none, such as ECONNREFUSED of several addresses. */
  code?: unknown;
  cause?: unknown;
}

/** The message of the deepest cause that has one. Wrappers add the statement and its parameters. */
function databaseMessage(error: unknown, depth = 0): string {
  if (typeof error !== "object" || error === null) return depth === 0 ? clean(String(error)) : "";
  const { sqlMessage, originalMessage, message, code, cause }: MessageShape = error;
  const deeper = depth < MAX_DEPTH ? databaseMessage(cause, depth + 1) : "";
  if (deeper !== "") return deeper;
  const own = [sqlMessage, originalMessage, message].find((each) => isText(each)) ?? code;
  if (isText(own)) return clean(own);
  return depth === 0 ? "an error without a message" : "";
}

/** How many causes are followed. A chain of causes can be a cycle. */
const MAX_DEPTH = 6;

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

/** Where Drizzle and `mariadb` begin to list parameters. */
const PARAMETERS = /\n\s*(params|sql|parameters):[^]*$/i;

/** Where databases quote values. Identifiers stay. */
const QUOTED: readonly [RegExp, string][] = [
  // A value of a wrong type.
  [/: (["'])[^]*\1/, ": $1…$1"],
  // MySQL: a duplicate key, an expression, and a statement, into which a driver may write values.
  [/(Duplicate entry |out of range in |near )'[^]*'/, "$1'…'"],
  // PostgreSQL: a number that is no double.
  [/"[^]*"( is out of range)/, '"…"$1'],
];

/** Where `mariadb` begins to tell of its pool, on a line of its own. */
const POOL_STATE = /\n\s*(?=\(pool connections: )/;

/** Prisma's messages begin with the call site. The database's own message is in the last line. */
function clean(text: string): string {
  let said = text.replace(PARAMETERS, "");
  for (const [pattern, replacement] of QUOTED) said = said.replace(pattern, replacement);
  return said.replace(POOL_STATE, " ").trim().split("\n").at(-1)!;
}
