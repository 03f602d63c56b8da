/**
 * The take of a block: a plain take of tokens, for the calls that wait for the block and for calls to
 * come.
 */
import type { RateLimitState } from "../../core/calculate.js";
import { isOfLarger } from "../../core/rows/bucket.js";
import { heldAt, tokensOf, usedAt } from "../../core/rows/reading.js";
import type { Row } from "../../core/rows/row.js";
import { type Bucket, emptyAt, type PeriodicConfig } from "../../core/config.js";
import { takeTokens } from "../../core/decide.js";
import { canChargePlainly } from "../store/plain-path.js";
import type { Decision, Outcome, PlainTake, RowId } from "../store/store.js";
import { LEAST_BLOCK } from "./block-size.js";
import type { LeaseTerms } from "./lease-terms.js";

/** The limit of a take, and its row. */
export interface LeasedLimit {
  readonly rows: readonly [RowId];
  /** The config of the limit, without the lease. */
  readonly part: Bucket;
  readonly floor: number;
  readonly isPlain: boolean;
  readonly lease: LeaseTerms;
}

export interface BlockTaken {
  /** Tokens taken, those of the waiting calls included; 0 where the row has too few for a block. */
  readonly size: number;
  /** The tokens that were left in the row at `now`. */
  readonly row: RateLimitState;
  /** When the take was decided, by the limiter's clock, epoch ms. */
  readonly now: number;
}

export class BlockTake implements Decision<BlockTaken>, PlainTake<BlockTaken> {
  readonly rows: readonly [RowId];
  readonly config: PeriodicConfig;
  readonly count: number;
  readonly floor: number;
  readonly least: number;

  /**
   * @param waiting tokens of the calls that wait for the block.
   * @param block tokens for calls to come, by what this process knows of the row.
   * @param sizeAt the tokens of the block, by the level that the decision reads in the row. Pure.
   */
  constructor(
    private readonly limit: LeasedLimit,
    private readonly waiting: number,
    block: number,
    private readonly sizeAt: (level: number) => number,
    readonly clock: () => number,
  ) {
    this.rows = limit.rows;
    this.config = limit.lease.config;
    this.least = limit.lease.least;
    this.floor = limit.lease.keeps || limit.floor;
    this.count = waiting + block;
  }

  get plain(): this | undefined {
    const { config: part, rows, least, floor } = this;
    const { isPlain } = this.limit;
    const count = least + this.count;
    return canChargePlainly({ limit: { isPlain, part }, rows, count, floor }) ? this : undefined;
  }

  granted(next: Row, later: number, now: number): BlockTaken {
    const { value, ts } = rowAt(next, this.config, now);
    return { size: this.count, row: { value: value + later, ts }, now };
  }

  decide([state = null]: readonly (Row | null)[]): Outcome<BlockTaken> {
    const now = this.clock();
    const { config, waiting, floor, least } = this;
    const { keeps } = this.limit.lease;
    const level = emptyAt(config) - usedAt(state, config, now, least).used - keeps;
    const block = Math.min(this.count - waiting, this.sizeAt(level - waiting));
    const size = waiting + block;
    const next =
      block >= LEAST_BLOCK ? takeTokens(state, config, now, size, floor, least) : undefined;
    if (next === undefined) {
      return { result: { size: 0, row: heldAt(state, this.limit.part, now), now } };
    }
    return { result: { size, row: rowAt(next, config, now), now }, writes: [next] };
  }
}

/**
 * The tokens left in a row that was written now. The row of a larger config keeps an earlier instant, so
 * that row alone is read at `now`.
 */
function rowAt(row: Row, config: PeriodicConfig, now: number): RateLimitState {
  return isOfLarger(config, row) ? heldAt(row, config, now) : tokensOf(row, config);
}
