/**
 * The plain take on PostgreSQL. It queues on the lock of each row: `ON CONFLICT DO UPDATE` evaluates
 * its condition on the newest version of the row, with the lock held.
 */
import { capacityOf, type PeriodicConfig } from "../../../../core/config.js";
import type { TakeLine } from "../../row-access.js";
import { rowKey } from "../../store.js";
import { sharedTerms } from "../../take-terms.js";
import type { Statements } from "../dialect.js";
import type { Operands } from "../formula.js";
import { statesOf } from "../sql.js";
import type { DatabaseClock } from "../table/database-clock.js";
import { isOutOfRange } from "./errors.js";
import { takeEachParams, takeEachText } from "./take-each.js";
import {
  CLOCK,
  FORMULA,
  ID,
  idParams,
  LOCK_WAIT,
  of,
  patience,
  rowsFrom,
  shownState,
  STATE,
} from "./text.js";

/** The operands over a row `t`. Without casts, which would be a tenth of the time for planning. */
const OPERANDS: Operands = {
  value: () => `t."value"`,
  ts: () => `t."ts"`,
  rate: () => "$6",
  period: () => "$7",
  capacity: () => "$8",
  now: () => "$10",
};

interface Takes extends Record<PeriodicConfig["kind"], TakeTexts> {
  /** For many lines with terms of their own. */
  each: string;
}

interface TakeTexts {
  /**
   * For one line. It is short, because without prepared statements it is planned at every call. It
   * waits for the row without a bound. It cannot deadlock, because it holds no lock meanwhile.
   */
  one: string;
  /** The same with a bound (some 10 µs). */
  oneBounded: string;
  /** For many lines. The total of each line is computed from the row that it would insert. */
  many: string;
  /** For many lines, if a total cannot be computed that way without a rounding error. */
  manyWithTotals: string;
}

function takeTexts(table: string, kind: PeriodicConfig["kind"], shown: string): TakeTexts {
  const held = FORMULA.held(kind, OPERANDS);
  const refilled = FORMULA.refilled(kind, OPERANDS);
  const ts = FORMULA.ts(kind, OPERANDS);
  const text = (
    source: string,
    total: string,
    columns: string,
  ) => `INSERT INTO ${table} AS t (${STATE}) ${source}
    ON CONFLICT (${ID}) DO UPDATE SET "value" = ${held} - ${total}, "ts" = ${ts}
    WHERE ${refilled} - ${total} >= $9
    RETURNING ${columns}`;
  const idAndState = `${of("t", ID)}, ${shown}`;
  const lists = `SELECT ${of("i", STATE)} FROM ${rowsFrom(STATE)} WHERE ${patience(LOCK_WAIT)} <> ''`;
  return {
    one: text("VALUES ($1, $2, $3, $4, $5)", "$11", shown),
    // Appends an empty string to the name, in order to evaluate the bound of the wait.
    oneBounded: text(
      `VALUES ($1 || left(${patience(LOCK_WAIT)}, 0), $2, $3, $4, $5)`,
      "$11",
      shown,
    ),
    many: text(lists, `($8 - excluded."value")`, idAndState),
    manyWithTotals: text(
      lists,
      `($11::jsonb -> excluded."name" ->> (excluded."shard"::text || ' ' || excluded."key"))::float8`,
      idAndState,
    ),
  };
}

/**
 * @param table quoted.
 * @param shown the state of a row `t` in a result.
 */
export function postgresqlTake(
  table: string,
  clock: DatabaseClock,
  shown: string,
): Required<Pick<Statements, "take" | "takeOne">> {
  const takes = (columns: string): Takes => ({
    "token bucket": takeTexts(table, "token bucket", columns),
    "fixed window": takeTexts(table, "fixed window", columns),
    each: takeEachText(table, columns),
  });
  const texts = [takes(shown), takes(`${shown}, ${CLOCK}`)] as const;
  const takeOne: NonNullable<Statements["takeOne"]> = async (
    connection,
    { row, terms, total, fresh },
    { now, mayWait, isWanted },
  ) => {
    const learn = clock.due();
    const { kind, rate, period } = terms.config;
    const { one, oneBounded } = texts[learn === undefined ? 0 : 1][kind];
    const state = [row.name, row.key, row.shard, fresh.value, fresh.ts];
    const params = [...state, rate, period, capacityOf(terms.config), terms.floor, now, total];
    try {
      const found = await connection.query(mayWait ? one : oneBounded, params, isWanted);
      learn?.(found);
      return found.length === 0 ? undefined : shownState(found[0]!);
    } catch (error) {
      // The limiter never writes such a row. Leave it to `decide`.
      if (isOutOfRange(error)) return undefined;
      throw error;
    }
  };
  return {
    takeOne,
    async take(connection, lines, options) {
      if (lines.length === 1) {
        const next = await takeOne(connection, lines[0]!, options);
        return next === undefined ? new Map() : new Map([[rowKey(lines[0]!.row), next]]);
      }
      const learn = clock.due();
      const { text, params } = takeMany(texts[learn === undefined ? 0 : 1], lines, options.now);
      try {
        const found = await connection.query(text, params, options.isWanted);
        learn?.(found);
        return statesOf(found, shownState);
      } catch (error) {
        // As above, or its neighbours would fail, too.
        if (isOutOfRange(error)) return new Map();
        throw error;
      }
    },
  };
}

/** The statement that takes many lines. */
function takeMany(
  takes: Takes,
  lines: readonly TakeLine<PeriodicConfig>[],
  now: number,
): { text: string; params: unknown[] } {
  const shared = sharedTerms(lines);
  if (shared === undefined) return { text: takes.each, params: takeEachParams(lines, now) };
  const { config, floor } = shared;
  const { many, manyWithTotals } = takes[config.kind];
  const capacity = capacityOf(config);
  const params = [
    ...idParams(lines.map(({ row }) => row)),
    lines.map(({ fresh }) => fresh.value),
    lines.map(({ fresh }) => fresh.ts),
    config.rate,
    config.period,
    capacity,
    floor,
    now,
  ];
  if (lines.every(({ total, fresh }) => capacity - fresh.value === total)) {
    return { text: many, params };
  }
  const totals = new Map<string, Record<string, string>>();
  for (const { row, total } of lines) {
    const ofName = totals.get(row.name) ?? {};
    // Sent as text, because PostgreSQL would turn a number into a decimal.
    ofName[`${row.shard} ${row.key}`] = String(total);
    totals.set(row.name, ofName);
  }
  params.push(JSON.stringify(Object.fromEntries(totals)));
  return { text: manyWithTotals, params };
}
