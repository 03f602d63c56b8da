/**
 * SQLite. A statement that writes holds SQLite's write lock from its first step, so one that reads,
 * decides and writes is atomic by itself. It needs no transaction, and avoids the busy errors of a
 * read followed by a write when two processes share a file.
 */
import { capacityOf } from "../../../core/config.js";
import type { Write } from "../plan-writes.js";
import type { RowId } from "../store.js";
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import { isBusy, isWriteConflict } from "./database-errors.js";
import type { Dialect } from "./dialect.js";
import { heldSql, type Operands, tsSql } from "./formula.js";
import type { SqlConnection } from "./driver.js";
import { idsOf, rowIdOf, statesOf, quotedTable, type TableName } from "./sql.js";

const ID = `"name", "key", "shard"`;
const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

/** Over a row `t` and the terms `c`. */
const OPERANDS: Operands = {
  value: () => `t."value"`,
  ts: () => `t."ts"`,
  rate: () => `c."rate"`,
  period: () => `c."period"`,
  capacity: () => `c."capacity"`,
  now: () => `c."now"`,
};

/*
 * Rows are one JSON parameter: SQLite takes at most 32,766 parameters, and D1 takes 100. But a
 * decimal that SQLite parses could differ in the last bit, and then no guard would ever be true. So
 * a double is sent as a whole number and a scale: x = whole / 64^scale, which is exact.
 */

/** A double as a whole number below 2^63 and a scale. */
function scaled(number: number | undefined): [whole: number, scale: number] | null {
  if (number === undefined) return null;
  let [whole, scale] = [number, 0];
  for (; !Number.isInteger(whole); scale++) whole *= 64;
  for (; Math.abs(whole) >= 2 ** 63; scale--) whole /= 64;
  return [whole, scale];
}

/**
 * 64 to the power of `n`, and of `-n`, down to the smallest double. It is computed only as far as a
 * query reads it.
 */
const SCALES = `
  RECURSIVE scales("n", "up", "down") AS (
    VALUES (0, 1.0, 1.0)
    UNION ALL SELECT "n" + 1, "up" * 64, "down" / 64 FROM scales WHERE "n" < 179
  )`;

/** The rows of a parameter, which is a list of lists. */
function listOf(columns: readonly ("id" | "number")[]): string {
  const shown = columns.map((kind, i) => {
    if (kind === "id") return `i."value" ->> ${i}`;
    const whole = `CAST(i."value" ->> '$[${i}][0]' AS REAL)`;
    const scale = `(i."value" ->> '$[${i}][1]')`;
    return `CASE WHEN ${scale} BETWEEN 0 AND 10 THEN ${whole} / (1 << (6 * ${scale})) ELSE
      ${whole} * (SELECT iif(${scale} < 0, "up", "down") FROM scales WHERE "n" = abs(${scale}) LIMIT 1) END`;
  });
  return `SELECT ${shown.join(", ")} FROM json_each(?) AS i`;
}

export function sqlite(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName);

  /**
   * Writes the groups with all guards true, in one statement. A row without a value is only a guard.
   */
  const UPSERT = `
    WITH ${SCALES}, i(${ID}, "value", "ts", "wasValue", "wasTs", "group") AS (
      ${listOf(["id", "id", "id", "number", "number", "number", "number", "id"])}
    ), lost AS (
      SELECT i."group" FROM i LEFT JOIN ${table} AS t ON ${SAME_ROW}
      WHERE t."value" IS NOT i."wasValue" OR t."ts" IS NOT i."wasTs"
    )
    INSERT INTO ${table} (${ID}, "value", "ts")
    SELECT ${ID}, "value", "ts" FROM i
    WHERE "value" IS NOT NULL AND "group" NOT IN (SELECT "group" FROM lost)
    ON CONFLICT (${ID}) DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts"
    RETURNING ${ID}`;

  const upsert = async (connection: SqlConnection, groups: readonly (readonly Write[])[]) => {
    const rows = groups.flatMap((writes, group) =>
      writes.map(({ row, next, was }) => [
        ...idValues(row),
        ...[next?.value, next?.ts, was?.value, was?.ts].map(scaled),
        group,
      ]),
    );
    return idsOf(await connection.query(UPSERT, [JSON.stringify(rows)]));
  };

  const REMOVE = `
    WITH ${SCALES}, i(${ID}, "wasValue", "wasTs") AS (
      ${listOf(["id", "id", "id", "number", "number"])}
    )
    DELETE FROM ${table} WHERE (${ID}) IN (
      SELECT t.${ID.replaceAll(", ", ", t.")} FROM i CROSS JOIN ${table} AS t ON ${SAME_ROW}
      AND t."value" = i."wasValue" AND t."ts" = i."wasTs"
    ) RETURNING ${ID}`;

  return {
    // SQLite has only one writer at a time.
    maxInFlight: 1,
    hasRowLocks: false,
    waitingOutdatesSnapshot: false,
    canUpsert: true,
    conflictEndsTransaction: false,
    isConflict: (error) => isWriteConflict(error) || isBusy(error),

    /** The rows are one JSON parameter, so the text of the statement is always the same. */
    async read(connection, rows) {
      const params = [JSON.stringify(rows.map(idValues))];
      const found = await clock.query((withClock) =>
        // CROSS and LEFT JOIN make the list the outer table, so that rows are found by the primary
        // key. With the clock, a row that does not exist is a row of nulls.
        connection.query(
          `SELECT t.${ID.replaceAll(", ", ", t.")}, t."value", t."ts" ${withClock ? `, ${CLOCK.sqlite}` : ""}
           FROM json_each(?) AS i ${withClock ? "LEFT" : "CROSS"} JOIN ${table} AS t
           ON t."name" = i."value" ->> 0
           AND t."key" = i."value" ->> 1 AND t."shard" = i."value" ->> 2`,
          params,
        ),
      );
      return statesOf(found);
    },

    async take(connection, { config, floor, now }, lines, { isWanted }) {
      const { kind } = config;
      const held = heldSql("sqlite", kind, OPERANDS);
      const textOf = (withClock: boolean) => `
        WITH ${SCALES},
        c("rate", "period", "capacity", "floor", "now") AS (VALUES (?, ?, ?, ?, ?)),
        i(${ID}, "total", "freshValue", "freshTs") AS (
          ${listOf(["id", "id", "id", "number", "number", "number"])}
        ),
        d AS (
          SELECT i.${ID.replaceAll(", ", ", i.")}, i."freshValue", i."freshTs", ${held} - i."total" AS "next", ${tsSql("sqlite", kind, OPERANDS)} AS "nextTs", c."floor"
          FROM i CROSS JOIN c LEFT JOIN ${table} AS t ON ${SAME_ROW}
        )
        INSERT INTO ${table} (${ID}, "value", "ts")
        SELECT ${ID}, coalesce("next", "freshValue"), coalesce("nextTs", "freshTs") FROM d
        WHERE "next" IS NULL OR "next" >= "floor"
        ON CONFLICT (${ID}) DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts"
        RETURNING ${ID}, "value", "ts" ${withClock ? `, ${CLOCK.sqlite}` : ""}`;
      const rows = lines.map(({ row, total, fresh }) => [
        ...idValues(row),
        ...[total, fresh.value, fresh.ts].map(scaled),
      ]);
      const terms = [config.rate, config.period, capacityOf(config), floor, now];
      const params = [...terms, JSON.stringify(rows)];
      return statesOf(
        await clock.query((withClock) => connection.query(textOf(withClock), params, isWanted)),
      );
    },

    update: (connection, groups) =>
      upsert(
        connection,
        groups.map(({ writes }) => writes),
      ),

    insert: (connection, writes) =>
      upsert(
        connection,
        writes.map((write) => [write]),
      ),

    async remove(connection, writes) {
      const rows = writes.map(({ row, was }) => [
        ...idValues(row),
        ...[was!.value, was!.ts].map(scaled),
      ]);
      return idsOf(await connection.query(REMOVE, [JSON.stringify(rows)]));
    },

    async list(connection, name, after, count) {
      const behind = after === undefined ? "" : `AND ("key", "shard") > (?, ?)`;
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE "name" = ? ${behind} ORDER BY "key", "shard" LIMIT ?`,
        [name, ...(after === undefined ? [] : [after.key, after.shard]), count],
      );
      return rows.map(rowIdOf);
    },

    async nextName(connection, after) {
      const [row] = await connection.query(
        `SELECT "name" FROM ${table} ${after === undefined ? "" : `WHERE "name" > ?`}
         ORDER BY "name" LIMIT 1`,
        after === undefined ? [] : [after],
      );
      return row?.["name"] as string | undefined;
    },
  };
}

function idValues({ name, key, shard }: RowId): [string, string, number] {
  return [name, key, shard];
}
