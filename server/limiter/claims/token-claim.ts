/** A claim on tokens of one limit: on its only row, or on two of its shards. */
import type { Row } from "../../../core/rows/row.js";
import type { Bucket } from "../../../core/config.js";
import {
  decideRateLimit,
  type RateLimitDecision,
  type RateLimitResult,
} from "../../../core/decide.js";
import { decideShardPair } from "../../../core/shards.js";
import { struckRow, withNextBlock } from "../../../core/rows/strikes.js";
import type { RowId } from "../../store/store.js";
import type { Claim, Draft } from "./draft.js";
import type { LimitRequest } from "../limits/limit-request.js";
import { answerAt } from "../limits/overrides/overridden-answer.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

type MaybeRow = Row | null;

export class TokenClaim implements LimitRequest, Claim<RateLimitResult> {
  readonly limit: ResolvedLimit;
  readonly count: number;
  readonly reserve: boolean;
  readonly maxWait: number | undefined;

  /**
   * @param rows the only row, the only row and the row that counts its closings, or two shards.
   * @param closes whether a denial may close the bucket (`blockFor`). If not, a denial has the wait of a
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

  get isShadow(): boolean {
    return this.limit.config.shadow === true;
  }

  attempt(draft: Draft, now: number): RateLimitResult {
    const { limit, rows, closes } = this;
    const [row] = rows as [RowId];
    if (limit.answer !== undefined) return answerAt(limit.answer, limit.config, now);
    if (limit.part !== limit.config) return this.takeFromShards(draft, now);
    if (closes && limit.counted !== undefined && rows.length === 2)
      return this.takeOrStrike(draft, now);
    const { part } = limit;
    const config = closes ? part : withoutBlock(part);
    const { result, next } = decideOnRow(this, draft.read(row), now, config);
    if (next !== undefined) draft.write(row, next);
    return result;
  }

  /** A denial that closes the bucket is counted in the second row. */
  private takeOrStrike(draft: Draft, now: number): RateLimitResult {
    const [row, counting] = this.rows as [RowId, RowId];
    const { part } = this.limit;
    const strikes = draft.peek(counting);
    const closing = withNextBlock(part, strikes, now);
    const { result, next } = decideOnRow(this, draft.read(row), now, closing);
    if (next !== undefined) draft.write(row, next);
    // A grant does not depend on earlier closings.
    if (result.ok) return result;
    draft.read(counting);
    if (next !== undefined) draft.write(counting, struckRow(part, strikes, now, next));
    return result;
  }

  /** A shard that the take leaves alone may change meanwhile: its tokens cannot make the take wrong. */
  private takeFromShards(draft: Draft, now: number): RateLimitResult {
    const { rows, count, reserve } = this;
    const pair = rows.map((row) => draft.peek(row)) as [MaybeRow, MaybeRow];
    const { part } = this.limit;
    const { result, next, taken } = decideShardPair(pair, part, now, count, reserve);
    const isLate = result.ok && isTooLate(this, result);
    if (!result.ok || isLate || count === 0) for (const row of rows) draft.read(row);
    if (!result.ok) return result;
    if (isLate) return tooLate(this, result);
    const used = [0, 1].filter((i) => next[i] !== undefined);
    if (count > 0) for (const i of used) draft.write(rows[i]!, next[i]!);
    return { ...result, shards: used.map((i) => ({ shard: rows[i]!.shard, count: taken[i]! })) };
  }
}

/** The answer to a call on its only row, and the state to write. No draft is needed. */
export function decideOnRow(
  request: LimitRequest,
  state: MaybeRow,
  now: number,
  config: Bucket = request.limit.part,
): RateLimitDecision {
  const { limit, count, reserve } = request;
  if (limit.answer !== undefined) {
    return { result: answerAt(limit.answer, limit.config, now), next: undefined };
  }
  const decided = decideRateLimit(state, config, now, count, reserve);
  const { result } = decided;
  if (!result.ok) return decided;
  if (isTooLate(request, result)) return { result: tooLate(request, result), next: undefined };
  return count === 0 ? { result, next: undefined } : decided;
}

/** Whether a reservation would have to wait for longer than its caller waits. */
function isTooLate({ maxWait }: LimitRequest, { retryAfter = 0 }: RateLimitResult): boolean {
  return maxWait !== undefined && retryAfter > maxWait;
}

function tooLate(
  { maxWait, count }: LimitRequest,
  { retryAfter, value }: RateLimitResult,
): RateLimitResult {
  // One ms later, the same reservation would have to wait one ms less.
  const wait = Math.ceil(retryAfter! - maxWait!);
  return { ok: false, retryAfter: wait, value: value + count };
}

function withoutBlock(config: Bucket): Bucket {
  if (config.blockFor === undefined) return config;
  const { blockFor: _, ...open } = config;
  return open;
}
