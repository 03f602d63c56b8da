/**
 * `limit` and `check`: one call on one limit, as a decision for the store. It is made on the only
 * row of the limit, or on two random shards.
 */
import type { RateLimitState } from "../../core/calculate.js";
import { floorOf, type RateLimitConfig } from "../../core/config.js";
import { grantOf, type RateLimitResult } from "../../core/decide.js";
import { canTakePlainly } from "../store/plain-path.js";
import type { Decision, Outcome, PlainTake, RowId } from "../store/store.js";
import type { Leases } from "../leases/leases.js";
import type { LimitOptions } from "./call-options.js";
import { chooseFullerFirst, rowsToLimit } from "./choose-shards.js";
import { decideOnRow, TokenClaim } from "./claims/token-claim.js";
import { type Context, type Environment, report } from "./context.js";
import { denialError } from "./denial-error.js";
import { type Claim, ClaimDecision, Draft } from "./draft.js";
import { openedBy } from "./fail-open.js";
import { LIMIT_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { LeasedCall } from "./leased-call.js";
import { limitLeased } from "./limit-leased.js";
import { type LimitRequest, requestOf } from "./limit-request.js";
import { once } from "./once.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { type Memory, remember } from "./receipt.js";
import { withHeld } from "./with-held.js";

/**
 * One promise per call from here to the database. Where hundreds of calls wait for one row, this
 * process is the bottleneck, and most of its work is collecting the garbage of earlier calls.
 *
 * @param maxWait see `LimitRequest`; for `acquire`.
 */
export function limit(
  context: Context,
  name: string,
  options: LimitOptions = {},
  maxWait?: number,
): Promise<RateLimitResult> {
  return new Promise((done, failed) => {
    const { environment, leases } = context;
    rejectUnknownOptions(options, LIMIT_OPTIONS, "limit()");
    const request = requestOf(context, name, options, maxWait);
    if (options.once !== undefined) {
      const { random, clock } = environment;
      const claim = new TokenClaim(request, rowsToLimit(request.limit, random));
      const marker = context.markerFor(request.limit, options.once);
      const decision = new ClaimDecision(once(claim, request.limit, marker), clock);
      const { limit: resolved, count } = request;
      const of = { limit: resolved, count, environment, marker, now: 0 };
      return send(context, "limit", of, decision, options, done, failed);
    }
    if (leases !== undefined && canServe(request)) {
      return limitLeased(context, leases, { request, options, done, failed }, askRowFor);
    }
    askRow(context, request, options, done, failed);
  });
}

/** The same answer. Consumes nothing. */
export function check(
  context: Context,
  name: string,
  options: LimitOptions = {},
): Promise<RateLimitResult> {
  return new Promise((done, failed) => {
    const { environment, leases } = context;
    rejectUnknownOptions(options, LIMIT_OPTIONS, "check()");
    const request = requestOf(context, name, options);
    const { limit: resolved, count } = request;
    let claim: Claim<RateLimitResult> = new TokenClaim(
      request,
      chooseFullerFirst(resolved, environment),
      false,
    );
    if (options.once !== undefined) {
      claim = once(claim, resolved, context.markerFor(resolved, options.once));
    } else if (leases !== undefined && canServe(request)) {
      claim = orFromBlock(claim, request, leases);
    }
    const decision = new ClaimDecision(claim, environment.clock, true);
    const of = { limit: resolved, count, environment, readOnly: true, now: 0 };
    send(context, "check", of, decision, options, done, failed);
  });
}

function askRowFor(context: Context, { request, options, done, failed }: LeasedCall): void {
  askRow(context, request, options, done, failed);
}

/** Asks the store, unless the answer is a denial that is known. */
function askRow(
  context: Context,
  request: LimitRequest,
  options: LimitOptions,
  done: (result: RateLimitResult) => void,
  failed: (error: unknown) => void,
): void {
  const { environment, denials } = context;
  // `acquire` has a `maxWait`. It reserves and waits, and is denied for its wait.
  const mayRemember = request.maxWait === undefined && request.limit.rememberFor > 0;
  if (!mayRemember || denials === undefined) {
    const decision = new LimitDecision(request, environment);
    return send(context, "limit", decision, decision, options, done, failed);
  }
  const now = environment.clock();
  const known = denials.answer(request, now);
  if (known === undefined) {
    const decision = new LimitDecision(request, environment);
    const submit = denials.noting(context.submit, request);
    return send({ ...context, submit }, "limit", decision, decision, options, done, failed);
  }
  report(context, "limit", request, known, false);
  if (options.throws) failed(denialError(request, known, now));
  else done(known);
}

/** Whether blocks count for a call. Reservations and waits are a matter of the row alone. */
function canServe(request: LimitRequest): request is LeasedCall["request"] {
  const { limit: resolved, reserve, maxWait, count } = request;
  return resolved.lease !== undefined && !reserve && maxWait === undefined && count > 0;
}

/**
 * Asks the store. Exactly one of `done` and `failed` is called.
 *
 * @param of what the result remembers.
 */
function send(
  context: Context,
  action: "limit" | "check",
  of: Memory,
  decision: Decided,
  options: LimitOptions,
  done: (result: RateLimitResult) => void,
  failed: (error: unknown) => void,
): void {
  const { environment, submit, denials } = context;
  const { limit: resolved, readOnly = false } = of;
  const answer = (decided: RateLimitResult) => {
    const { now } = decision;
    if (!readOnly) denials?.used(resolved, decided.ok);
    const shown = resolved.config.shadow ? inShadow(decided, now) : decided;
    of.now = now;
    const result = remember(shown, of);
    report(context, action, of, result, decision.isChange);
    if (!result.ok && options.throws) failed(denialError(of, result, now));
    else done(result);
  };
  if (!resolved.failsOpen) return submit(decision, answer, failed);
  submit(decision, answer, (error) => {
    const result = openedBy(error, resolved, context);
    if (result === undefined) return failed(error);
    report(context, action, of, result, false);
    done(remember(result, { limit: resolved, count: 0, environment, readOnly }));
  });
}

/** A decision that says what its last run did. */
interface Decided extends Decision<RateLimitResult> {
  readonly now: number;
  readonly isChange: boolean;
}

/**
 * Decides on one request. A class, because hundreds of calls may wait at a time, and its few fields
 * keep less memory alive than a closure would.
 */
class LimitDecision implements LimitRequest, Decided, PlainTake<RateLimitResult> {
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
    readonly environment: Environment,
  ) {
    this.limit = resolved;
    this.count = count;
    this.reserve = reserve;
    this.maxWait = maxWait;
    this.rows = resolved.counted ?? chooseFullerFirst(resolved, environment);
  }

  /**
   * With shards, it takes from the shard that is believed to be the fuller one. A call that finds
   * too few tokens there is decided on both.
   */
  get plain(): this | undefined {
    return canTakePlainly(this) ? this : undefined;
  }

  get config(): RateLimitConfig {
    return this.limit.part;
  }

  get floor(): number {
    // The other shard may still have tokens, so this one must not go into debt.
    const { part, floor } = this.limit;
    return this.reserve && !this.isSharded ? floorOf(part, true) : floor;
  }

  get clock(): () => number {
    return this.environment.clock;
  }

  /** Whether it is decided on two shards. */
  private get isSharded(): boolean {
    const { part, config } = this.limit;
    return part !== config;
  }

  granted(next: RateLimitState, later: number, now: number): RateLimitResult {
    this.now = now;
    this.isChange = true;
    const result = grantOf(next, this.limit.part, now, later);
    if (!this.isSharded || !result.ok) return result;
    const { shard } = this.rows[0]!;
    this.limit.seen[shard] = next;
    return { ...result, shards: [{ shard, count: this.count }] };
  }

  decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    const now = (this.now = this.environment.clock());
    if (this.rows.length === 1) {
      const { result, next } = decideOnRow(this, states[0]!, now);
      this.isChange = next !== undefined;
      return { result, writes: next && [next] };
    }
    const draft = new Draft(this.rows, states);
    const result = new TokenClaim(this, this.rows).attempt(draft, now);
    this.isChange = draft.isWritten;
    if (this.isSharded) {
      for (const row of this.rows) this.limit.seen[row.shard] = draft.peek(row) ?? undefined;
    }
    return draft.outcome(result);
  }
}

/** What a call would get from the row, or from a block of this process. */
function orFromBlock(
  claim: Claim<RateLimitResult>,
  { limit: resolved, count }: LeasedCall["request"],
  leases: Leases<LeasedCall>,
): Claim<RateLimitResult> {
  return {
    rows: claim.rows,
    attempt(draft, now) {
      const result = claim.attempt(draft, now);
      const value = withHeld(leases, resolved, result.value);
      // The wait is that of the row: what blocks hold then is not known.
      if (result.ok || !leases.covers(resolved, count)) return { ...result, value };
      return { ok: true, value: value - count, ts: now };
    },
  };
}

/** The answer of a limit that only reports: it lets every call through, and says what it would do. */
export function inShadow(decided: RateLimitResult, now: number): RateLimitResult {
  const { ok, retryAfter, ...rest } = decided;
  if (retryAfter === undefined) return decided;
  return { ts: now, ...rest, ok: true, shadow: { ok, retryAfter } };
}
