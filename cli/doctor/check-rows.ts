/** Finds rows with a time ahead of the database's time, and the difference of the clocks. */
import { RESERVED_PREFIX } from "../../core/rows/side-rows.js";
import { DIALECTS } from "../../server/store/sql/dialects.js";
import { DatabaseClock } from "../../server/store/sql/table/database-clock.js";
import type { DialectName, SqlConnection } from "../../server/store/sql/driver.js";
import { quotedTable, type TableName } from "../../server/store/sql/sql.js";
import { failure, type Finding, ok, warning } from "./finding.js";

/** A smaller difference of the clocks is normal, ms. */
const TOLERANCE = 1000;
/** The most names that are shown. */
const SHOWN = 5;

/** The difference, ms: positive if the database is ahead. */
export async function readClockDifference(
  dialect: DialectName,
  connection: SqlConnection,
): Promise<number> {
  const clock = new DatabaseClock();
  const learn = clock.due();
  learn?.(await connection.query(`SELECT ${DIALECTS[dialect].catalog.clock}`, []));
  return clock.now() - Date.now();
}

export function clockFinding(difference: number): Finding {
  const seconds = (Math.abs(difference) / 1000).toFixed(1);
  if (Math.abs(difference) <= TOLERANCE) {
    return ok("clock", "this machine's clock and the database's agree to the second");
  }
  return warning(
    "clock",
    `this machine's clock is ${seconds} s ${difference > 0 ? "behind" : "ahead of"} the database's`,
    "set the clocks by NTP. Limits go by the database's clock, but memoryStore goes by this machine's",
  );
}

/** @param difference as `readClockDifference` returns it. */
export async function checkRows(
  dialect: DialectName,
  connection: SqlConnection,
  table: TableName,
  difference: number,
): Promise<Finding> {
  const { mark } = DIALECTS[dialect];
  const [name, used, ts] = ["name", "used", "ts"].map((column) => mark + column + mark);
  const limit = Math.ceil(Date.now() + difference + TOLERANCE);
  const rows = await connection.query(
    `SELECT ${name} AS ${name}, count(*) AS ${mark}rows${mark}, max(${ts}) AS ${ts} ` +
      `FROM ${quotedTable(table, mark)} WHERE ${ts} > ${limit} ` +
      // Leave out closed buckets: their `ts` is the instant at which they open. Leave out the package's
      // own rows: their `ts` may be in the future.
      `AND ${used} < 1e60 AND ${name} NOT LIKE '${RESERVED_PREFIX}%' ` +
      `GROUP BY ${name} ORDER BY ${name}`,
    [],
  );
  if (rows.length === 0) return ok("future", "no row is from the future");
  const shown = rows
    .slice(0, SHOWN)
    .map((row) => `${Number(row["rows"])} of ${String(row["name"])} (until ${dateOf(row["ts"])})`);
  const more = rows.length > SHOWN ? `, and ${rows.length - SHOWN} other limits` : "";
  return failure(
    "future",
    `rows are from the future, and get no tokens until then: ${shown.join(", ")}${more}`,
    "a machine whose clock was ahead has written them; limiter.reset(name, { key }) heals a row",
  );
}

function dateOf(ts: unknown): string {
  const date = new Date(Number(ts));
  return Number.isNaN(date.getTime()) ? String(ts) : date.toISOString();
}
