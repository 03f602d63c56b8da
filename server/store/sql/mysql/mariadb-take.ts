/**
 * The plain take on MariaDB, which can return the rows that a statement has written: an
 * `INSERT … SELECT … FOR UPDATE`, in which the select decides on rows that it has locked.
 */
import type { PeriodicConfig } from "../../../../core/config.js";
import type { TakeLine } from "../../row-access.js";
import { owesNothing, sharedKind, type TermNumbers, termNumbers } from "../../take-terms.js";
import type { Statements } from "../dialect.js";
import type { AnyTakeOperands, FormulaKind } from "../formula.js";
import { statesOf } from "../sql.js";
import type { DatabaseClock } from "../table/database-clock.js";
import { isLockTimeout, isOutOfRange } from "./errors.js";
import { BRIEFLY } from "./locks.js";
import {
  CLOCK,
  FORMULA,
  ID_COLUMNS,
  idValues,
  jsonTable,
  SAME_ROW,
  shownRows,
  shownState,
  STATE,
} from "./text.js";

/** A take's numbers, by name. */
type Numbers = TermNumbers & Record<"total" | "now" | "isWindow", number>;
/** The numbers of takes that owe nothing. */
const OWN = ["total", "rate", "period", "most", "now", "isWindow"] as const;
const ANY = [...OWN, "capacity", "own", "least", "over"] as const;
const listOf = (names: readonly (keyof Numbers)[]) =>
  jsonTable([...ID_COLUMNS, ...names.map((name) => `\`${name}\` DOUBLE`)]);

/** The operands over a row `t`. Numbers of the take are `:named`. */
const OPERANDS: AnyTakeOperands = {
  used: () => "t.`used`",
  ts: () => "t.`ts`",
  rate: () => ":rate",
  period: () => ":period",
  capacity: () => ":capacity",
  own: () => ":own",
  most: () => ":most",
  least: () => ":least",
  over: () => ":over",
  total: () => ":total",
  now: () => ":now",
  isWindow: () => ":isWindow",
};

/**
 * How long takes of many rows skip locked rows after a take has waited in vain, ms. Otherwise a row
 * that is held for long would delay the other rows each time.
 */
const SKIP_FOR = 5000;

interface Form {
  /** Whether the statement returns the database's clock, too. */
  withClock: boolean;
  /** Whether the statement leaves out rows that are locked. Otherwise it waits for such rows briefly. */
  skips: boolean;
  /** Whether the takes of the statement owe nothing. */
  owesNothing: boolean;
}

/**
 * The text of a take. The statement takes only from rows that exist: an insert into a gap that two
 * statements have locked is a deadlock.
 */
function takeText(
  table: string,
  kind: FormulaKind,
  from: string,
  { withClock, skips, owesNothing: isOwn }: Form,
): string {
  const { after, passes } = isOwn ? FORMULA.takeOwn : FORMULA.takeAny;
  const afterwards = () => after(kind, OPERANDS);
  const next = isOwn ? afterwards() : FORMULA.written(afterwards, OPERANDS);
  return `${BRIEFLY}
    INSERT INTO ${table} (${STATE})
    SELECT t.\`name\`, t.\`key\`, t.\`shard\`, ${next}, ${FORMULA.ts(kind, OPERANDS)}
    FROM ${from} AND ${passes(kind, OPERANDS)} FOR UPDATE ${skips ? "SKIP LOCKED" : ""}
    ON DUPLICATE KEY UPDATE \`used\` = VALUES(\`used\`), \`ts\` = VALUES(\`ts\`)
    RETURNING ${shownState()} ${withClock ? `, ${CLOCK}` : ""}`;
}

/** For many rows: the numbers are columns of the list. */
function takeMany(table: string, kind: FormulaKind, form: Form): string {
  const from = `${listOf(form.owesNothing ? OWN : ANY)} STRAIGHT_JOIN ${table} AS t FORCE INDEX (PRIMARY) WHERE ${SAME_ROW}`;
  return takeText(table, kind, from, form).replace(/:(\w+)/g, "i.`$1`");
}

/**
 * For one row: the numbers are parameters, cast to doubles. Without the cast, the parameters and their
 * quotients would be decimals.
 */
function takeOne(table: string, kind: FormulaKind, form: Form) {
  const names: string[] = [];
  const from = `${table} AS t WHERE t.\`name\` = :name AND t.\`key\` = :key AND t.\`shard\` = :shard`;
  const text = takeText(table, kind, from, form).replace(/:(\w+)/g, (_, name: string) => {
    names.push(name);
    return ANY.some((number) => number === name) ? "CAST(? AS DOUBLE)" : "?";
  });
  return { text, params: (values: Record<string, unknown>) => names.map((name) => values[name]) };
}

/** @param table quoted. */
export function mariaDbTake(table: string, clock: DatabaseClock): NonNullable<Statements["take"]> {
  const takes = (form: Form) => ({
    many: {
      "token bucket": takeMany(table, "token bucket", form),
      "fixed window": takeMany(table, "fixed window", form),
      either: takeMany(table, "either", form),
    },
    one: {
      "token bucket": takeOne(table, "token bucket", form),
      "fixed window": takeOne(table, "fixed window", form),
    },
  });
  const bits = [false, true];
  const texts = bits.map((skips) =>
    bits.map((withClock) => bits.map((isOwn) => takes({ withClock, skips, owesNothing: isOwn }))),
  );
  /** By the monotonic clock. */
  let skipUntil = -Infinity;

  return async (connection, lines, { now, mayWait, isWanted }) => {
    const [first] = lines;
    // Measured and rejected: many rows always skip (-35 %, 3 processes, 100 rows).
    const skips = !mayWait || (lines.length > 1 && performance.now() < skipUntil);
    const learn = clock.due();
    const numbers = lines.map((line) => numbersOf(line, now));
    const isOwn = numbers.every(owesNothing);
    const { many, one } = texts[Number(skips)]![Number(learn !== undefined)]![Number(isOwn)]!;
    let text: string;
    let params: unknown[];
    if (lines.length > 1 || first === undefined) {
      text = many[sharedKind(lines) ?? "either"];
      const names = isOwn ? OWN : ANY;
      const values = lines.map(({ row }, i) => [
        ...idValues(row),
        ...names.map((name) => numbers[i]![name]),
      ]);
      params = [JSON.stringify(values)];
    } else {
      const take = one[first.terms.config.kind];
      text = take.text;
      const [name, key, shard] = idValues(first.row);
      params = take.params({ name, key, shard, ...numbers[0] });
    }
    try {
      const rows = await connection.query(text, params, isWanted);
      learn?.(rows);
      return statesOf(shownRows(rows));
    } catch (error) {
      // The limiter never writes a row that causes this error. Leave the lines to `decide`, or the
      // neighbours of the row would fail, too.
      if (isOutOfRange(error)) return new Map();
      if (isLockTimeout(error)) skipUntil = performance.now() + SKIP_FOR;
      throw error;
    }
  };
}

function numbersOf({ total, terms }: TakeLine<PeriodicConfig>, now: number): Numbers {
  const isWindow = Number(terms.config.kind === "fixed window");
  return { ...termNumbers(terms), total, now, isWindow };
}
