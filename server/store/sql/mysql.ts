/**
 * MySQL 8 and MariaDB 10.6 or later.
 *
 * MariaDB can return the rows that a statement has written, so its plain take is one statement: an
 * `INSERT … SELECT … FOR UPDATE`, in which the select decides on rows that it has locked. MySQL
 * cannot, so every take goes the general way. Neither returns which of many rows an UPDATE has
 * found, so many rows are written in a transaction that locks, compares and writes. It runs at READ
 * COMMITTED, where InnoDB locks rows and not the gaps between them.
 */
import { capacityOf, type RateLimitConfig } from "../../../core/config.js";
import type { Write, WriteGroup } from "../plan-writes.js";
import { WriteConflictError } from "../retry-conflicts.js";
import { rowKey, type RowId } from "../store.js";
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import { isDuplicate, isOutOfRange, isWriteConflict } from "./database-errors.js";
import type { Connection, Dialect } from "./dialect.js";
import type { SqlConnection, SqlRow } from "./driver.js";
import { jsonTable, shownText, storedText, TEXT } from "./mysql-text.js";
import { rowIdOf, statesOf, quotedTable, type TableName } from "./sql.js";

const ID = "`name`, `key`, `shard`";
/** The columns of the table. They are named everywhere, because some clients refuse `*`. */
const STATE = `${ID}, \`value\`, \`ts\``;
const SAME_ROW = "t.`name` = i.`name` AND t.`key` = i.`key` AND t.`shard` = i.`shard`";

const ID_COLUMNS = [`\`name\` ${TEXT}`, `\`key\` ${TEXT}`, "`shard` INT"];
const IDS = jsonTable(ID_COLUMNS);
const STATE_COLUMNS = [...ID_COLUMNS, "`value` DOUBLE", "`ts` DOUBLE"];
const STATES = jsonTable(STATE_COLUMNS);
const CHANGES = jsonTable([...STATE_COLUMNS, "`wasValue` DOUBLE", "`wasTs` DOUBLE"]);
const NUMBERS = ["total", "rate", "period", "capacity", "floor", "now"] as const;
/** A take's numbers, by name. */
type Numbers = Record<(typeof NUMBERS)[number], number>;
const LINES = jsonTable([...ID_COLUMNS, ...NUMBERS.map((name) => `\`${name}\` DOUBLE`)]);

/** The formula of `takeTokens`, its operations in the order of `stateAt`; numbers are `:named`. */
const WINDOWS = "FLOOR(GREATEST(0, :now - t.`ts`) / :period)";
const HELD: Record<RateLimitConfig["kind"], string> = {
  "token bucket": "LEAST(t.`value` + GREATEST(0, :now - t.`ts`) * :rate / :period, :capacity)",
  "fixed window": `LEAST(t.\`value\` + ${WINDOWS} * :rate, :capacity)`,
};
const TS: Record<RateLimitConfig["kind"], string> = {
  "token bucket": "GREATEST(t.`ts`, :now)",
  "fixed window": `t.\`ts\` + ${WINDOWS} * :period`,
};

/**
 * The plain take on MariaDB. It takes only from rows that exist: an insert into a gap that two
 * statements have locked is a deadlock.
 */
function takeText(
  table: string,
  kind: RateLimitConfig["kind"],
  from: string,
  withClock: boolean,
): string {
  const left = `${HELD[kind]} - :total`;
  return `
    SET STATEMENT innodb_lock_wait_timeout = 1 FOR
    INSERT INTO ${table} (${STATE})
    SELECT t.\`name\`, t.\`key\`, t.\`shard\`, ${left}, ${TS[kind]}
    FROM ${from} AND ${left} >= :floor FOR UPDATE
    ON DUPLICATE KEY UPDATE \`value\` = VALUES(\`value\`), \`ts\` = VALUES(\`ts\`)
    RETURNING ${STATE} ${withClock ? `, ${CLOCK.mysql}` : ""}`;
}

/** For many rows: the numbers are columns of the list. */
function takeMany(table: string, kind: RateLimitConfig["kind"], withClock: boolean): string {
  const from = `${LINES} STRAIGHT_JOIN ${table} AS t WHERE ${SAME_ROW}`;
  return takeText(table, kind, from, withClock).replace(/:(\w+)/g, "i.`$1`");
}

/**
 * For one row: the numbers are parameters, cast to doubles. Without the cast they and their
 * quotients would be decimals.
 */
function takeOne(table: string, kind: RateLimitConfig["kind"], withClock: boolean) {
  const names: string[] = [];
  const from = `${table} AS t WHERE t.\`name\` = :name AND t.\`key\` = :key AND t.\`shard\` = :shard`;
  const text = takeText(table, kind, from, withClock).replace(/:(\w+)/g, (_, name: string) => {
    names.push(name);
    return NUMBERS.some((number) => number === name) ? "CAST(? AS DOUBLE)" : "?";
  });
  return { text, params: (values: Record<string, unknown>) => names.map((name) => values[name]) };
}

export function mysql(tableName: TableName, clock: DatabaseClock): Dialect {
  const table = quotedTable(tableName, "`");
  let isMariaDb = false;
  const takes = (withClock: boolean) => ({
    many: {
      "token bucket": takeMany(table, "token bucket", withClock),
      "fixed window": takeMany(table, "fixed window", withClock),
    },
    one: {
      "token bucket": takeOne(table, "token bucket", withClock),
      "fixed window": takeOne(table, "fixed window", withClock),
    },
  });
  const plainTakes = takes(false);
  const clockTakes = takes(true);

  const lock = (onLocked: Connection["onLocked"]) => {
    if (onLocked === "skip") return "";
    const wait = onLocked === "fail" ? "NOWAIT" : onLocked === "wait" || !isMariaDb ? "" : "WAIT 1";
    return `ORDER BY t.\`name\`, t.\`key\`, t.\`shard\` FOR UPDATE ${wait}`;
  };
  // STRAIGHT_JOIN makes the list the outer table, so that rows are found by the primary key.
  // LEFT JOIN does, too. With the clock, a row that does not exist is a row of nulls.
  const read = async (connection: SqlConnection, rows: readonly RowId[], locking: string) => {
    const params = [JSON.stringify(rows.map(idValues))];
    const found = await clock.query((withClock) =>
      connection.query(
        `SELECT t.${STATE.replaceAll(", ", ", t.")} ${withClock ? `, ${CLOCK.mysql}` : ""} FROM ${IDS} ` +
          `${withClock ? "LEFT JOIN" : "STRAIGHT_JOIN"} ${table} AS t ON ${SAME_ROW} ${locking}`,
        params,
      ),
    );
    return statesOf(shownRows(found));
  };

  /** Locks and compares rows that exist, and writes the groups that are as they were. */
  async function updateLocked(connection: Connection, groups: readonly WriteGroup[]) {
    const writes = groups.flatMap((group) => group.writes);
    const { onLocked } = connection;
    const locking = onLocked === "skip" ? "FOR UPDATE SKIP LOCKED" : lock(onLocked);
    const rows = writes.map(({ row }) => row);
    const states = await read(connection, rows, locking);
    const isUnchanged = ({ row, was }: Write) => {
      const state = states.get(rowKey(row));
      return state?.value === was!.value && state.ts === was!.ts;
    };
    const won = groups.flatMap(({ writes: all }) => (all.every(isUnchanged) ? all : []));
    const changes = won.filter(
      ({ was, next }) => was!.value !== next!.value || was!.ts !== next!.ts,
    );
    if (changes.length > 0) {
      // The guard is for clusters, in which another node can change a row in spite of its lock.
      const found = await connection.execute(
        `UPDATE ${table} AS t JOIN ${CHANGES} ON ${SAME_ROW} ` +
          "SET t.`value` = i.`value`, t.`ts` = i.`ts` " +
          "WHERE t.`value` = i.`wasValue` AND t.`ts` = i.`wasTs`",
        [asJson(changes)],
      );
      if (found !== changes.length) throw new WriteConflictError();
    }
    return new Set(won.map(({ row }) => rowKey(row)));
  }

  const guard = "WHERE `name` = ? AND `key` = ? AND `shard` = ? AND `value` = ? AND `ts` = ?";

  return {
    maxInFlight: 2,
    hasRowLocks: true,
    waitingOutdatesSnapshot: false,
    canUpsert: false,
    isConflict: isWriteConflict,

    async prepare(connection) {
      const [row] = await connection.query("SELECT VERSION() AS `version`", []);
      isMariaDb = /mariadb/i.test(String(row?.["version"]));
    },

    read: (connection, rows) => read(connection, rows, lock(connection.onLocked)),

    async take(connection, { config, floor, now }, lines, { isWanted }) {
      if (!isMariaDb) return new Map();
      const { rate, period, kind } = config;
      const terms = { rate, period, capacity: capacityOf(config), floor, now };
      const [first] = lines;
      try {
        if (lines.length > 1 || first === undefined) {
          const values = lines.map(({ row, total }) => {
            const numbers: Numbers = { total, ...terms };
            return [...idValues(row), ...NUMBERS.map((name) => numbers[name])];
          });
          const lists = [JSON.stringify(values)];
          const rows = await clock.query((withClock) => {
            const { many } = withClock ? clockTakes : plainTakes;
            return connection.query(many[kind], lists, isWanted);
          });
          return statesOf(shownRows(rows));
        }
        const [name, key, shard] = idValues(first.row);
        const values = { name, key, shard, total: first.total, ...terms };
        const rows = await clock.query((withClock) => {
          const { text, params } = (withClock ? clockTakes : plainTakes).one[kind];
          return connection.query(text, params(values), isWanted);
        });
        return statesOf(shownRows(rows));
      } catch (error) {
        // The limiter never writes such a row. Leave it to `decide`, or its neighbours would fail
        // too.
        if (isOutOfRange(error)) return new Map();
        throw error;
      }
    },

    async update(connection, groups) {
      const { row, was, next } = groups[0]!.writes[0]!;
      if (groups.length === 1 && groups[0]!.writes.length === 1) {
        const found = await connection.execute(
          `UPDATE ${table} SET \`value\` = ?, \`ts\` = ? ${guard}`,
          [next!.value, next!.ts, ...idValues(row), was!.value, was!.ts],
        );
        return new Set(found > 0 ? [rowKey(row)] : []);
      }
      const run = (tx: Connection) => updateLocked(tx, groups);
      return connection.transaction === undefined ? run(connection) : connection.transaction(run);
    },

    /** Inserts all rows or none: a duplicate undoes the whole statement. */
    async insert(connection, writes) {
      try {
        await connection.execute(
          `INSERT INTO ${table} (${STATE}) SELECT ${STATE} FROM ${STATES} ORDER BY ${ID}`,
          [asJson(writes)],
        );
      } catch (error) {
        if (isDuplicate(error)) return new Set();
        throw error;
      }
      return new Set(writes.map(({ row }) => rowKey(row)));
    },

    async remove(connection, writes) {
      const removed = new Set<string>();
      for (const { row, was } of writes) {
        const params = [...idValues(row), was!.value, was!.ts];
        const found = await connection.execute(`DELETE FROM ${table} ${guard}`, params);
        if (found > 0) removed.add(rowKey(row));
      }
      return removed;
    },

    async list(connection, name, after, count) {
      const behind = after === undefined ? "" : "AND (`key`, `shard`) > (?, ?)";
      const rows = await connection.query(
        `SELECT ${ID} FROM ${table} WHERE \`name\` = ? ${behind} ` +
          // MySQL takes no double as a parameter of LIMIT, and drivers send numbers as doubles.
          `ORDER BY \`key\`, \`shard\` LIMIT ${count}`,
        [storedText(name), ...(after === undefined ? [] : [storedText(after.key), after.shard])],
      );
      return shownRows(rows).map(rowIdOf);
    },
  };
}

function shownRows(rows: readonly SqlRow[]): SqlRow[] {
  return rows.map(({ name, key, ...rest }) =>
    name === null
      ? { name, key, ...rest }
      : { name: shownText(name as string), key: shownText(key as string), ...rest },
  );
}

function idValues({ name, key, shard }: RowId): [string, string, number] {
  return [storedText(name), storedText(key), shard];
}

function asJson(writes: readonly Write[]): string {
  return JSON.stringify(
    writes.map(({ row, next, was }) => [
      ...idValues(row),
      next!.value,
      next!.ts,
      ...(was === null ? [] : [was.value, was.ts]),
    ]),
  );
}
