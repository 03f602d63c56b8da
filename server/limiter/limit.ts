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
import { type Context, type Environment, report } from "./context.js";
import { decideRequest } from "./decide-request.js";
import { denialError } from "./denial-error.js";
import { decideOnce, type Marker } from "./once.js";
import { openedBy } from "./fail-open.js";
import { LIMIT_OPTIONS, rejectUnknownOptions } from "./known-options.js";
import type { LeasedCall } from "./leased-call.js";
import { limitLeased } from "./limit-leased.js";
import { type LimitRequest, requestOf } from "./limit-request.js";
import type { RememberedDenials } from "./remembered-denials.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { remember } from "./taken.js";
import { withHeld } from "./with-held.js";

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
    const { environment, denials, leases } = context;
    const readOnly = action === "check";
    rejectUnknownOptions(options, LIMIT_OPTIONS, readOnly ? "check()" : "limit()");
    const request = requestOf(context, name, options, maxWait);
    if (options.once !== undefined) {
      const marker = context.markerFor(request.limit, options.once);
      const once = new OnceDecision(request, readOnly, environment, marker);
      return send(context, action, once, options, done, failed);
    }
    if (request.limit.lease !== undefined && leases !== undefined && canServe(request)) {
      const leased = { request, options, done, failed };
      if (!readOnly) return limitLeased(context, leases, leased, askRow);
      const decision = new LeasedCheck(request, leases, environment);
      return send(context, action, decision, options, done, failed);
    }
    // `acquire` has a `maxWait`. It reserves and waits, and is denied for its wait.
    const mayRemember = !readOnly && maxWait === undefined && request.limit.rememberFor > 0;
    if (mayRemember && denials !== undefined) {
      return sendUnlessDenied(context, denials, request, options, done, failed);
    }
    const decision = new LimitDecision(request, readOnly, environment);
    send(context, action, decision, options, done, failed);
  });
}

/** Asks the store, unless the answer is a denial that is known. */
function sendUnlessDenied(
  context: Context,
  denials: RememberedDenials,
  request: LimitRequest,
  options: LimitOptions,
  done: (result: RateLimitResult) => void,
  failed: (error: unknown) => void,
): void {
  const { environment } = context;
  const now = environment.clock();
  const known = denials.answer(request, now);
  if (known === undefined) {
    const decision = new NotingDecision(request, false, environment);
    const submit = denials.noting(context.submit, request, decision);
    return send({ ...context, submit }, "limit", decision, options, done, failed);
  }
  report(context, "limit", request, known, false);
  if (options.throws) failed(denialError(request, known, now));
  else done(known);
}

function askRow(context: Context, { request, options, done, failed }: LeasedCall): void {
  const { denials, environment } = context;
  if (request.limit.rememberFor > 0 && denials !== undefined) {
    return sendUnlessDenied(context, denials, request, options, done, failed);
  }
  const decision = new LimitDecision(request, false, environment);
  send(context, "limit", decision, options, done, failed);
}

/** Whether blocks count for a call. Reservations and waits are a matter of the row alone. */
function canServe(request: LimitRequest): request is LeasedCall["request"] {
  return !request.reserve && request.maxWait === undefined && request.count > 0;
}

/** Asks the store. Exactly one of `done` and `failed` is called. */
function send(
  context: Context,
  action: "limit" | "check",
  decision: LimitDecision,
  options: LimitOptions,
  done: (result: RateLimitResult) => void,
  failed: (error: unknown) => void,
): void {
  const { environment, submit, denials } = context;
  const { limit: resolved, readOnly } = decision;
  const answer = (decided: RateLimitResult) => {
    if (!readOnly) denials?.used(resolved, decided.ok);
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
  protected get isSharded(): boolean {
    const { part, config } = this.limit;
    return part !== config;
  }

  granted(next: RateLimitState, later: number, now: number): RateLimitResult {
    this.now = now;
    this.isChange = true;
    const result = grantOf(next, this.limit.part, now, later);
    if (!this.isSharded || !result.ok) return remember(result, this);
    const { shard } = this.rows[0]!;
    this.limit.seen[shard] = next;
    return remember({ ...result, shards: [{ shard, count: this.count }] }, this);
  }

  decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    return this.decideAt(states, this.environment.clock());
  }

  protected decideAt(
    states: readonly (RateLimitState | null)[],
    now: number,
  ): Outcome<RateLimitResult> {
    this.now = now;
    const { result, next } = decideRequest(this, this.rows, states, now, this.readOnly);
    if (this.isSharded) {
      for (const [i, { shard }] of this.rows.entries()) {
        this.limit.seen[shard] = next[i] ?? states[i] ?? undefined;
      }
    }
    if (this.readOnly) return { result: remember(result, this) };
    this.isChange = (this.count > 0 || !result.ok) && next.some((state) => state !== undefined);
    return { result: remember(result, this), writes: this.isChange ? next : undefined };
  }
}

/** Takes nothing where its id was charged before. */
class OnceDecision extends LimitDecision {
  override readonly rows: readonly RowId[];

  constructor(
    request: LimitRequest,
    readOnly: boolean,
    environment: Environment,
    readonly marker: Marker,
  ) {
    super(request, readOnly, environment);
    this.rows = [...rowsToLimit(request.limit, environment.random), marker.row];
  }

  /** It is decided on two rows. */
  override get plain(): undefined {
    return undefined;
  }

  override decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    const own = states.slice(0, -1);
    // One instant for both rows: the marker is known again by its `ts`.
    const now = this.environment.clock();
    this.now = now;
    this.isChange = false;
    const { result, writes } = decideOnce(this, own, states.at(-1), now, () =>
      super.decideAt(own, now),
    );
    // An own decision has remembered its result.
    const isRepeated = result.ok && result.repeated === true;
    return { result: isRepeated ? remember(result, this) : result, writes };
  }
}

/** Notes what it left in its rows, for a denial to be remembered. */
class NotingDecision extends LimitDecision {
  left: readonly (RateLimitState | null)[] = [];

  override decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    const outcome = super.decide(states);
    this.left = states.map((state, i) => outcome.writes?.[i] ?? state);
    return outcome;
  }
}

/** What a call would get from the row, or from a block of this process. */
class LeasedCheck extends LimitDecision {
  constructor(
    request: LeasedCall["request"],
    private readonly leases: Leases<LeasedCall>,
    environment: Environment,
  ) {
    super(request, true, environment);
  }

  override decide(states: readonly (RateLimitState | null)[]): Outcome<RateLimitResult> {
    const { result } = super.decide(states);
    const { limit: resolved, count, leases, now } = this;
    const value = withHeld(leases, resolved, result.value);
    if (result.ok) return { result: { ...result, value } };
    // The wait is that of the row: what blocks hold then is not known.
    if (!leases.covers(resolved, count)) return { result: { ...result, value } };
    return { result: remember({ ok: true, value: value - count, ts: now }, this) };
  }
}

/** The answer of a limit that only reports: it lets every call through, and says what it would do. */
export function inShadow(decided: RateLimitResult, now: number): RateLimitResult {
  const { ok, retryAfter, ...rest } = decided;
  if (retryAfter === undefined) return decided;
  return { ts: now, ...rest, ok: true, shadow: { ok, retryAfter } };
}
