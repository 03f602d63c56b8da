/**
 * The plain take of many rows with terms of their own, on PostgreSQL. The part after `ON CONFLICT` sees
 * only the columns of the table, so each row looks its terms up by its name, key and shard.
 */
import type { PeriodicConfig } from "../../../../core/config.js";
import type { TakeLine } from "../../row-access.js";
import { distinctTerms, termNumbers } from "../../take-terms.js";
import type { AnyTakeOperands } from "../formula.js";
import { FORMULA, ID, idParams, LOCK_WAIT, of, patience, rowsFrom, STATE } from "./text.js";

/** The operands over a row `t` and its terms `c`. */
const OPERANDS: AnyTakeOperands = {
  used: () => `t."used"`,
  ts: () => `t."ts"`,
  rate: () => "c.rate",
  period: () => "c.period",
  capacity: () => "c.capacity",
  own: () => "c.own",
  most: () => "c.most",
  least: () => "c.least",
  over: () => "c.over",
  total: () => "c.total",
  now: () => "$6",
  isWindow: () => "c.is_window = 1",
};

/**
 * The terms of the row `excluded`. Each OFFSET keeps the planner from putting the look-up in the place
 * of every column that is read.
 */
const TERMS = `(
  SELECT l.total, ($10::int[])[l.place] AS is_window, ($11::float8[])[l.place] AS rate,
    ($12::float8[])[l.place] AS period, ($13::float8[])[l.place] AS capacity,
    ($14::float8[])[l.place] AS own, ($15::float8[])[l.place] AS most,
    ($16::float8[])[l.place] AS least, ($17::float8[])[l.place] AS over
  FROM (
    SELECT ($8::float8[])[n.line] AS total, ($9::int[])[n.line] AS place FROM (
      SELECT ($7::jsonb -> excluded."name" ->> (excluded."shard"::text || ' ' || excluded."key"))::int
        AS line OFFSET 0
    ) AS n OFFSET 0
  ) AS l OFFSET 0
) AS c`;

/**
 * @param table quoted.
 * @param columns of the result.
 */
export function takeEachText(table: string, columns: string): string {
  const { takeAny } = FORMULA;
  const taken = `SELECT ${takeAny.after("either", OPERANDS)} AS after, ${FORMULA.ts("either", OPERANDS)} AS ts,
        c.own, c.capacity FROM ${TERMS} OFFSET 0`;
  return `INSERT INTO ${table} AS t (${STATE})
    SELECT ${of("i", STATE)} FROM ${rowsFrom(STATE)} WHERE ${patience(LOCK_WAIT)} <> ''
    ON CONFLICT (${ID}) DO UPDATE SET ("used", "ts") = (
      SELECT ${FORMULA.written(() => "c.after", OPERANDS)}, c.ts FROM (${taken}) AS c
    )
    WHERE (SELECT ${takeAny.passes("either", OPERANDS)} FROM ${TERMS})
    RETURNING ${of("t", ID)}, ${columns}`;
}

export function takeEachParams(lines: readonly TakeLine<PeriodicConfig>[], now: number): unknown[] {
  const { terms, places } = distinctTerms(lines);
  const numbers = terms.map(termNumbers);
  const lineOf: Record<string, Record<string, number>> = Object.create(null);
  for (const [i, { row }] of lines.entries()) {
    const ofName = (lineOf[row.name] ??= Object.create(null));
    // Arrays of PostgreSQL begin with 1.
    ofName[`${row.shard} ${row.key}`] = i + 1;
  }
  return [
    ...idParams(lines.map(({ row }) => row)),
    lines.map(({ fresh }) => fresh.used),
    lines.map(({ fresh }) => fresh.ts),
    now,
    JSON.stringify(lineOf),
    lines.map(({ total }) => total),
    places.map((place) => place + 1),
    terms.map(({ config }) => Number(config.kind === "fixed window")),
    numbers.map(({ rate }) => rate),
    numbers.map(({ period }) => period),
    numbers.map(({ capacity }) => capacity),
    numbers.map(({ own }) => own),
    numbers.map(({ most }) => most),
    numbers.map(({ least }) => least),
    numbers.map(({ over }) => over),
  ];
}
