/** A claim on tokens of one limit: on its only row, or on two of its shards. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { RateLimitConfig } from "../../../core/config.js";
import {
  decideRateLimit,
  type RateLimitDecision,
  type RateLimitResult,
} from "../../../core/decide.js";
import { decideShardPair } from "../../../core/shards.js";
import { struckState, withNextBlock } from "../../../core/strikes.js";
import type { RowId } from "../../store/store.js";
import type { Claim, Draft } from "../draft.js";
import type { LimitRequest } from "../limit-request.js";
import { answerAt } from "../overrides/overridden-answer.js";
import type { ResolvedLimit } from "../resolve-limit.js";

type Row = RateLimitState | null;

// Private by TypeScript alone: a method with a #name marks each object, and one is made for each call.
export class TokenClaim implements LimitRequest, Claim<RateLimitResult> {
  readonly limit: ResolvedLimit;
  readonly count: number;
  readonly reserve: boolean;
  readonly maxWait: number | undefined;

  /**
   * @param rows the only row, that row and the one that counts its closings, or two shards.
   * @param closes whether a denial may close the bucket (`blockFor`). If not, it tells the wait of a
   * bucket that stays open.
   */
  constructor(
    { limit, count, reserve, maxWait }: LimitRequest,
    readonly rows: readonly RowId[],
    readonly closes: boolean = true,
  ) {
    this.limit = limit;
    this.count = count;
    this.reserve = reserve;
    this.maxWait = maxWait;
  }

  /** Whether it is decided on two shards. */
  protected get isSharded(): boolean {
    const { part, config } = this.limit;
    return part !== config;
  }

  attempt(draft: Draft, now: number): RateLimitResult {
    const { limit, rows, closes } = this;
    const [row] = rows as [RowId];
    if (limit.answer !== undefined) return answerAt(limit.answer, limit.config, now);
    if (this.isSharded) return this.takeFromShards(draft, now);
    if (closes && rows.length === 2) return this.takeOrStrike(draft, now);
    const { result, next } = this.decideOn(draft.read(row), now);
    if (next !== undefined) draft.write(row, next);
    return result;
  }

  /** The same on the state of the only row, without a draft. */
  decideOn(state: Row, now: number, config: RateLimitConfig = this.limit.part): RateLimitDecision {
    const { limit, count, reserve, closes } = this;
    if (limit.answer !== undefined)
      return { result: answerAt(limit.answer, limit.config, now), next: undefined };
    const decided = decideRateLimit(
      state,
      closes ? config : withoutBlock(config),
      now,
      count,
      reserve,
    );
    const { result } = decided;
    if (!result.ok) return decided;
    if (this.isTooLate(result)) return { result: this.tooLate(result), next: undefined };
    return count === 0 ? { result, next: undefined } : decided;
  }

  /** A denial that closes the bucket is counted in the second row. */
  private takeOrStrike(draft: Draft, now: number): RateLimitResult {
    const [row, counting] = this.rows as [RowId, RowId];
    const { part } = this.limit;
    const strikes = draft.peek(counting);
    const closing = withNextBlock(part, strikes, now);
    const { result, next } = this.decideOn(draft.read(row), now, closing);
    if (next !== undefined) draft.write(row, next);
    // A grant does not depend on the closings before it.
    if (result.ok) return result;
    draft.read(counting);
    if (next !== undefined) draft.write(counting, struckState(part, strikes, now, next, closing));
    return result;
  }

  /** The shard that is left alone may change: what it holds would not make the take wrong. */
  private takeFromShards(draft: Draft, now: number): RateLimitResult {
    const { rows, count, reserve } = this;
    const pair = rows.map((row) => draft.peek(row)) as [Row, Row];
    const { part } = this.limit;
    const { result, next, taken } = decideShardPair(pair, part, now, count, reserve);
    const isTooLate = result.ok && this.isTooLate(result);
    if (!result.ok || isTooLate || count === 0) for (const row of rows) draft.read(row);
    if (!result.ok) return result;
    if (isTooLate) return this.tooLate(result);
    const used = [0, 1].filter((i) => next[i] !== undefined);
    if (count > 0) for (const i of used) draft.write(rows[i]!, next[i]!);
    return { ...result, shards: used.map((i) => ({ shard: rows[i]!.shard, count: taken[i]! })) };
  }

  /** Whether a reservation would have to wait for longer than its caller does. */
  private isTooLate({ retryAfter = 0 }: RateLimitResult): boolean {
    return this.maxWait !== undefined && retryAfter > this.maxWait;
  }

  private tooLate({ retryAfter, value }: RateLimitResult): RateLimitResult {
    // One ms later, the same reservation would have to wait one ms less.
    const wait = Math.ceil(retryAfter! - this.maxWait!);
    return { ok: false, retryAfter: wait, value: value + this.count };
  }
}

function withoutBlock(config: RateLimitConfig): RateLimitConfig {
  if (config.blockFor === undefined) return config;
  const { blockFor: _, ...open } = config;
  return open;
}
