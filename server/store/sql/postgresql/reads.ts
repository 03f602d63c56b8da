/** The reads of the table on PostgreSQL. */
import { rowKey } from "../../store.js";
import type { Connection, Locking } from "../connection.js";
import type { Statements } from "../dialect.js";
import { rowIdOf, rowsFound, statesOf } from "../sql.js";
import { sumsFound, sumsText } from "../sum-rows.js";
import type { DatabaseClock } from "../table/database-clock.js";
import type { PostgresqlEngine } from "./engines.js";
import {
  byKey,
  CLOCK,
  ID,
  idParams,
  lockingText,
  of,
  ONE_ROW,
  patience,
  rowsFrom,
  SAME_ROW,
  shownColumns,
  shownState,
  STATE,
} from "./text.js";

/**
 * How long a transaction may wait for one row, ms, and still less than `deadlock_timeout`; see
 * `LOCK_WAIT`.
 */
const LONG_LOCK_WAIT = 900;
/** The same bound for a transaction whose end other calls wait for, ms. */
const SHORT_LOCK_WAIT = 50;

const LOCKS: Record<Locking["lock"], string> = {
  none: "",
  exclusive: "FOR UPDATE OF t",
  holding: "FOR KEY SHARE OF t",
  // This lock is weaker than FOR UPDATE, and enough for an update.
  passing: "FOR NO KEY UPDATE OF t",
};

function lockOf({ lock, patience: waits }: Locking): string {
  return waits === "none" ? `${LOCKS[lock]} NOWAIT` : LOCKS[lock];
}

/** A condition that bounds the wait for a row. */
function boundOf({ patience: waits }: Locking): string {
  if (waits === "brief") return `AND ${patience(LONG_LOCK_WAIT)} <> ''`;
  return waits === "hurried" ? `AND ${patience(SHORT_LOCK_WAIT)} <> ''` : "";
}

/** @param table quoted. */
export function postgresqlRead(
  table: string,
  clock: DatabaseClock,
  engine: PostgresqlEngine,
): Statements["read"] {
  // When the clock is read, a row that does not exist comes as a row of nulls.
  const readTextOf = (
    locking: Locking,
    withClock: boolean,
  ) => `SELECT ${of("t", ID)}, ${shownColumns(engine)} ${withClock ? `, ${CLOCK}` : ""}
    FROM ${rowsFrom(ID)}
    ${withClock ? "LEFT" : "INNER"} JOIN LATERAL (
      SELECT ${of("t", STATE)} FROM ${table} AS t
      WHERE ${SAME_ROW} AND ${byKey(engine)} ${boundOf(locking)}
      LIMIT 1 ${lockOf(locking)}
    ) AS t ON true`;
  // A read without lists costs the server and the process three quarters of a read with lists.
  const oneTextOf = (locking: Locking) => `SELECT ${shownColumns(engine)} FROM ${table} AS t
    WHERE ${ONE_ROW} AND ${byKey(engine)} ${boundOf(locking)} LIMIT 1 ${lockOf(locking)}`;
  // Kept, because a driver looks up prepared statements by their text.
  const readTexts = new Map<string, string>();
  type Form = "one" | "many" | "many with clock";
  const readText = ({ locking, transaction }: Connection, form: Form): string => {
    const id = `${locking.lock} ${locking.patience} ${transaction !== undefined} ${form}`;
    let text = readTexts.get(id);
    if (text === undefined) {
      const plain = form === "one" ? oneTextOf(locking) : readTextOf(locking, form !== "many");
      text = lockingText(engine, transaction !== undefined, plain);
      readTexts.set(id, text);
    }
    return text;
  };

  return async (connection, rows) => {
    const learn = clock.due();
    const [row] = rows;
    if (rows.length === 1 && learn === undefined && engine.isPostgresql) {
      const params = [row!.name, row!.key, row!.shard];
      const [only] = await connection.query(readText(connection, "one"), params);
      return only === undefined ? new Map() : new Map([[rowKey(row!), shownState(only)]]);
    }
    const text = readText(connection, learn === undefined ? "many" : "many with clock");
    const found = await connection.query(text, idParams(rows));
    learn?.(found);
    return statesOf(found, shownState);
  };
}

/** A pattern for LIKE, with "!" before each character that LIKE would not take literally. */
const beginning = (prefix: string): string => prefix.replaceAll(/[!%_]/g, "!$&") + "%";

/** @param table quoted. */
export function postgresqlLookUps(
  table: string,
  engine: PostgresqlEngine,
): Pick<Statements, "list" | "earliest" | "sums" | "nextName"> {
  return {
    async sums(connection, name, terms) {
      const where = `"name" = $1 AND "ts" >= $2::float8 AND "ts" < $3::float8`;
      const start = (key: string) => `rtrim(${key}, '0123456789')`;
      const text = sumsText({ table, mark: '"', start, where }, terms);
      return sumsFound(await connection.query(text, [name, terms.from, terms.to]), terms);
    },

    async earliest(connection, name, prefix, count) {
      const rows = await connection.query(
        `SELECT ${of("t", ID)}, ${shownColumns(engine)} FROM ${table} AS t
         WHERE t."name" = $1 AND t."key" LIKE $2 ESCAPE '!' ORDER BY t."ts", t."key" LIMIT $3`,
        [name, beginning(prefix), count],
      );
      return rowsFound(rows, shownState);
    },

    async list(connection, name, after, count, prefix) {
      if (prefix !== undefined) {
        // LIKE does not depend on the order of a collation. Under "C", the index finds the rows.
        const behind = after === undefined ? "" : `AND ("key", "shard") > ($4, $5)`;
        const rows = await connection.query(
          `SELECT ${ID} FROM ${table} WHERE "name" = $1 AND "key" LIKE $2 ESCAPE '!' ${behind}
           ORDER BY ${ID} LIMIT $3`,
          [name, beginning(prefix), count, ...(after ? [after.key, after.shard] : [])],
        );
        return rows.map(rowIdOf);
      }
      // The condition also holds for later names, so that the planner follows the index. Measured
      // and rejected: `"name" = $1`, which sorts all rows of the name for each page if the table has
      // no statistics (50 ms instead of 1 ms for 1,000 of 100,000 rows).
      const beyond =
        after === undefined ? `"name" >= $1` : `("name", "key", "shard") > ($1, $3, $4)`;
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE ${beyond} ORDER BY ${ID} LIMIT $2`,
        after === undefined ? [name, count] : [name, count, after.key, after.shard],
      );
      return rows.map(rowIdOf).filter((row) => row.name === name);
    },

    async nextName(connection, after) {
      const [row] = await connection.query(
        `SELECT "name" FROM ${table} ${after === undefined ? "" : `WHERE "name" > $1`}
         ORDER BY "name" LIMIT 1`,
        after === undefined ? [] : [after],
      );
      return row?.["name"] as string | undefined;
    },
  };
}
