/**
 * Guarded writes on MySQL 8 and MariaDB 10.6 or later. No statement there tells which of many rows
 * it has updated, so one row goes by one guarded statement, and many go in a transaction that locks
 * them, compares, and writes those that still are as they were. That transaction runs at READ
 * COMMITTED, where InnoDB locks rows and not the gaps between them.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import type { WriteOutcomes } from "../row-io.js";
import type { Write, WriteGroup } from "../plan.js";
import { rowKey, type RowId } from "../store.js";
import { inTransaction, type PrismaRaw, Sql } from "./client.js";
import { isDuplicate, isWriteConflict } from "./conflict.js";
import type { Connection, Dialect } from "./dialect.js";
import { rowsFrom, storedText } from "./mysql-text.js";
import { GroupLost, writeInSteps } from "./write-steps.js";

const ID = "`name`, `key`, `shard`";
const SAME_ROW = "t.`name` = i.`name` AND t.`key` = i.`key` AND t.`shard` = i.`shard`";
const COLUMNS =
  "COLUMNS (`name` VARCHAR(192) PATH '$[0]', `key` VARCHAR(192) PATH '$[1]', " +
  "`shard` INT PATH '$[2]', `value` DOUBLE PATH '$[3]', `ts` DOUBLE PATH '$[4]')";

export const mysql: Dialect = {
  maxTrips: 2,
  hasRowLocks: true,
  isConflict: isWriteConflict,
  io: mysqlIO,
  list,
};

function mysqlIO({ client: ours, table: name, own, onLocked }: Connection) {
  const table = quoted(name);
  const joined = own === undefined;
  let checking: Promise<void> | undefined;
  const lock = `FOR UPDATE${{ skip: " SKIP LOCKED", fail: " NOWAIT", wait: "" }[onLocked]}`;

  async function select(rows: readonly RowId[], client: PrismaRaw, locking: boolean) {
    const found = await new Sql()
      .text(`SELECT t.* FROM JSON_TABLE(`)
      .value(asJson(rows.map((row) => [row, null])))
      // The list stays outside, and the table inside, looked up by its primary key.
      .text(`, '$[*]' ${COLUMNS}) AS i STRAIGHT_JOIN ${table} AS t ON ${SAME_ROW}`)
      .text(locking ? ` ORDER BY t.\`name\`, t.\`key\`, t.\`shard\` ${lock}` : "")
      .query(client);
    const ids = rowsFrom(found);
    return new Map<string, RateLimitState>(
      found.map((row, i) => [
        rowKey(ids[i]!),
        { value: Number(row["value"]), ts: Number(row["ts"]) },
      ]),
    );
  }

  /** One row: the number of rows that a guarded statement has changed says it all. */
  async function writeOne({ row, was, next }: Write, client: PrismaRaw): Promise<Set<string>> {
    if (was === null) return insert([{ row, was, next }], client);
    const sql = new Sql();
    if (next === null) sql.text(`DELETE FROM ${table}`);
    else {
      sql.text(`UPDATE ${table} SET \`value\` = `).value(next.value);
      sql.text(", `ts` = ").value(next.ts);
    }
    sql.text(" WHERE `name` = ").value(storedText(row.name));
    sql.text(" AND `key` = ").value(storedText(row.key));
    sql.text(" AND `shard` = ").value(row.shard);
    sql.text(" AND `value` = ").value(was.value).text(" AND `ts` = ").value(was.ts);
    return new Set((await sql.execute(client)) > 0 ? [rowKey(row)] : []);
  }

  /** All of these or none: a duplicate undoes the whole statement. */
  async function insert(writes: readonly Write[], client: PrismaRaw): Promise<Set<string>> {
    const inserts = writes.flatMap(({ row, was, next }) =>
      was === null && next !== null ? [{ row, next }] : [],
    );
    if (inserts.length === 0) return new Set();
    const sql = new Sql().text(`INSERT INTO ${table} (${ID}, \`value\`, \`ts\`) `);
    sql
      .text("SELECT * FROM JSON_TABLE(")
      .value(asJson(inserts.map(({ row, next }) => [row, next])));
    sql.text(`, '$[*]' ${COLUMNS}) AS i ORDER BY ${ID}`);
    try {
      await sql.execute(client);
    } catch (error) {
      if (isDuplicate(error)) return new Set();
      throw error;
    }
    return new Set(inserts.map(({ row }) => rowKey(row)));
  }

  /** Of these groups, which only change rows that exist, writes those whose rows are unchanged. */
  async function change(groups: readonly WriteGroup[], client: PrismaRaw): Promise<Set<string>> {
    const existing = groups.flatMap(({ writes }) => writes.filter(({ was }) => was !== null));
    if (existing.length === 0) return new Set();
    const rows = existing.map(({ row }) => row);
    const states = await select(rows, client, true);
    const holds = ({ row, was }: Write) => {
      const state = states.get(rowKey(row));
      return was === null || (state?.value === was.value && state.ts === was.ts);
    };
    const won = groups.filter(({ writes }) => writes.every(holds)).flatMap(({ writes }) => writes);
    const updates = won.filter(({ was, next }) => was !== null && next !== null);
    const deletes = won.filter(({ was, next }) => was !== null && next === null);
    if (updates.length > 0) {
      const sql = new Sql().text(`UPDATE ${table} AS t JOIN JSON_TABLE(`);
      sql.value(asJson(updates.map(({ row, next }) => [row, next])));
      sql.text(`, '$[*]' ${COLUMNS}) AS i ON ${SAME_ROW} `);
      await sql.text("SET t.`value` = i.`value`, t.`ts` = i.`ts`").execute(client);
    }
    if (deletes.length > 0) {
      const sql = new Sql().text(`DELETE t FROM ${table} AS t JOIN JSON_TABLE(`);
      sql.value(asJson(deletes.map(({ row }) => [row, null])));
      await sql.text(`, '$[*]' ${COLUMNS}) AS i ON ${SAME_ROW}`).execute(client);
    }
    return new Set([...updates, ...deletes].map(({ row }) => rowKey(row)));
  }

  function transact(run: (tx: PrismaRaw) => Promise<Set<string>>): Promise<Set<string>> {
    return own === undefined
      ? run(ours)
      : inTransaction(own, run, { isolationLevel: "ReadCommitted" });
  }

  /** A group that also inserts: rolled back unless each of its rows could be written. */
  function writeWhole(group: WriteGroup): Promise<Set<string>> {
    const absent = group.writes.filter(({ was, next }) => was === null && next === null);
    return transact(async (tx) => {
      const inserted = await insert(group.writes, tx);
      const changed = await change([group], tx);
      if (inserted.size + changed.size + absent.length !== group.writes.length) {
        throw new GroupLost();
      }
      const ids = absent.map(({ row }) => row);
      if (ids.length > 0 && (await select(ids, tx, false)).size > 0) throw new GroupLost();
      return new Set([...inserted, ...changed]);
    });
  }

  function write(groups: readonly WriteGroup[]): Promise<WriteOutcomes> {
    const inserts = ({ writes }: WriteGroup) => writes.some(({ was }) => was === null);
    const one = groups.length === 1 && groups[0]!.writes.length === 1 ? groups : [];
    const many = one.length > 0 ? [] : groups;
    // Cold rows side by side: if one turns out to be taken, all of them are looked at again.
    const fresh = many.filter((group) => inserts(group) && group.writes.length === 1);
    const whole = many.filter((group) => inserts(group) && group.writes.length > 1);
    const warm = many.filter((group) => !inserts(group));
    const freshWrites = fresh.flatMap(({ writes }) => writes);
    const steps = [
      { groups: one, run: () => writeOne(one[0]!.writes[0]!, ours) },
      { groups: fresh, run: () => insert(freshWrites, ours) },
      { groups: warm, run: () => transact((tx) => change(warm, tx)) },
      ...whole.map((group) => ({ groups: [group], run: () => writeWhole(group) })),
    ];
    return writeInSteps(steps, joined);
  }

  return {
    async read(rows: readonly RowId[]) {
      // Once: nothing is written of which nothing was read. A failure is tried again.
      if (!joined) {
        checking ??= checkCollations(ours, name).catch((error: unknown) => {
          checking = undefined;
          throw error;
        });
        await checking;
      }
      return select(rows, ours, joined);
    },
    write,
  };
}

/**
 * Prisma's own migrations give text columns a collation that folds case and accents, so that one
 * key would spend another one's tokens, silently. Better to refuse all work.
 */
async function checkCollations(client: PrismaRaw, table: string): Promise<void> {
  const columns = await new Sql()
    .text("SELECT COLUMN_NAME AS `name`, COLLATION_NAME AS `collation` ")
    .text("FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ")
    .value(table)
    .text(" AND COLUMN_NAME IN ('name', 'key')")
    .query(client);
  for (const { name, collation } of columns) {
    if (String(collation).endsWith("_bin")) continue;
    throw new Error(
      `column ${String(name)} of table ${table} has the collation ${String(collation)}, under ` +
        `which different keys are one bucket; give it utf8mb4_bin, as in prisma/mysql/migrations`,
    );
  }
}

async function list(
  { client, table }: Connection,
  name: string,
  after: RowId | undefined,
  count: number,
): Promise<RowId[]> {
  const sql = new Sql().text(`SELECT ${ID} FROM ${quoted(table)} WHERE \`name\` = `);
  sql.value(storedText(name));
  if (after !== undefined) {
    sql.text(" AND (`key`, `shard`) > (").value(storedText(after.key));
    sql.text(", ").value(after.shard).text(")");
  }
  sql.text(" ORDER BY `key`, `shard` LIMIT ").value(count);
  return rowsFrom(await sql.query(client));
}

function asJson(rows: readonly (readonly [RowId, RateLimitState | null])[]): string {
  return JSON.stringify(
    rows.map(([{ name, key, shard }, state]) => [
      storedText(name),
      storedText(key),
      shard,
      state?.value ?? null,
      state?.ts ?? null,
    ]),
  );
}

function quoted(identifier: string): string {
  return `\`${identifier.replaceAll("`", "``")}\``;
}
