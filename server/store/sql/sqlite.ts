/**
 * SQLite. A statement that writes holds SQLite's write lock from its first step, so one that reads,
 * decides and writes is atomic by itself. It needs no transaction, and avoids the busy errors of a
 * read followed by a write when two processes share a file.
 */
import { capacityOf, type RateLimitConfig } from "../../../core/config.js";
import type { Write } from "../plan-writes.js";
import type { RowId } from "../store.js";
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import { isBusy, isWriteConflict } from "./database-errors.js";
import type { Dialect } from "./dialect.js";
import { idsOf, placeholders, rowIdOf, statesOf, quotedTable, type TableName } from "./sql.js";

const ID = `"name", "key", "shard"`;
const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

/** The formula of `takeTokens`. Its operations are in the order of `stateAt`. */
const ELAPSED = `max(0.0, c."now" - t."ts")`;
const HELD: Record<RateLimitConfig["kind"], string> = {
  "token bucket": `min(t."value" + ${ELAPSED} * c."rate" / c."period", c."capacity")`,
  // Some builds of SQLite have no floor(), and no number here is below 0.
  "fixed window": `min(t."value" + CAST(${ELAPSED} / c."period" AS INTEGER) * c."rate", c."capacity")`,
};
const TS: Record<RateLimitConfig["kind"], string> = {
  "token bucket": `max(t."ts", c."now")`,
  "fixed window": `t."ts" + CAST(${ELAPSED} / c."period" AS INTEGER) * c."period"`,
};

export function sqlite(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName);

  /**
   * Writes the groups with all guards true, in one statement.
   *
   * Each number is a parameter of its own. A decimal that SQLite parses could differ in the last
   * bit, and then no guard would ever be true.
   */
  const upsertText = (rows: number) => `
    WITH i(${ID}, "value", "ts", "wasValue", "wasTs", "group") AS (
      VALUES ${placeholders(rows, 8)}
    ), lost AS (
      SELECT i."group" FROM i LEFT JOIN ${table} AS t ON ${SAME_ROW}
      WHERE t."value" IS NOT i."wasValue" OR t."ts" IS NOT i."wasTs"
    )
    INSERT INTO ${table} (${ID}, "value", "ts")
    SELECT ${ID}, "value", "ts" FROM i WHERE "group" NOT IN (SELECT "group" FROM lost)
    ON CONFLICT (${ID}) DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts"
    RETURNING ${ID}`;

  const upsertParams = ({ row, next, was }: Write, group: number) => [
    ...idValues(row),
    next!.value,
    next!.ts,
    was?.value ?? null,
    was?.ts ?? null,
    group,
  ];

  return {
    // SQLite has only one writer at a time.
    maxInFlight: 1,
    hasRowLocks: false,
    waitingOutdatesSnapshot: false,
    canUpsert: true,
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
      const held = HELD[config.kind];
      const textOf = (withClock: boolean) => `
        WITH c("rate", "period", "capacity", "floor", "now") AS (VALUES ${placeholders(1, 5)}),
        i(${ID}, "total", "freshValue", "freshTs") AS (VALUES ${placeholders(lines.length, 6)}),
        d AS (
          SELECT i.${ID.replaceAll(", ", ", i.")}, i."freshValue", i."freshTs", ${held} - i."total" AS "next", ${TS[config.kind]} AS "nextTs", c."floor"
          FROM i CROSS JOIN c LEFT JOIN ${table} AS t ON ${SAME_ROW}
        )
        INSERT INTO ${table} (${ID}, "value", "ts")
        SELECT ${ID}, coalesce("next", "freshValue"), coalesce("nextTs", "freshTs") FROM d
        WHERE "next" IS NULL OR "next" >= "floor"
        ON CONFLICT (${ID}) DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts"
        RETURNING ${ID}, "value", "ts" ${withClock ? `, ${CLOCK.sqlite}` : ""}`;
      const params: unknown[] = [config.rate, config.period, capacityOf(config), floor, now];
      for (const { row, total, fresh } of lines) {
        params.push(...idValues(row), total, fresh.value, fresh.ts);
      }
      return statesOf(
        await clock.query((withClock) => connection.query(textOf(withClock), params, isWanted)),
      );
    },

    async update(connection, groups) {
      const params = groups.flatMap((group, index) =>
        group.writes.flatMap((write) => upsertParams(write, index)),
      );
      return idsOf(await connection.query(upsertText(params.length / 8), params));
    },

    async insert(connection, writes) {
      const params = writes.flatMap(upsertParams);
      return idsOf(await connection.query(upsertText(writes.length), params));
    },

    async remove(connection, writes) {
      const text = `
        WITH i(${ID}, "wasValue", "wasTs") AS (VALUES ${placeholders(writes.length, 5)})
        DELETE FROM ${table} WHERE (${ID}) IN (
          SELECT t.${ID.replaceAll(", ", ", t.")} FROM i CROSS JOIN ${table} AS t ON ${SAME_ROW}
          AND t."value" = i."wasValue" AND t."ts" = i."wasTs"
        ) RETURNING ${ID}`;
      const params = writes.flatMap(({ row, was }) => [...idValues(row), was!.value, was!.ts]);
      return idsOf(await connection.query(text, params));
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
