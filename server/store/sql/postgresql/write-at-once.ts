/**
 * Several kinds of write in one statement, all or nothing, for drivers without transactions. Such
 * statements run only on PostgreSQL itself: other engines refuse two kinds of write on one table.
 */
import type { Write } from "../../plan-writes.js";
import { rowKey } from "../../store.js";
import type { Statements } from "../dialect.js";
import { isDivisionByZero } from "./errors.js";
import { ID, idParams, LOCK_WAIT, of, patience, rowsFrom, SAME_ROW, STATE } from "./text.js";

const ALL = `${ID}, "wasUsed", "wasTs", "used", "ts"`;
const IS_SAME = `${SAME_ROW} AND t."used" = i."wasUsed" AND t."ts" = i."wasTs"`;

/**
 * Locks the rows that exist, and compares all rows. Then it writes. If another statement inserts one
 * of the rows in between, fewer rows are written than wanted, and a division by zero undoes the
 * statement.
 */
const mixedText = (table: string) => `WITH i AS (
    SELECT ${of("i", ALL)} FROM ${rowsFrom(ALL)}
  ), l AS MATERIALIZED (
    SELECT ${of("i", ALL)} FROM i CROSS JOIN LATERAL (
      SELECT 1 FROM ${table} AS t WHERE ${IS_SAME} LIMIT 1 FOR UPDATE OF t SKIP LOCKED
    ) AS t
  ), same AS MATERIALIZED (
    SELECT (SELECT count(*) FROM l) = (SELECT count(*) FROM i WHERE i."wasUsed" IS NOT NULL)
      AND NOT EXISTS (SELECT 1 FROM i JOIN ${table} AS t ON ${SAME_ROW} WHERE i."wasUsed" IS NULL)
      AS "all"
  ), inserted AS (
    INSERT INTO ${table} (${STATE}) SELECT ${of("i", STATE)} FROM i
    WHERE i."wasUsed" IS NULL AND i."used" IS NOT NULL AND (SELECT "all" FROM same)
      AND ${patience(LOCK_WAIT)} <> ''
    ORDER BY ${of("i", ID)} ON CONFLICT DO NOTHING RETURNING 1
  ), updated AS (
    UPDATE ${table} AS t SET "used" = i."used", "ts" = i."ts" FROM l AS i
    WHERE ${IS_SAME} AND i."used" IS NOT NULL AND (SELECT "all" FROM same) RETURNING 1
  ), deleted AS (
    DELETE FROM ${table} AS t USING l AS i
    WHERE ${IS_SAME} AND i."used" IS NULL AND (SELECT "all" FROM same) RETURNING 1
  ), written AS (
    SELECT (SELECT count(*) FROM inserted) + (SELECT count(*) FROM updated)
      + (SELECT count(*) FROM deleted) AS "count"
  )
  SELECT 1 / CASE WHEN written."count" = (
    SELECT count(*) FROM i WHERE i."wasUsed" IS NOT NULL OR i."used" IS NOT NULL
  ) THEN 1 ELSE 0 END AS "written" FROM written CROSS JOIN same WHERE same."all"`;

/** @param table quoted. */
export function postgresqlWriteAtOnce(table: string): NonNullable<Statements["writeAtOnce"]> {
  const text = mixedText(table);
  return async (connection, writes) => {
    try {
      const rows = await connection.query(text, paramsOf(writes));
      return new Set(rows.length === 0 ? [] : writes.map(({ row }) => rowKey(row)));
    } catch (error) {
      if (isDivisionByZero(error)) return new Set();
      throw error;
    }
  };
}

function paramsOf(writes: readonly Write[]): unknown[] {
  return [
    ...idParams(writes.map(({ row }) => row)),
    writes.map(({ was }) => was?.used ?? null),
    writes.map(({ was }) => was?.ts ?? null),
    writes.map(({ next }) => next?.used ?? null),
    writes.map(({ next }) => next?.ts ?? null),
  ];
}
