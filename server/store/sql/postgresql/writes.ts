/**
 * The guarded writes on PostgreSQL. Guarded writes skip locked rows: the owner of the lock is about to
 * change the row, so the guard would fail after the wait.
 */
import type { Write } from "../../plan-writes.js";
import { compareLockOrder, rowKey } from "../../store.js";
import type { Connection } from "../connection.js";
import type { Statements } from "../dialect.js";
import type { SqlConnection } from "../driver.js";
import { idsOf } from "../sql.js";
import type { PostgresqlEngine } from "./engines.js";
import {
  byKey,
  FEW,
  ID,
  idParams,
  LOCK_WAIT,
  lockingText,
  of,
  ONE_ROW,
  patience,
  rowsFrom,
  SAME_ROW,
  STATE,
} from "./text.js";

/** How long an insert may wait for another transaction's insert of the same row, ms. */
const INSERT_WAIT = 50;

const WAS = `${ID}, "wasUsed", "wasTs"`;
const NEXT = `${WAS}, "used", "ts", "group"`;

/** @param table quoted. */
export function postgresqlWrites(
  table: string,
  engine: PostgresqlEngine,
): Pick<Statements, "update" | "insert" | "remove"> {
  const texts = writeTexts(table, byKey(engine));
  const fit = ({ transaction }: Connection, text: string) =>
    lockingText(engine, transaction !== undefined, text);
  return {
    async update(connection, groups) {
      const writes = groups.flatMap((group) => group.writes);
      if (writes.length === 1 && engine.isPostgresql) {
        const { row, was, next } = writes[0]!;
        const states = [next!.used, next!.ts, was!.used, was!.ts];
        const params = [row.name, row.key, row.shard, ...states];
        const found = await connection.query(fit(connection, texts.updateOne), params);
        return new Set(found.map(() => rowKey(row)));
      }
      const isWhole = groups.length === writes.length;
      const params = [
        ...wasParams(writes),
        writes.map(({ next }) => next!.used),
        writes.map(({ next }) => next!.ts),
        groups.flatMap((group, index) => group.writes.map(() => index)),
      ];
      const text = isWhole ? texts.update : texts.updateGroups;
      return idsOf(await connection.query(fit(connection, text), params));
    },

    async insert(connection, writes) {
      // Insert in order, so that two statements cannot wait for each other's rows.
      const sorted = [...writes].sort((a, b) => compareLockOrder(a.row, b.row));
      const params = [
        ...idParams(sorted.map(({ row }) => row)),
        sorted.map(({ next }) => next!.used),
        sorted.map(({ next }) => next!.ts),
      ];
      const { lock, patience: waits } = connection.locking;
      const wait = lock === "none" ? `WHERE ${patience(LOCK_WAIT)} <> ''` : "";
      const text = `${texts.insert} ${wait} ON CONFLICT DO NOTHING RETURNING ${ID}`;
      const run = async () => idsOf(await connection.query(text, params));
      return waits === "none" ? waitingLess(connection, run) : run();
    },

    async remove(connection, writes) {
      return idsOf(await connection.query(fit(connection, texts.remove), wasParams(writes)));
    },
  };
}

/** @param isFoundByKey see `byKey`. */
function writeTexts(table: string, isFoundByKey: string) {
  const guard = `${SAME_ROW} AND ${isFoundByKey} AND ${FEW} AND t."used" = i."wasUsed" AND t."ts" = i."wasTs"`;
  // LATERAL and LIMIT keep the planner to one look-up by the primary key per row. Measured and
  // rejected: a plain join, which hashes the whole table (twice as long, 256 of 10,000 rows).
  const lockSame = (
    columns: string,
    from: string,
    lock: "UPDATE" | "NO KEY UPDATE",
  ) => `SELECT ${of("i", columns)} FROM ${from} CROSS JOIN LATERAL (
      SELECT 1 FROM ${table} AS t
      WHERE ${SAME_ROW} AND ${isFoundByKey} AND t."used" = i."wasUsed" AND t."ts" = i."wasTs"
      LIMIT 1 FOR ${lock} OF t SKIP LOCKED
    ) AS t`;
  const updateText = (
    inGroups: boolean,
  ) => `WITH i AS (SELECT ${of("i", NEXT)} FROM ${rowsFrom(NEXT)}), l AS MATERIALIZED (${lockSame(NEXT, "i", "NO KEY UPDATE")})
    UPDATE ${table} AS t SET "used" = i."used", "ts" = i."ts" FROM l AS i WHERE ${guard}
    ${inGroups ? `AND i."group" IN (${WHOLE_GROUPS})` : ""}
    RETURNING ${of("t", ID)}`;
  const same = `${ONE_ROW} AND ${isFoundByKey} AND t."used" = $6 AND t."ts" = $7`;
  return {
    // An update without lists costs the server and the process three quarters of an update with lists.
    updateOne: `UPDATE ${table} AS t SET "used" = $4, "ts" = $5 FROM (
      SELECT 1 FROM ${table} AS t WHERE ${same} LIMIT 1 FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS l WHERE ${same} RETURNING t."shard"`,
    update: updateText(false),
    updateGroups: updateText(true),
    insert: `INSERT INTO ${table} AS t (${STATE}) SELECT ${of("i", STATE)} FROM ${rowsFrom(STATE)}`,
    remove: `WITH l AS MATERIALIZED (${lockSame(WAS, rowsFrom(WAS), "UPDATE")})
    DELETE FROM ${table} AS t USING l AS i WHERE ${guard} RETURNING ${of("t", ID)}`,
  };
}

/** The groups of `i` with all of their rows locked, that is, in `l`. */
const WHOLE_GROUPS = `SELECT i."group" FROM i LEFT JOIN (
    SELECT "group", count(*) AS "locked" FROM l GROUP BY "group"
  ) AS k USING ("group")
  GROUP BY i."group", k."locked" HAVING count(*) = k."locked"`;

/**
 * Shortens the wait of an insert, for a transaction that its owner retries. A row that does not exist
 * cannot be locked: the second transaction that inserts it waits for the first one to commit. Two such
 * waits are a deadlock, and PostgreSQL takes a second to find it.
 */
async function waitingLess<TResult>(
  connection: SqlConnection,
  run: () => Promise<TResult>,
): Promise<TResult> {
  const [before] = await connection.query(
    `SELECT current_setting('lock_timeout') AS "timeout",
       set_config('lock_timeout', '${INSERT_WAIT}', true)`,
    [],
  );
  const result = await run();
  await connection.query(`SELECT set_config('lock_timeout', $1, true)`, [before!["timeout"]]);
  return result;
}

function wasParams(writes: readonly Write[]): unknown[] {
  return [
    ...idParams(writes.map(({ row }) => row)),
    writes.map(({ was }) => was!.used),
    writes.map(({ was }) => was!.ts),
  ];
}
