/**
 * Guarded writes on PostgreSQL, in single statements at READ COMMITTED, whatever the number of
 * rows. A statement first locks the rows that still are as they were, and then writes only those;
 * a lock taken with `FOR UPDATE` is granted on the newest version, so the guard holds until commit.
 *
 * Rows locked by others are skipped rather than waited for: whoever holds one is about to change
 * it, so the guard would fail after the wait. That also rules out deadlocks between batches.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import type { Tell, WriteOutcomes } from "../row-io.js";
import type { Write, WriteGroup } from "../plan.js";
import { rowKey, type RowId } from "../store.js";
import { inTransaction, type PrismaRaw, quoted, Sql } from "./client.js";
import { isWriteConflict } from "./conflict.js";
import type { Connection, Dialect } from "./dialect.js";
import { listRows } from "./list-rows.js";
import { GroupLost, writeInSteps } from "./write-steps.js";

const SAME_ROW = `t."name" = i."name" AND t."key" = i."key" AND t."shard" = i."shard"`;
const ID = `"name", "key", "shard"`;
/** How long an insert may wait for another transaction's insert of the same row, ms. */
const INSERT_WAIT = 50;

export const postgresql: Dialect = {
  maxTrips: 2,
  hasRowLocks: true,
  isConflict: isWriteConflict,
  io: postgresqlIO,
  list: listRows,
};

function postgresqlIO({
  client: ours,
  table: tableName,
  own,
  onLocked,
}: Connection): ReturnType<Dialect["io"]> {
  const table = quoted(tableName);
  const joined = own === undefined;
  const lock = `FOR UPDATE OF t${{ skip: " SKIP LOCKED", fail: " NOWAIT", wait: "" }[onLocked]}`;

  async function read(rows: readonly RowId[], client: PrismaRaw = ours) {
    const found = await new Sql()
      .text(`SELECT t.* FROM unnest(`)
      .array(rows, ({ name }) => name, "text")
      .text(", ")
      .array(rows, ({ key }) => key, "text")
      .text(", ")
      .array(rows, ({ shard }) => shard, "int")
      .text(`) AS i(${ID}) CROSS JOIN LATERAL (SELECT ${ID}, "value", "ts" `)
      .text(`FROM ${table} AS t WHERE ${SAME_ROW} LIMIT 1${joined ? ` ${lock}` : ""}) AS t`)
      .query(client);
    return new Map(
      found.map((row) => [
        rowKey(row as unknown as RowId),
        { value: row["value"], ts: row["ts"] } as RateLimitState,
      ]),
    );
  }

  /** One row, without the machinery for many: one lookup by the primary key. */
  async function writeOne({ row, was, next }: Write): Promise<Set<string>> {
    const sql = new Sql();
    if (was === null && next !== null) {
      sql.text(`INSERT INTO ${table} (${ID}, "value", "ts") VALUES (`);
      sql.list([row.name, row.key, row.shard, next.value, next.ts], (value) => sql.value(value));
      sql.text(`) ON CONFLICT (${ID}) DO NOTHING`);
    } else {
      if (next === null) sql.text(`DELETE FROM ${table}`);
      else {
        sql.text(`UPDATE ${table} SET "value" = `).value(next.value);
        sql.text(`, "ts" = `).value(next.ts);
      }
      sql.text(` WHERE "name" = `).value(row.name).text(` AND "key" = `).value(row.key);
      sql.text(` AND "shard" = `).value(row.shard);
      sql.text(` AND "value" = `).value(was!.value).text(` AND "ts" = `).value(was!.ts);
    }
    return new Set((await sql.execute(ours)) > 0 ? [rowKey(row)] : []);
  }

  /**
   * Writes every group of which all existing rows could be locked as they were; returns the rows
   * written. A group that also inserts can turn out incomplete, so it needs a transaction around.
   */
  async function writeMany(
    groups: readonly WriteGroup[],
    client: PrismaRaw,
    tell?: Tell,
  ): Promise<Set<string>> {
    const writes = groups.flatMap((group, index) =>
      group.writes.map((item) => ({ ...item, group: index })),
    );
    const sql = new Sql().text(`WITH i AS (SELECT * FROM unnest(`);
    const column = (pick: (write: (typeof writes)[number]) => unknown, type: string) =>
      sql.array(writes, pick, type);
    column(({ row }) => row.name, "text").text(", ");
    column(({ row }) => row.key, "text").text(", ");
    column(({ row }) => row.shard, "int").text(", ");
    column(({ next }) => next?.value ?? null, "float8").text(", ");
    column(({ next }) => next?.ts ?? null, "float8").text(", ");
    column(({ was }) => was?.value ?? null, "float8").text(", ");
    column(({ was }) => was?.ts ?? null, "float8").text(", ");
    column(({ group }) => group, "int");
    sql.text(`) WITH ORDINALITY AS i(${ID}, "value", "ts", "wasValue", "wasTs", "grp", "n"))`);

    // LATERAL and LIMIT keep the planner to one look-up by the primary key per row. Left to itself
    // it hashes the whole table, which took twice as long for 256 of 10,000 rows. Of the ways to
    // write this, the plain UPDATE … FROM was as fast, and waits; locking in a CTE was slower.
    const locked =
      `(SELECT i.*, t."at" FROM i CROSS JOIN LATERAL (SELECT t.ctid AS "at" FROM ${table} AS t ` +
      `WHERE ${SAME_ROW} AND t."value" = i."wasValue" AND t."ts" = i."wasTs" LIMIT 1 ${lock}) AS t)`;
    let source = locked;
    let complete = "";
    // Where each group is one row, locking the row has locked the group.
    if (groups.some(({ writes: { length } }) => length > 1)) {
      sql.text(
        `, l AS MATERIALIZED ${locked}, g AS MATERIALIZED (SELECT i."grp" FROM i ` +
          `LEFT JOIN (SELECT "grp", count(*) AS "locked" FROM l GROUP BY "grp") AS k USING ("grp") ` +
          `GROUP BY i."grp", k."locked" HAVING count(i."wasTs") = coalesce(k."locked", 0))`,
      );
      source = "l";
      complete = ` AND i."grp" IN (SELECT "grp" FROM g)`;
    }
    const parts: [wanted: boolean, definition: string, written: string][] = [
      [
        writes.some(({ was, next }) => was !== null && next !== null),
        `u AS (UPDATE ${table} AS t SET "value" = i."value", "ts" = i."ts" FROM ${source} AS i ` +
          `WHERE t.ctid = i."at" AND i."ts" IS NOT NULL${complete} RETURNING i."n")`,
        `SELECT "n" FROM u`,
      ],
      [
        writes.some(({ was, next }) => was !== null && next === null),
        `d AS (DELETE FROM ${table} AS t USING ${source} AS i ` +
          `WHERE t.ctid = i."at" AND i."ts" IS NULL${complete} RETURNING i."n")`,
        `SELECT "n" FROM d`,
      ],
      [
        writes.some(({ was, next }) => was === null && next !== null),
        // In order, so that two batches of inserts cannot wait for each other in a circle.
        `c AS (INSERT INTO ${table} AS t (${ID}, "value", "ts") ` +
          `SELECT ${ID}, "value", "ts" FROM i WHERE i."wasTs" IS NULL AND i."ts" IS NOT NULL` +
          `${complete} ORDER BY ${ID} ON CONFLICT (${ID}) DO NOTHING RETURNING ${ID})`,
        `SELECT i."n" FROM i JOIN c USING (${ID})`,
      ],
    ];
    const wanted = parts.filter(([isWanted]) => isWanted);
    for (const [, definition] of wanted) sql.text(`, ${definition}`);
    // Most writes win, so the answer names those that lost, and what their rows held instead.
    sql.text(`, w AS (${wanted.map(([, , written]) => written).join(" UNION ALL ")}) `);
    sql.text(`SELECT i."n", s."value", s."ts" FROM i LEFT JOIN LATERAL (`);
    sql.text(
      `SELECT t."value", t."ts" FROM ${table} AS t WHERE ${SAME_ROW} LIMIT 1) AS s ON true `,
    );
    sql.text(`WHERE NOT EXISTS (SELECT FROM w WHERE w."n" = i."n")`);
    const lost = new Set<number>();
    for (const { n, value, ts } of await sql.query(client)) {
      lost.add(Number(n) - 1);
      if (ts !== null) tell?.(writes[Number(n) - 1]!.row, { value, ts } as RateLimitState);
    }
    return new Set(writes.filter((_, index) => !lost.has(index)).map(({ row }) => rowKey(row)));
  }

  /** For a group that inserts: rolled back unless each of its rows could be written. */
  async function writeWhole(group: WriteGroup): Promise<Set<string>> {
    const absent = group.writes.filter(({ was, next }) => was === null && next === null);
    const run = async (tx: PrismaRaw): Promise<Set<string>> => {
      const written = await writeMany([group], tx);
      if (written.size + absent.length !== group.writes.length) throw new GroupLost();
      if (absent.length === 0) return written;
      const ids = absent.map(({ row }) => row);
      if ((await read(ids, tx)).size > 0) throw new GroupLost();
      return written;
    };
    return own === undefined ? run(ours) : inTransaction(own, run);
  }

  function write(groups: readonly WriteGroup[], tell?: Tell): Promise<WriteOutcomes> {
    const isWhole = ({ writes }: WriteGroup) =>
      writes.length > 1 && writes.some(({ was }) => was === null);
    const plain = groups.filter((group) => !isWhole(group));
    const only = plain.length === 1 && plain[0]!.writes.length === 1 ? plain[0] : undefined;
    const writePlain = () =>
      only === undefined || only.contested
        ? writeMany(plain, ours, tell)
        : writeOne(only.writes[0]!);
    const steps = [
      { groups: plain, run: writePlain },
      ...groups.filter(isWhole).map((group) => ({ groups: [group], run: () => writeWhole(group) })),
    ];
    return writeInSteps(steps, joined);
  }

  /**
   * A row that does not exist cannot be locked: who inserts it second waits for the first one to
   * commit, and two such waits are a deadlock, which takes a second to be found. For an owner who
   * will retry, the wait is cut short.
   */
  async function writeWithoutWaiting(groups: readonly WriteGroup[]): Promise<WriteOutcomes> {
    const inserts = groups.some(({ writes }) => writes.some(({ was }) => was === null));
    if (!inserts) return write(groups);
    const [before] = await new Sql()
      .text(`SELECT current_setting('lock_timeout') AS "timeout", `)
      .text(`set_config('lock_timeout', '${INSERT_WAIT}', true)`)
      .query(ours);
    const outcomes = await write(groups);
    await new Sql()
      .text(`SELECT set_config('lock_timeout', `)
      .value(before!["timeout"])
      .text(`, true)`)
      .query(ours);
    return outcomes;
  }

  return { read: (rows) => read(rows), write: onLocked === "fail" ? writeWithoutWaiting : write };
}
