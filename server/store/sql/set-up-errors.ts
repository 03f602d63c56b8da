/**
 * Which errors a database answers with although it works: a table that was renamed, a column that is
 * missing, a right that was revoked. Such an error is no outage, because it stays until somebody mends
 * the set-up, and a limit must not be open until then.
 *
 * So each code of a database counts as one, unless it says that the server is away: it stops or
 * starts, has lost the connection, has no memory or disk left, fails inside, or takes no writes because
 * another server is the primary now. An error without such a code is that of a client without an answer.
 */
import { isReadOnly, someCode } from "./database-errors.js";
import type { DialectName } from "./driver.js";

export function isSetUpError(error: unknown, dialect: DialectName): boolean {
  return !isReadOnly(error) && someCode(error, SET_UP[dialect]);
}

const SET_UP: Record<DialectName, (code: string) => boolean> = {
  // A SQLSTATE. Prisma's codes of raw queries have its form, and the database's own is within.
  postgresql: (code) =>
    PRISMA.has(code) ||
    (/^[0-9A-Z]{5}$/.test(code) && /\d/.test(code) && !/^(08|53|57|58|XX|P[1-9])/.test(code)),
  // Those of the server. 2000 to 2999 are of its client library, and 45000 and more of `mariadb`.
  mysql: (code) =>
    PRISMA.has(code) ||
    NAMED.has(code) ||
    (/^(1\d|[34]\d)\d\d$/.test(code) && !MYSQL_AWAY.has(Number(code))),
  sqlite: (code) =>
    PRISMA.has(code) ||
    /^SQLITE_(ERROR|READONLY|CONSTRAINT|MISMATCH|MISUSE|AUTH|RANGE)/.test(code) ||
    (/^\d+$/.test(code) && SQLITE.has(Number(code) & 255)),
};

/** Tables, columns, databases and rights that are missing, as Prisma and its adapters name them. */
const PRISMA: ReadonlySet<string> = new Set([
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

/** Of `mysql2` where it keeps the name alone. */
const NAMED: ReadonlySet<string> = new Set(["ER_NO_SUCH_TABLE", "ER_BAD_FIELD_ERROR"]);

const MYSQL_AWAY: ReadonlySet<number> = new Set([
  // No disk, no memory, a storage engine that fails, a full table.
  1021, 1030, 1037, 1038, 1041, 1114,
  // The server stops, or has ended the connection.
  1053, 1077, 1078, 1079, 1080, 1152, 1153, 1158, 1159, 1160, 1161, 1184, 1927, 3169, 4031,
  // Galera: the node is not in its cluster. Vitess: 1105 is every error, also one without a primary.
  1047,
  1180, 1105,
]);

/** ERROR, READONLY, CONSTRAINT, MISMATCH, MISUSE, AUTH and RANGE. */
const SQLITE: ReadonlySet<number> = new Set([1, 8, 19, 20, 21, 23, 25]);
