/**
 * `stateAt` of `core` as SQL. The operations are in the same order as there, so that the results are
 * the same to the last bit. The differential test compares them.
 */
import type { PeriodicConfig } from "../../../core/config.js";

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

/** What databases call differently. */
interface Functions {
  least: string;
  greatest: string;
  zero: string;
  /** A whole number of windows, from a quotient that is not negative. */
  floor(quotient: string): string;
}

export interface Formula {
  /** The tokens that a row holds at `now`. */
  held(kind: FormulaKind, operands: Operands): string;
  /**
   * The same without the capacity. It is enough to tell whether a row holds a number of tokens that
   * the capacity does not rule out, because a rounded subtraction keeps the order of its results.
   */
  refilled(kind: FormulaKind, operands: Operands): string;
  /** The `ts` that belongs to `held`. */
  ts(kind: FormulaKind, operands: Operands): string;
}

export function createFormula({ least, greatest, zero, floor }: Functions): Formula {
  const elapsed = ({ now, ts }: Operands) => `${greatest}(${zero}, ${now()} - ${ts()})`;
  const windows = (operands: Operands) => floor(`${elapsed(operands)} / ${operands.period()}`);
  const refilled = byKind((kind, operands) => {
    const { value, rate, period } = operands;
    return kind === "token bucket"
      ? `${value()} + ${elapsed(operands)} * ${rate()} / ${period()}`
      : `${value()} + ${windows(operands)} * ${rate()}`;
  });
  return {
    held: byKind((kind, operands) => {
      return `${least}(${refilled(kind, operands)}, ${operands.capacity()})`;
    }),
    refilled,
    ts: byKind((kind, operands) => {
      const { ts, now, period } = operands;
      return kind === "token bucket"
        ? `${greatest}(${ts()}, ${now()})`
        : `${ts()} + ${windows(operands)} * ${period()}`;
    }),
  };
}

/** The same for rows of either kind. */
function byKind(
  formula: (kind: PeriodicConfig["kind"], operands: Operands) => string,
): (kind: FormulaKind, operands: Operands) => string {
  return (kind, operands) => {
    if (kind !== "either") return formula(kind, operands);
    const condition = operands.isWindow!();
    const window = formula("fixed window", operands);
    return `CASE WHEN ${condition} THEN ${window} ELSE ${formula("token bucket", operands)} END`;
  };
}
