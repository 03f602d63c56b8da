/**
 * `limit` and `check`: one call on one limit, as a decision for the store. It is made on the only
 * row of the limit, or on two random shards.
 */
import type { RateLimitState } from "../../core/calculate.js";
import { floorOf, type PeriodicConfig, type RateLimitConfig } from "../../core/config.js";
import { decideRateLimit, grantOf, type RateLimitResult } from "../../core/decide.js";
import { decideShardPair } from "../../core/shards.js";
import { canTakePlainly } from "../store/plain-path.js";
import type { Decision, Outcome, PlainTake, RowId } from "../store/store.js";
import type { LimitOptions } from "./call-options.js";
import { chooseFullerFirst } from "./choose-shards.js";
import { type Context, type Environment, report } from "./context.js";
import { denialError } from "./denial-error.js";
import { openedBy } from "./fail-open.js";
import { LIMIT_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import { type LimitRequest, requestOf } from "./limit-request.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { remember } from "./taken.js";

/** @param maxWait see `LimitRequest`; for `acquire`. */
export function limit(
  context: Context,
  name: string,
  options?: LimitOptions,
  maxWait?: number,
): Promise<RateLimitResult> {
  return call(context, "limit", name, options, maxWait);
}

/** The same answer. Consumes nothing. */
export function check(
  context: Context,
  name: string,
  options?: LimitOptions,
): Promise<RateLimitResult> {
  return call(context, "check", name, options);
}

// One promise per call from here to the database. Where hundreds of calls wait for one row, this
// process is the bottleneck, and most of its work is collecting the garbage of earlier calls.
function call(
  context: Context,
  action: "limit" | "check",
  name: string,
  options: LimitOptions = {},
  maxWait?: number,
): Promise<RateLimitResult> {
  return new Promise((done, failed) => {
    const { environment, submit } = context;
    const readOnly = action === "check";
    rejectUnknownOptions(options, LIMIT_OPTIONS, readOnly ? "check()" : "limit()");
    const decision = new LimitDecision(
      requestOf(context, name, options, maxWait),
      readOnly,
      environment,
    );
    const resolved = decision.limit;
    const answer = (decided: RateLimitResult) => {
      let result = resolved.config.shadow ? inShadow(decided, decision.now) : decided;
      if (result !== decided) result = remember(result, decision); // A new object.
      report(context, action, decision, result, decision.isChange);
      if (!result.ok && options.throws) failed(denialError(decision, result, decision.now));
      else done(result);
    };
    if (!resolved.failsOpen) return submit(decision, answer, failed);
    submit(decision, answer, (error) => {
      const result = openedBy(error, resolved, context);
      if (result === undefined) return failed(error);
      report(context, action, decision, result, false);
      done(remember(result, { limit: resolved, count: 0, environment, readOnly }));
    });
  });
}

/**
 * Decides on one request. A class, because hundreds of calls may wait at a time, and its few fields
 * keep less memory alive than a closure would.
 */
class LimitDecision implements LimitRequest, Decision<RateLimitResult>, PlainTake<RateLimitResult> {
  readonly limit: ResolvedLimit;
  readonly count: number;
  readonly reserve: boolean;
  readonly maxWait: number | undefined;
  readonly rows: readonly RowId[];
  /** When the last decision was made, by the limiter's clock, epoch ms. */
  now = 0;
  /** Whether the last decision changed a row. */
  isChange = false;

  constructor(
    { limit: resolved, count, reserve, maxWait }: LimitRequest,
    readonly readOnly: boolean,
    readonly environment: Environment,
  ) {
    this.limit = resolved;
    this.count = count;
    this.reserve = reserve;
    this.maxWait = maxWait;
    this.rows = chooseFullerFirst(resolved, environment);
  }

  /**
   * With shards, it takes from the shard that is believed to be the fuller one. A call that finds
   * too few tokens there is decided on both.
   */
  get plain(): this | undefined {
    return canTakePlainly(this) ? this : undefined;
  }

  get config(): PeriodicConfig {
    // The call is plain only where that is so.
    return this.limit.part as PeriodicConfig;
  }

  get floor(): number {
    // The other shard may still have tokens, so this one must not go into debt.
    const { part, floor } = this.limit;
    return this.reserve && this.rows.length === 1 ? floorOf(part, true) : floor;
  }

  get clock(): () => number {
    return this.environment.clock;
  }

  granted(next: RateLimitState, later: number, now: number): RateLimitResult {
    this.now = now;
    this.isChange = true;
    const result = grantOf(next, this.limit.part, now, later);
    if (this.rows.length === 1 || !result.ok) return remember(result, this);
    const { shard } = this.rows[0]!;
    this.limit.seen[shard] = next;
    return remember({ ...result, shards: [{ shard, count: this.count }] }, this);
  }

  decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    this.now = this.environment.clock();
    const { result, next } = decideRequest(this, this.rows, states, this.now, this.readOnly);
    if (this.rows.length > 1) {
      for (const [i, { shard }] of this.rows.entries()) {
        this.limit.seen[shard] = next[i] ?? states[i] ?? undefined;
      }
    }
    if (this.readOnly) return { result: remember(result, this) };
    this.isChange = (this.count > 0 || !result.ok) && next.some((state) => state !== undefined);
    return { result: remember(result, this), writes: this.isChange ? next : undefined };
  }
}

/** The answer to a request on these states of its rows, and the states to write. */
export function decideRequest(
  { limit: { config, part }, count, reserve, maxWait = Infinity }: LimitRequest,
  rows: readonly RowId[],
  states: readonly (RateLimitState | null)[],
  now: number,
  isCheck: boolean = false,
): { result: RateLimitResult; next: readonly (RateLimitState | undefined)[] } {
  let result: RateLimitResult;
  let next: readonly (RateLimitState | undefined)[];
  if (config.shards === undefined || config.shards === 1) {
    // `check` closes nothing, so it answers with the wait of a bucket that stays open.
    const given = isCheck ? withoutBlock(part) : part;
    const decided = decideRateLimit(states[0] ?? null, given, now, count, reserve);
    result = decided.result;
    next = [decided.next];
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

/** The answer of a limit that only reports: it lets every call through, and says what it would do. */
export function inShadow(decided: RateLimitResult, now: number): RateLimitResult {
  const { ok, retryAfter, ...rest } = decided;
  if (retryAfter === undefined) return decided;
  return { ts: now, ...rest, ok: true, shadow: { ok, retryAfter } };
}
