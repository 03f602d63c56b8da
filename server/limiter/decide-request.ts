/** The answer to a call on the states of its rows: the only one of the limit, or two shards. */
import type { RateLimitState } from "../../core/calculate.js";
import type { RateLimitConfig } from "../../core/config.js";
import { decideRateLimit, type RateLimitResult } from "../../core/decide.js";
import { decideShardPair } from "../../core/shards.js";
import { struckState, withNextBlock } from "../../core/strikes.js";
import { answerAt } from "./overrides/overridden-answer.js";
import type { RowId } from "../store/store.js";
import type { LimitRequest } from "./limit-request.js";

/** The answer to a request on these states of its rows, and the states to write. */
export function decideRequest(
  { limit: { config, part, answer }, count, reserve, maxWait = Infinity }: LimitRequest,
  rows: readonly RowId[],
  states: readonly (RateLimitState | null)[],
  now: number,
  isCheck: boolean = false,
): { result: RateLimitResult; next: readonly (RateLimitState | undefined)[] } {
  if (answer !== undefined) return { result: answerAt(answer, config, now), next: [] };
  let result: RateLimitResult;
  let next: readonly (RateLimitState | undefined)[];
  if (config.shards === undefined || config.shards === 1) {
    // `check` closes nothing, so it answers with the wait of a bucket that stays open.
    const counts = !isCheck && typeof part.blockFor === "object";
    const closing = counts ? withNextBlock(part, states[1], now) : part;
    const given = isCheck ? withoutBlock(part) : closing;
    const decided = decideRateLimit(states[0] ?? null, given, now, count, reserve);
    result = decided.result;
    next = [decided.next];
    if (counts) {
      // The second row counts the closings, and stays as it is when there is none.
      const closed = result.ok ? undefined : decided.next;
      next = [decided.next, closed && struckState(part, states[1], now, closed, given)];
    }
  } else {
    const pair = [states[0] ?? null, states[1] ?? null] as const;
    const decided = decideShardPair(pair, part, now, count, reserve);
    next = decided.next;
    result = decided.result;
    if (result.ok) {
      const used = rows.map(({ shard }, i) => ({ shard, count: decided.taken[i]! }));
      result = { ...result, shards: used.filter((_, i) => next[i] !== undefined) };
    }
  }
  if (!result.ok || (result.retryAfter ?? 0) <= maxWait) return { result, next };
  // One ms later, the same reservation would have to wait one ms less.
  const wait = Math.ceil(result.retryAfter! - maxWait);
  return { result: { ok: false, retryAfter: wait, value: result.value + count }, next: [] };
}

function withoutBlock(config: RateLimitConfig): RateLimitConfig {
  if (config.blockFor === undefined) return config;
  const { blockFor: _, ...open } = config;
  return open;
}
