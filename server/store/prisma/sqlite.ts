/**
 * Guarded writes on SQLite. A statement that writes holds SQLite's write lock from its first step,
 * so one that checks all guards and then writes is atomic by itself: no transaction, and so none
 * of the busy errors that a read followed by a write gets when two processes share a file.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import type { WriteOutcomes } from "../row-io.js";
import type { Write, WriteGroup } from "../plan.js";
import { rowKey, type RowId } from "../store.js";
import { inTransaction, type PrismaRaw, quoted, Sql } from "./client.js";
import { isBusy, isWriteConflict } from "./conflict.js";
import type { Connection, Dialect } from "./dialect.js";
import { listRows } from "./list-rows.js";
import { GroupLost, writeInSteps } from "./write-steps.js";

const onSameRow = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;

const isConflict = (error: unknown) => isWriteConflict(error) || isBusy(error);

// One trip at a time: SQLite has one writer anyway.
export const sqlite: Dialect = {
  maxTrips: 1,
  hasRowLocks: false,
  isConflict,
  io: sqliteIO,
  list: listRows,
};

function sqliteIO({ client: ours, table: tableName, own }: Connection): ReturnType<Dialect["io"]> {
  const table = quoted(tableName);

  /** Rows go as one JSON parameter, so the statement's text is always the same. */
  async function read(rows: readonly RowId[], client: PrismaRaw = ours) {
    const found = await new Sql()
      .text(`SELECT t."name", t."key", t."shard", t."value", t."ts" FROM json_each(`)
      .value(JSON.stringify(rows.map(({ name, key, shard }) => [name, key, shard])))
      // CROSS JOIN keeps the list outside and the table inside, looked up by its primary key.
      .text(
        `) AS i CROSS JOIN ${table} AS t ON t."name" = i."value" ->> 0 ` +
          `AND t."key" = i."value" ->> 1 AND t."shard" = i."value" ->> 2`,
      )
      .query(client);
    const states = new Map<string, RateLimitState>();
    for (const row of found) {
      states.set(rowKey(row as unknown as RowId), {
        value: Number(row["value"]),
        ts: Number(row["ts"]),
      });
    }
    return states;
  }

  /** Writes the groups whose guards all hold, in one statement; returns the rows written. */
  async function upsert(groups: readonly WriteGroup[], client: PrismaRaw): Promise<Set<string>> {
    const writes = groups.flatMap((group, index) =>
      group.writes.map((item) => ({ ...item, group: index })),
    );
    const written = await appendInput(new Sql(), writes)
      .text(
        `, lost AS (SELECT i."grp" FROM i LEFT JOIN ${table} AS t ON ${onSameRow} ` +
          `WHERE t."value" IS NOT i."wasValue" OR t."ts" IS NOT i."wasTs") ` +
          `INSERT INTO ${table} ("name", "key", "shard", "value", "ts") ` +
          `SELECT "name", "key", "shard", "value", "ts" FROM i ` +
          `WHERE "value" IS NOT NULL AND "grp" NOT IN (SELECT "grp" FROM lost) ` +
          `ON CONFLICT ("name", "key", "shard") ` +
          `DO UPDATE SET "value" = excluded."value", "ts" = excluded."ts" ` +
          `RETURNING "name", "key", "shard"`,
      )
      .query(client);
    return new Set(written.map((row) => rowKey(row as unknown as RowId)));
  }

  /** Deletes the rows that still are as they were; returns those. */
  async function remove(writes: readonly Write[], client: PrismaRaw): Promise<Set<string>> {
    const removed = await appendInput(
      new Sql(),
      writes.map((item, group) => ({ ...item, group })),
    )
      .text(
        ` DELETE FROM ${table} WHERE ("name", "key", "shard") IN (` +
          `SELECT t."name", t."key", t."shard" FROM i CROSS JOIN ${table} AS t ON ${onSameRow} ` +
          `AND t."value" = i."wasValue" AND t."ts" = i."wasTs") RETURNING "name", "key", "shard"`,
      )
      .query(client);
    return new Set(removed.map((row) => rowKey(row as unknown as RowId)));
  }

  /** A group that upserts and deletes takes two statements; the first one takes the write lock. */
  async function writeMixed({ writes }: WriteGroup): Promise<Set<string>> {
    const upserts = writes.filter(({ next }) => next !== null);
    const deletes = writes.filter(isDelete);
    const absent = writes.filter(({ was, next }) => was === null && next === null);
    const run = async (tx: PrismaRaw): Promise<Set<string>> => {
      if (upserts.length > 0) {
        const written = await upsert([{ writes: upserts, decisions: [] }], tx);
        if (written.size !== upserts.length) throw new GroupLost();
      }
      const removed = await remove(deletes, tx);
      if (removed.size !== deletes.length) throw new GroupLost();
      const found = await read(
        absent.map(({ row }) => row),
        tx,
      );
      if (found.size > 0) throw new GroupLost();
      return removed;
    };
    return own === undefined ? run(ours) : inTransaction(own, run);
  }

  function write(groups: readonly WriteGroup[]): Promise<WriteOutcomes> {
    const pure = groups.filter(({ writes }) => !writes.some(isDelete));
    const deleting = groups.filter(({ writes }) => writes.some(isDelete));
    const single = deleting.filter(({ writes }) => writes.length === 1);
    const deletes = single.flatMap(({ writes }) => writes);
    const mixed = deleting.filter(({ writes }) => writes.length > 1);
    const steps = [
      { groups: pure, run: () => upsert(pure, ours) },
      { groups: single, run: () => remove(deletes, ours) },
      ...mixed.map((group) => ({ groups: [group], run: () => writeMixed(group) })),
    ];
    return writeInSteps(steps, own === undefined, isConflict);
  }

  return { read: (rows) => read(rows), write };
}

function isDelete({ was, next }: Write): boolean {
  return was !== null && next === null;
}

/**
 * Numbers go as parameters of their own, bit for bit: a decimal that SQLite parses could differ
 * in the last bit, and then no guard would ever hold.
 */
function appendInput(sql: Sql, writes: readonly (Write & { group: number })[]): Sql {
  sql.text(`WITH i("name", "key", "shard", "value", "ts", "wasValue", "wasTs", "grp") AS (VALUES `);
  return sql
    .list(writes, ({ row, next, was, group }) => {
      const values = [row.name, row.key, row.shard, next?.value ?? null, next?.ts ?? null];
      sql
        .text("(")
        .list([...values, was?.value ?? null, was?.ts ?? null, group], (value) => sql.value(value))
        .text(")");
    })
    .text(")");
}
