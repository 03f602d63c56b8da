/**
 * The plain take on MariaDB, which can return the rows that a statement has written: an
 * `INSERT … SELECT … FOR UPDATE`, in which the select decides on rows that it has locked.
 */
import { capacityOf, type RateLimitConfig } from "../../../core/config.js";
import { CLOCK, type DatabaseClock } from "./database-clock.js";
import { isOutOfRange } from "./database-errors.js";
import type { Dialect } from "./dialect.js";
import {
  ID_COLUMNS,
  idValues,
  jsonTable,
  SAME_ROW,
  shownRows,
  shownState,
  STATE,
} from "./mysql-text.js";
import { statesOf } from "./sql.js";

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
 * It takes only from rows that exist: an insert into a gap that two statements have locked is a
 * deadlock.
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
    RETURNING ${shownState()} ${withClock ? `, ${CLOCK.mysql}` : ""}`;
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

/** @param table quoted. */
export function mariaDbTake(table: string, clock: DatabaseClock): Dialect["take"] {
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

  return async (connection, { config, floor, now }, lines, { isWanted }) => {
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
  };
}
