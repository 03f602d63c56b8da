/**
 * `takeTokens` and `isFullAt` of `core` as SQL. The operations are in the same order as in `core`, so
 * that the results are the same to the last bit. The differential test compares the results.
 */
import type { PeriodicConfig } from "../../../core/config.js";

/**
 * The operands, as SQL that gives doubles. Each operand is called once for every place where it stands,
 * in the order of the text, because each `?` is a parameter of its own.
 */
export interface Operands {
  /** The numbers of the row. */
  used(): string;
  ts(): string;
  /** The terms. */
  rate(): string;
  period(): string;
  now(): string;
  /** Whether the row belongs to a fixed window, as a condition; for `"either"` only. */
  isWindow?(): string;
}

/** Operands of a take that owes nothing, see `owesNothing`. */
export interface TakeOperands extends Operands {
  total(): string;
  most(): string;
}

/** Operands of any take, see `TermNumbers`. */
export interface AnyTakeOperands extends TakeOperands {
  capacity(): string;
  own(): string;
  least(): string;
  over(): string;
}

/** Operands of pruning. */
export interface FullOperands extends Operands {
  capacity(): string;
  /** How much counts as used when a closed bucket opens. */
  opened(): string;
}

/** The kind of all rows of a statement, or `"either"` if each row has its own. */
export type FormulaKind = PeriodicConfig["kind"] | "either";

/** Functions that have other names in other databases. */
interface Functions {
  greatest: string;
  zero: string;
  /** A whole number of windows, from a quotient that is not negative. */
  floor(quotient: string): string;
}

/** The parts of a take from one row. */
interface Take<TOperands extends TakeOperands> {
  /**
   * How much is used after the take. A number above `own` is written as a debt, see `Formula.written`.
   */
  after(kind: FormulaKind, operands: TOperands): string;
  /** The condition on a row that exists. A missing row needs none, because a full row has the tokens. */
  passes(kind: FormulaKind, operands: TOperands): string;
}

export interface Formula {
  /**
   * For a take that owes nothing. The take refuses a row with a debt, a row in which a larger config
   * has used more than `most`, and a closed row.
   */
  readonly takeOwn: Take<TakeOperands>;
  /**
   * For any take. The take refuses closed rows, also those that have opened since, and rows in which a
   * larger config has used more than this config has. `core` keeps what was used there, see
   * `core/rows/larger.ts`. The take also refuses rows that have used less than `over`, and those whose
   * next window has begun if there is an `over`.
   */
  readonly takeAny: Take<AnyTakeOperands> & {
    /** The part of `passes` about `over`. */
    isOver(kind: FormulaKind, operands: AnyTakeOperands): string;
  };
  /**
   * The `used` to write, from how much is used after the take. `after` stands in the text up to three
   * times.
   */
  written(after: () => string, operands: Pick<AnyTakeOperands, "own" | "capacity">): string;
  /** The `ts` after a take. */
  ts(kind: FormulaKind, operands: Operands): string;
  /** Whether a row is full. */
  isFull(kind: FormulaKind, operands: FullOperands): string;
}

/**
 * Only closed rows, and rows of configs that SQL does not calculate with, say more than this number.
 * This number is far below the largest double.
 */
const CLOSED_FROM = "1e60";

export function createFormula({ greatest, zero, floor }: Functions): Formula {
  const elapsed = ({ now, ts }: Operands) => `${greatest}(${zero}, ${now()} - ${ts()})`;
  const windows = (operands: Operands) => floor(`${elapsed(operands)} / ${operands.period()}`);
  const refill = byKind((kind, operands) => {
    return kind === "token bucket"
      ? `${elapsed(operands)} * ${operands.rate()} / ${operands.period()}`
      : `${windows(operands)} * ${operands.rate()}`;
  });
  const readByAny = ({ used, capacity }: AnyTakeOperands) =>
    `CASE WHEN ${used()} < ${zero} THEN ${capacity()} - ${used()} ELSE ${used()} END`;
  /** A window that begins counts as more tokens than any row has used. */
  const begun = byKind((kind, operands) =>
    kind === "token bucket" ? refill(kind, operands) : `${windows(operands)} * ${CLOSED_FROM}`,
  );
  const isOver = (kind: FormulaKind, operands: AnyTakeOperands) =>
    `${readByAny(operands)} - ${begun(kind, operands)} >= ${operands.over()}`;
  /**
   * How much is used, as `levelIn` of `core` reads it: a debt comes on top of the capacity, and what a
   * larger config has used is not cut to the capacity.
   */
  const level = ({ used, capacity, opened }: FullOperands) =>
    `CASE WHEN ${used()} > ${CLOSED_FROM} THEN ${opened()} ` +
    `WHEN ${used()} < ${zero} THEN ${capacity()} - ${used()} ELSE ${used()} END`;
  return {
    takeOwn: {
      after: (kind, operands) =>
        `${greatest}(${operands.used()} - ${refill(kind, operands)}, ${zero}) + ${operands.total()}`,
      passes: (kind, operands) =>
        `${operands.used()} BETWEEN ${zero} AND ${operands.most()} ` +
        `AND ${operands.used()} - ${refill(kind, operands)} + ${operands.total()} <= ${operands.most()}`,
    },
    takeAny: {
      isOver,
      after: (kind, operands) =>
        `${greatest}(${readByAny(operands)} - ${refill(kind, operands)}, ${operands.least()}) ` +
        `+ ${operands.total()}`,
      passes: (kind, operands) =>
        `${operands.used()} <= ${operands.own()} ` +
        `AND ${readByAny(operands)} - ${refill(kind, operands)} + ${operands.total()} <= ${operands.most()} ` +
        `AND ${isOver(kind, operands)}`,
    },
    written: (after, { own, capacity }) =>
      `CASE WHEN ${after()} > ${own()} THEN ${capacity()} - (${after()}) ELSE ${after()} END`,
    ts: byKind((kind, operands) => {
      const { ts, now, period } = operands;
      return kind === "token bucket"
        ? `${greatest}(${ts()}, ${now()})`
        : `${ts()} + ${windows(operands)} * ${period()}`;
    }),
    isFull: (kind, operands) =>
      `(${level(operands)} - ${refill(kind, operands)} <= ${zero} ` +
      `AND (${operands.used()} <= ${CLOSED_FROM} OR ${operands.ts()} <= ${operands.now()}))`,
  };
}

/** The formula for rows of either kind. */
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
