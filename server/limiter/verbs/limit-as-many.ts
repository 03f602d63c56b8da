/**
 * `limit` with `atLeast`: as many tokens as fit, in one decision. A store tries to take the whole count by
 * a plain take, and only if that is refused, the rows are read and the rest is taken.
 */
import { toleranceOf } from "../../../core/config.js";
import { countOf, validateAtLeast } from "../../../core/count.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { RateLimitConfigError } from "../../../core/errors.js";
import type { Row } from "../../../core/rows/row.js";
import type { Outcome, RowId } from "../../store/store.js";
import { AsManyClaim, type AsManyRequest, areWhole } from "../claims/as-many.js";
import { rowsToLimit } from "../claims/choose-shards.js";
import { type Claim, Draft } from "../claims/draft.js";
import type { Environment } from "../claims/environment.js";
import { withGranted } from "../claims/markers.js";
import { shareOf } from "../claims/purse.js";
import { countsTake } from "../claims/with-usage.js";
import { type Memory, remember } from "../claims/receipt.js";
import type { Context } from "../context/context.js";
import { holdingAmong } from "../holds/reclaim.js";
import { requestOf } from "../limits/limit-request.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { LIMIT_OPTIONS, type LimitOptions } from "../types/limit.js";
import { type Decided, inShadow, LimitDecision, ownDecision, SingleCall } from "./limit.js";

export type AsManyOptions = LimitOptions & { atLeast: number };

export function limitAsMany(
  context: Context,
  name: string,
  options: AsManyOptions,
): Promise<RateLimitResult> {
  return new Promise((done, failed) => {
    rejectUnknownOptions(options, LIMIT_OPTIONS, "limit()");
    const request = asManyRequestOf(context, name, options);
    const { limit } = request;
    const { environment } = context;
    const { once: id, hold, throws } = options;
    const ask = (...made: [decision: Decided, of: Memory]) =>
      context.ask(new AsManyCall(context, "limit", request, throws, done, failed, ...made));
    // A remembered denial is of a call that wanted all of its tokens, so no memory is asked.
    const isCounted = limit.usage !== undefined && countsTake(limit, id);
    if (id === undefined && hold === undefined && !isCounted) {
      const decision = new AsManyDecision(request, environment);
      return ask(decision, decision);
    }
    const marker = id === undefined ? undefined : withGranted(context.markerFor(limit, id));
    const claim = new AsManyClaim(request, rowsToLimit(limit, environment.random));
    ask(...ownDecision(context, options, request, claim, marker));
  });
}

/** @throws RateLimitInputError and RateLimitConfigError for options that are not valid. */
export function asManyRequestOf(
  context: Context,
  name: string,
  options: AsManyOptions,
): AsManyRequest {
  const { atLeast, reserve = false } = options;
  const wanted = countOf(options);
  validateAtLeast(atLeast, wanted);
  if (reserve) throw unreservable(atLeast);
  const least = requestOf(context, name, { ...options, count: atLeast });
  const { most: value, part, answer } = least.limit;
  // A call may take from two shards.
  const most = { value, tolerance: 2 * toleranceOf(part) };
  const count = answer === undefined ? shareOf(most, wanted, areWhole(wanted, atLeast)) : wanted;
  return { ...least, count, atLeast, wanted };
}

function unreservable(atLeast: number): RateLimitConfigError {
  const message =
    `atLeast does not go with reserve, got ${atLeast}: a reservation gets all of its tokens, and waits ` +
    "for them; leave one of the two out";
  return new RateLimitConfigError("atLeast", atLeast, { message });
}

/** A call for as many tokens as fit. Once it is granted, it counts as a call for the tokens that it got. */
export class AsManyCall extends SingleCall {
  declare readonly request: AsManyRequest;

  protected override decided(decided: RateLimitResult, now: number, isChange: boolean): void {
    const { request, context } = this;
    const { wanted, limit } = request;
    const { environment, readOnly = false, marker, isHeld, isCounted } = this.of!;
    if (context.denials?.isInUse && !readOnly) context.denials.used(limit, decided.ok);
    // A first call without `atLeast` got its whole count.
    const taken = decided.ok ? (decided.granted ?? wanted) : 0;
    const isShadow = limit.config.shadow === true && taken < wanted;
    const shown = isShadow ? pastShadow(decided, taken, wanted, now) : decided;
    const passed = isShadow && decided.ok && !isHeld ? { passed: wanted - taken } : {};
    const count = decided.ok ? taken : wanted;
    request.count = count + (passed.passed ?? 0);
    const memory = {
      limit,
      count,
      environment,
      readOnly,
      marker,
      isHeld,
      isCounted,
      context: request.context,
      now,
      ...passed,
    };
    this.end(remember(shown, memory), now, isChange);
  }

  override failed(error: unknown): void {
    this.request.count = this.request.wanted;
    super.failed(error);
  }

  protected override claim(
    rows: readonly RowId[] = this.request.limit.rows,
  ): Claim<RateLimitResult> {
    return new AsManyClaim(this.request, rows);
  }

  protected override end(result: RateLimitResult, now: number, isChange: boolean): void {
    if (result.ok) result.granted ??= this.request.wanted;
    super.end(result, now, isChange);
  }
}

/** Takes the whole count by a plain take, or else what is there. */
export class AsManyDecision extends LimitDecision {
  constructor(
    private readonly request: AsManyRequest,
    environment: Environment,
  ) {
    super(request, environment);
  }

  override granted(next: Row, later: number, now: number): RateLimitResult {
    return { ...super.granted(next, later, now), granted: this.count } as RateLimitResult;
  }

  override decide(states: readonly (Row | null)[]): Outcome<RateLimitResult> {
    const now = (this.now = this.environment.clock());
    const { rows, limit } = this;
    const draft = new Draft(rows, states);
    const own = limit.holdRows === undefined ? rows : limit.rows;
    const result = new AsManyClaim(this.request, own).attempt(draft, now);
    if (this.isLoud(result, states[0]!, draft.peek(rows[0]!), now)) return { result };
    this.isChange = draft.isWritten;
    this.holding = result.ok ? undefined : holdingAmong(limit.holdRows ? [limit] : [], draft);
    this.left = rows.map((row) => draft.peek(row));
    if (limit.part !== limit.config) {
      for (const row of rows) limit.seen[row.shard] = draft.peek(row) ?? undefined;
    }
    return draft.outcome(result);
  }
}

/** The answer of a shadow: the call has all that it wanted. */
function pastShadow(
  decided: RateLimitResult,
  taken: number,
  wanted: number,
  now: number,
): RateLimitResult {
  if (!decided.ok) return { ...inShadow(decided, now), granted: wanted } as RateLimitResult;
  const shadow = { ok: true, retryAfter: 0, granted: taken };
  return { ...decided, granted: wanted, shadow };
}
