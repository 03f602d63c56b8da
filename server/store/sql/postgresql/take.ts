/**
 * The plain take on PostgreSQL. The statement queues on the lock of each row: `ON CONFLICT DO UPDATE`
 * evaluates its condition on the newest version of the row, with the lock held.
 */
import type { PeriodicConfig } from "../../../../core/config.js";
import type { TakeLine } from "../../row-access.js";
import { rowKey } from "../../store.js";
import { owesNothing, sharedTerms, type TermNumbers, termNumbers } from "../../take-terms.js";
import type { Statements } from "../dialect.js";
import type { AnyTakeOperands } from "../formula.js";
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

/** The facts on which the text of a statement depends. */
interface Form {
  kind: PeriodicConfig["kind"];
  /** Whether the takes of the statement owe nothing. */
  isOwn: boolean;
  /** Whether the statement takes one line. The row to insert is then made of parameters. */
  isOne: boolean;
}

/**
 * The operands over a row `t`. The operands have no casts, which would be a tenth of the time for
 * planning.
 *
 * Where nothing is owed, the row to insert says the total as used, because a missing row has used
 * nothing. For a token bucket, its `ts` is the time `now`.
 */
function operandsOf({ kind, isOwn, isOne }: Form): AnyTakeOperands {
  const [used, ts] = isOne ? ["$4", "$5"] : [`excluded."used"`, `excluded."ts"`];
  const anyTotal = isOne ? "$14" : TOTAL;
  return {
    used: () => `t."used"`,
    ts: () => `t."ts"`,
    rate: () => "$6",
    period: () => "$7",
    most: () => "$8",
    now: () => (isOwn && kind === "token bucket" ? ts : "$9"),
    total: () => (isOwn ? used : anyTotal),
    // A take that owes nothing does not need these.
    capacity: () => "$10",
    own: () => "$11",
    least: () => "$12",
    over: () => "$13",
  };
}

/** The total of one of many lines, whose row to insert may be a debt. */
const TOTAL = `CASE WHEN excluded."used" < 0 THEN $10 - excluded."used" ELSE excluded."used" END`;

interface Takes {
  own: Record<PeriodicConfig["kind"], TakeTexts>;
  any: Record<PeriodicConfig["kind"], TakeTexts>;
  /** For many lines with terms of their own. */
  each: string;
}

interface TakeTexts {
  /**
   * For one line. The text is short, because without prepared statements the database plans it at every
   * call. The statement waits for the row without a bound. Such a wait cannot be a deadlock, because
   * the statement holds no lock while it waits.
   */
  one: string;
  /** The same statement, with a bound for the wait (some 10 µs). */
  oneBounded: string;
  /** For many lines. The total of each line is computed from the row that it would insert. */
  many: string;
}

function takeTexts(
  table: string,
  kind: PeriodicConfig["kind"],
  isOwn: boolean,
  shown: string,
): TakeTexts {
  const text = (source: string, isOne: boolean, columns: string) => {
    const operands = operandsOf({ kind, isOwn, isOne });
    const { after, passes } = isOwn ? FORMULA.takeOwn : FORMULA.takeAny;
    const afterwards = () => after(kind, operands);
    const next = isOwn ? afterwards() : FORMULA.written(afterwards, operands);
    return `INSERT INTO ${table} AS t (${STATE}) ${source}
    ON CONFLICT (${ID}) DO UPDATE SET "used" = ${next}, "ts" = ${FORMULA.ts(kind, operands)}
    WHERE ${passes(kind, operands)}
    RETURNING ${columns}`;
  };
  const lists = `SELECT ${of("i", STATE)} FROM ${rowsFrom(STATE)} WHERE ${patience(LOCK_WAIT)} <> ''`;
  return {
    one: text("VALUES ($1, $2, $3, $4, $5)", true, shown),
    // Appends an empty string to the name, in order to evaluate the bound of the wait.
    oneBounded: text(`VALUES ($1 || left(${patience(LOCK_WAIT)}, 0), $2, $3, $4, $5)`, true, shown),
    many: text(lists, false, `${of("t", ID)}, ${shown}`),
  };
}

/** The parameters of terms, from the sixth on. */
function termParams(
  kind: PeriodicConfig["kind"],
  isOwn: boolean,
  { rate, period, most, capacity, own, least, over }: TermNumbers,
  now: number,
): number[] {
  const params = [rate, period, most];
  if (isOwn) return kind === "fixed window" ? [...params, now] : params;
  return [...params, now, capacity, own, least, over];
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
  const ofForm = (isOwn: boolean, columns: string) => ({
    "token bucket": takeTexts(table, "token bucket", isOwn, columns),
    "fixed window": takeTexts(table, "fixed window", isOwn, columns),
  });
  const takes = (columns: string): Takes => ({
    own: ofForm(true, columns),
    any: ofForm(false, columns),
    each: takeEachText(table, columns),
  });
  const texts = [takes(shown), takes(`${shown}, ${CLOCK}`)] as const;
  const takeOne: NonNullable<Statements["takeOne"]> = async (
    connection,
    { row, terms, total, fresh },
    { now, mayWait, isWanted },
  ) => {
    const learn = clock.due();
    const { kind } = terms.config;
    const numbers = termNumbers(terms);
    const isOwn = owesNothing(numbers) && fresh.used === total;
    const { one, oneBounded } = texts[learn === undefined ? 0 : 1][isOwn ? "own" : "any"][kind];
    const params: unknown[] = [row.name, row.key, row.shard, fresh.used, fresh.ts];
    params.push(...termParams(kind, isOwn, numbers, now));
    if (!isOwn) params.push(total);
    try {
      const text = mayWait ? one : oneBounded;
      // After the three columns of the id, all parameters are doubles.
      const found = await connection.query(text, params, isWanted, 3);
      learn?.(found);
      return found.length === 0 ? undefined : shownState(found[0]!);
    } catch (error) {
      // The limiter never writes a row that causes this error. Leave the call to `decide`.
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
        // As in `takeOne`. Otherwise the neighbours of the row would fail, too.
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
  const numbers = shared && termNumbers(shared);
  if (numbers === undefined || !lines.every((line) => isTotalShown(line, numbers))) {
    return { text: takes.each, params: takeEachParams(lines, now) };
  }
  const { kind } = shared!.config;
  const isOwn = owesNothing(numbers) && lines.every(({ total, fresh }) => fresh.used === total);
  const params = [
    ...idParams(lines.map(({ row }) => row)),
    lines.map(({ fresh }) => fresh.used),
    lines.map(({ fresh }) => fresh.ts),
    ...termParams(kind, isOwn, numbers, now),
  ];
  return { text: takes[isOwn ? "own" : "any"][kind].many, params };
}

/** Whether the total of a line can be computed from the row that it would insert. */
function isTotalShown(
  { total, fresh: { used } }: TakeLine<PeriodicConfig>,
  { capacity }: TermNumbers,
): boolean {
  return total === (used < 0 ? capacity - used : used);
}
