/** The calls that pass along a chain of links, see `answers.ts`. */
import type { Row } from "../../../core/rows/row.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { Block } from "../../leases/block.js";
import type { Decision } from "../../store/store.js";
import type { HoldingLimit } from "../limits/holding-limit.js";
import type { LimitRequest } from "../limits/limit-request.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** One decision on its way to its answer. Exactly one of `done` and `failed` is called, once. */
export interface Asked<TResult = unknown, TDecision = Decision<TResult>> {
  /** Makes the decision at its first call. Every later call returns the same decision. */
  toDecision(): TDecision;
  done(result: TResult): void;
  failed(error: unknown): void;
}

/** A call of `limit`. A link that answers the call never makes its decision. */
export interface LimitCall extends Asked<RateLimitResult, NotingDecision> {
  readonly request: LimitRequest;
  /**
   * Called instead of `done` where no row was asked.
   *
   * @param now epoch ms.
   * @param block the block that gave the tokens.
   */
  answer(result: RateLimitResult, now: number, block?: Block): void;
}

interface NotingDecision extends Decision<RateLimitResult> {
  /** The states that a denial has left in its rows. */
  readonly left?: readonly (Row | null)[];
  /** When the last decision was made, epoch ms. */
  readonly now?: number;
  /** After a denial: the limits that have open holds. */
  readonly holding?: readonly HoldingLimit[] | undefined;
}

export type Ask<TCall = Asked> = (call: TCall) => void;
/** Asks several decisions, which are independent of each other, in one trip. */
export type Apply = <TResult>(decisions: readonly Decision<TResult>[]) => Promise<TResult[]>;

/** The chains of a limiter, or of a transaction. */
export interface Answers {
  readonly apply: Apply;
  /** Asks one decision, by callbacks, which saves a promise and a list per call. */
  readonly ask: Ask;
  /** For calls of `limit`, by what their limit uses. */
  readonly limit: Readonly<Record<ResolvedLimit["via"], Ask<LimitCall>>>;
  /** The answer instead of a failure of the store; `undefined` if the call has to fail. */
  opened(this: void, error: unknown, limit: ResolvedLimit): RateLimitResult | undefined;
}
