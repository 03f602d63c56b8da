/**
 * `stateAt` of `core` as SQL. The operations are in the same order as there, so that the results are
 * the same to the last bit. The differential test compares them.
 */
import type { PeriodicConfig } from "../../../core/config.js";
import type { DialectName } from "./driver.js";

/**
 * The operands, as SQL that gives doubles. Each is called once for every place where it stands, in
 * the order of the text, because a `?` is a parameter of its own.
 */
export interface Operands {
  /** The row's own. */
  value(): string;
  ts(): string;
  /** The terms. */
  rate(): string;
  period(): string;
  capacity(): string;
  now(): string;
  /** Whether the row belongs to a fixed window, as a condition; for `"either"` only. */
  isWindow?(): string;
}

/** The kind of all rows of a statement, or `"either"` if each row has its own. */
export type FormulaKind = PeriodicConfig["kind"] | "either";

interface Functions {
  least: string;
  greatest: string;
  zero: string;
  /** A whole number of windows, from a quotient that is not negative. */
  floor(quotient: string): string;
}

const FUNCTIONS: Record<DialectName, Functions> = {
  postgresql: {
    least: "LEAST",
    greatest: "GREATEST",
    zero: "0",
    floor: (quotient) => `floor(${quotient})`,
  },
  mysql: {
    least: "LEAST",
    greatest: "GREATEST",
    zero: "0",
    floor: (quotient) => `FLOOR(${quotient})`,
  },
  sqlite: {
    least: "min",
    greatest: "max",
    // `max(0, …)` could be an integer, and then a quotient of two integers would be one, too.
    zero: "0.0",
    // Some builds of SQLite have no floor().
    floor: (quotient) => `CAST(${quotient} AS INTEGER)`,
  },
};

/** The tokens that a row holds at `now`. */
export function heldSql(dialect: DialectName, kind: FormulaKind, operands: Operands): string {
  if (kind === "either") return eitherKind(operands, (each) => heldSql(dialect, each, operands));
  return `${FUNCTIONS[dialect].least}(${refilledSql(dialect, kind, operands)}, ${operands.capacity()})`;
}

/**
 * The same without the capacity. It is enough to tell whether a row holds a number of tokens that the
 * capacity does not rule out, because a rounded subtraction keeps the order of its results.
 */
export function refilledSql(dialect: DialectName, kind: FormulaKind, operands: Operands): string {
  if (kind === "either")
    return eitherKind(operands, (each) => refilledSql(dialect, each, operands));
  const { value, rate, period } = operands;
  return kind === "token bucket"
    ? `${value()} + ${elapsed(dialect, operands)} * ${rate()} / ${period()}`
    : `${value()} + ${windows(dialect, operands)} * ${rate()}`;
}

/** The `ts` that belongs to {@link heldSql}. */
export function tsSql(dialect: DialectName, kind: FormulaKind, operands: Operands): string {
  if (kind === "either") return eitherKind(operands, (each) => tsSql(dialect, each, operands));
  const { ts, now, period } = operands;
  return kind === "token bucket"
    ? `${FUNCTIONS[dialect].greatest}(${ts()}, ${now()})`
    : `${ts()} + ${windows(dialect, operands)} * ${period()}`;
}

function eitherKind(
  { isWindow }: Operands,
  formula: (kind: PeriodicConfig["kind"]) => string,
): string {
  return `CASE WHEN ${isWindow!()} THEN ${formula("fixed window")} ELSE ${formula("token bucket")} END`;
}

function elapsed(dialect: DialectName, { now, ts }: Operands): string {
  const { greatest, zero } = FUNCTIONS[dialect];
  return `${greatest}(${zero}, ${now()} - ${ts()})`;
}

function windows(dialect: DialectName, operands: Operands): string {
  return FUNCTIONS[dialect].floor(`${elapsed(dialect, operands)} / ${operands.period()}`);
}
