/**
 * `limit`: one call on one limit, as a decision for the store. The decision is made on the only row of
 * the limit, or on two random shards.
 */
import type { Row } from "../../../core/rows/row.js";
import { floorOf, type Bucket } from "../../../core/config.js";
import { grantOf, type RateLimitResult } from "../../../core/decide.js";
import type { Block } from "../../leases/block.js";
import { canTakePlainly } from "../../store/plain-path.js";
import type { Decision, Outcome, PlainTake, RowId } from "../../store/store.js";
import type { LimitCall } from "../answers/asked.js";
import type { LimitOptions } from "../types/limit.js";
import { chooseFullerFirst, rowsToLimit } from "../claims/choose-shards.js";
import { isTaken, withHolds } from "../claims/with-holds.js";
import type { Crossed } from "../claims/warnings.js";
import { quietTerms, staysQuiet } from "../claims/quiet.js";
import { decideOnRow, TokenClaim } from "../claims/token-claim.js";
import { type Context, countingOf, report } from "../context/context.js";
import type { Environment } from "../claims/environment.js";
import { denialError } from "../limits/denial-error.js";
import { type Claim, ClaimDecision, Draft } from "../claims/draft.js";
import { countsTake, TakeDecision, withTake } from "../claims/with-usage.js";
import { LIMIT_OPTIONS } from "../types/limit.js";
import { rejectUnknownOptions } from "../types/known-options.js";
import { type LimitRequest, requestOf } from "../limits/limit-request.js";
import type { Marker } from "../claims/markers.js";
import { once } from "../claims/once.js";
import { type Memory, remember } from "../claims/receipt.js";
import { decideAgain, holdingAmong, reclaimable, ReclaimingClaim } from "../holds/reclaim.js";
import type { HoldingLimit } from "../limits/holding-limit.js";
import { holdOf } from "../claims/hold-request.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/**
 * Makes one promise per call from here to the database. Where hundreds of calls wait for one row, this
 * process is the bottleneck, and most of its work is to collect the garbage of earlier calls.
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
    const { environment } = context;
    rejectUnknownOptions(options, LIMIT_OPTIONS, "limit()");
    const request = requestOf(context, name, options, maxWait);
    const { limit: resolved } = request;
    const { once: id, throws } = options;
    // The usage of most calls is summed up by this process, so the decision writes their row alone.
    const isCounted = resolved.usage !== undefined && countsTake(resolved, id);
    if (id === undefined && options.hold === undefined && !isCounted) {
      const call = new SingleCall(context, "limit", request, throws, done, failed);
      return context.limit[resolved.via](call);
    }
    const claim = new TokenClaim(request, rowsToLimit(resolved, environment.random));
    const marker = id === undefined ? undefined : context.markerFor(resolved, id);
    const made = ownDecision(context, options, request, claim, marker);
    const call = new SingleCall(context, "limit", request, throws, done, failed, ...made);
    if (id === undefined) context.limit[resolved.via](call);
    else context.ask(call);
  });
}

/**
 * The decision of a call with an id, with a hold, or of which the usage counts in the decision, and what
 * the call's result remembers.
 */
export function ownDecision(
  { environment }: Pick<Context, "environment">,
  options: Pick<LimitOptions, "hold" | "once">,
  request: LimitRequest,
  claim: Claim<RateLimitResult>,
  marker: Marker | undefined,
): [decision: Decided, of: Memory] {
  const { limit: resolved, count, context } = request;
  // Without an id, there is no hold: this throws.
  const terms = holdOf(options, request, marker);
  const mayGetOne = "atLeast" in request;
  const made =
    terms === undefined ? withTake(claim, resolved, count, environment.clock(), mayGetOne) : claim;
  const marked = marker === undefined ? made : once(made, resolved, marker);
  const hold = terms && { ...terms, limit: resolved, marker: marker!, isShare: false };
  const heldBy = (given: RateLimitResult) =>
    isTaken(given) ? [{ ...hold!, count: (given.ok && given.granted) || hold!.count }] : [];
  const held = hold ? withHolds(marked, heldBy) : marked;
  const decision = new TakeDecision(reclaimable(held, resolved), environment.clock);
  const isCounted = resolved.usage !== undefined && countsTake(resolved, options.once);
  const isHeld = terms !== undefined;
  const of = { limit: resolved, count, environment, marker, isHeld, isCounted, context, now: 0 };
  return [decision, of];
}

/** A decision that says what its last run did. */
export interface Decided extends Decision<RateLimitResult> {
  readonly now: number;
  readonly isChange: boolean;
  /** After a denial: the limits that have open holds. */
  readonly holding?: readonly HoldingLimit[] | undefined;
  /** After a denial: the states of the decision's rows. */
  readonly left?: readonly (Row | null)[];
  /** Whether the call is to be decided with the rows of warnings, because it may cross a level. */
  readonly mayCross?: boolean;
  /** The levels that the decision crossed. */
  readonly crossed?: readonly Crossed[];
}

/**
 * A call on one limit, on its way to its answer. A class, because hundreds of calls may wait at a time,
 * and its fields keep less memory alive than closures would.
 */
export class SingleCall implements LimitCall {
  /**
   * @param throws whether a denial rejects.
   * @param made the decision; by default, the decision of `limit`.
   * @param of the data that the result remembers.
   */
  constructor(
    protected readonly context: Context,
    private readonly action: "limit" | "check",
    readonly request: LimitRequest,
    private readonly throws: boolean | undefined,
    private readonly resolve: (result: RateLimitResult) => void,
    private readonly reject: (error: unknown) => void,
    private made?: Decided,
    protected of?: Memory,
  ) {}

  toDecision(): Decided & ReturnType<LimitCall["toDecision"]> {
    if (this.made !== undefined) return this.made;
    const decision = new LimitDecision(this.request, this.context.environment);
    this.of = decision;
    return (this.made = decision);
  }

  /** The rows have answered. */
  done(decided: RateLimitResult): void {
    const { now, isChange, holding, mayCross, crossed } = this.made!;
    if (crossed !== undefined && crossed.length > 0) this.context.crossed(crossed);
    if (mayCross) this.cross();
    else if (holding !== undefined && holding.length > 0) this.reclaim(decided, holding);
    else this.decided(decided, now, isChange);
  }

  /** Decides again, with the rows of warnings: nothing was taken yet. */
  private cross(): void {
    const { context, request } = this;
    const { limit: resolved } = request;
    const claim = this.claim(resolved.counted);
    this.made = new ClaimDecision(reclaimable(claim, resolved), context.environment.clock);
    context.ask(this);
  }

  /** No lapsed hold can change the answer any more. */
  protected decided(decided: RateLimitResult, now: number, isChange: boolean): void {
    const of = this.of!;
    const { denials } = this.context;
    const { limit: resolved } = of;
    if (denials?.isInUse && !of.readOnly) denials.used(resolved, decided.ok);
    of.now = now;
    const shown = resolved.config.shadow ? inShadow(decided, now) : decided;
    this.end(remember(shown, of), now, isChange);
  }

  /** The call was denied, and its limit has open holds: see `decideAgain`. */
  private reclaim(answer: RateLimitResult, holding: readonly HoldingLimit[]): void {
    const { context } = this;
    const made = this.made!;
    let claim: ReclaimingClaim<RateLimitResult>;
    if (made instanceof ClaimDecision) claim = made.claim as ReclaimingClaim<RateLimitResult>;
    else {
      claim = new ReclaimingClaim(this.claim(), [this.request.limit], isDenied);
      claim.holding = holding;
      claim.left = made.left!;
    }
    decideAgain(context, claim, { answer, decision: made }, (of) => of).then(
      ({ answer: last, decision: { now, isChange } }) => {
        this.decided(last, now, isChange);
      },
      (error: unknown) => this.failed(error),
    );
  }

  /** The claim of the call on its only row, or on that row and the row that counts its closings. */
  protected claim(rows: readonly RowId[] = this.request.limit.rows): Claim<RateLimitResult> {
    return new TokenClaim(this.request, rows);
  }

  answer(result: RateLimitResult, now: number, block?: Block): void {
    if (!result.ok) return this.end(result, now, false);
    const { limit: resolved, count, context } = this.request;
    const { environment } = this.context;
    const of = { limit: resolved, count, environment, block, context };
    this.end(remember(result, of), now, false);
  }

  failed(error: unknown): void {
    const { context, request } = this;
    const { limit: resolved, count: passed, context: told } = request;
    const opened = context.opened(error, resolved);
    if (opened === undefined) return this.reject(error);
    const readOnly = this.of?.readOnly ?? false;
    const { environment } = context;
    const of = { limit: resolved, count: 0, environment, readOnly, passed, context: told };
    this.end(remember(opened, of), 0, false);
  }

  /** The only place where an answer is reported, and thrown. */
  protected end(result: RateLimitResult, now: number, isChange: boolean): void {
    const { request } = this;
    const counting = countingOf(this.of?.isCounted, result);
    report(this.context, this.action, request, result, isChange, counting);
    if (!result.ok && this.throws)
      this.reject(denialError(this.context.environment.denialMessage, request, result, now));
    else this.resolve(result);
  }
}

/**
 * Decides on one request. A class, because hundreds of calls may wait at a time, and its few fields
 * keep less memory alive than a closure would.
 */
export class LimitDecision implements LimitRequest, Decided, PlainTake<RateLimitResult> {
  readonly limit: ResolvedLimit;
  readonly count: number;
  readonly reserve: boolean;
  readonly maxWait: number | undefined;
  readonly context: unknown;
  readonly rows: readonly RowId[];
  /** When the last decision was made, by the limiter's clock, epoch ms. */
  now = 0;
  /** Whether the last decision changed a row. */
  isChange = false;
  mayCross = false;
  left: readonly (Row | null)[] = NONE;
  holding: readonly HoldingLimit[] | undefined = undefined;

  // A store needs these six for a plain take.
  readonly plain: this | undefined;
  readonly config: Bucket;
  readonly floor: number;
  readonly over: number | undefined;
  readonly quiet: number | undefined;
  readonly clock: () => number;

  constructor(
    { limit: resolved, count, reserve, maxWait, context }: LimitRequest,
    readonly environment: Environment,
  ) {
    const { part, floor } = resolved;
    // A limit with shards is decided on two of them.
    const isSharded = part !== resolved.config;
    this.limit = resolved;
    this.count = count;
    this.reserve = reserve;
    this.maxWait = maxWait;
    this.context = context;
    // With shards, a plain take is from the shard that is believed to be fuller. A call that finds too
    // few tokens there is decided on two shards.
    this.rows = isSharded
      ? chooseFullerFirst(resolved, environment)
      : (resolved.counted ?? resolved.holdRows ?? resolved.rows);
    this.config = part;
    // The other shard may still have tokens, so the first shard must not go into debt.
    const own = reserve && !isSharded ? floorOf(part, true) : floor;
    const quiet = resolved.marks && quietTerms(resolved, count, own, environment.clock());
    this.floor = quiet?.floor ?? own;
    this.over = quiet?.over;
    this.quiet = quiet?.quiet;
    this.clock = environment.clock;
    const isLoud = resolved.marks !== undefined && quiet === undefined;
    this.plain = canTakePlainly(this) && !isLoud ? this : undefined;
  }

  granted(next: Row, later: number, now: number): RateLimitResult {
    this.now = now;
    this.isChange = true;
    const result = grantOf(next, this.config, now, later);
    if (this.limit.marks !== undefined) this.limit.seen[0] = next;
    if (this.config === this.limit.config || !result.ok) return result;
    const { shard } = this.rows[0]!;
    this.limit.seen[shard] = next;
    return { ...result, shards: [{ shard, count: this.count }] };
  }

  decide(states: readonly (Row | null)[]): Outcome<RateLimitResult> {
    const now = (this.now = this.environment.clock());
    if (this.rows.length === 1) {
      const { result, next } = decideOnRow(this, states[0]!, now);
      if (this.isLoud(result, states[0]!, next, now)) return { result };
      this.isChange = next !== undefined;
      if (!result.ok) this.left = next === undefined ? states : [next];
      return { result, writes: next && [next] };
    }
    const draft = new Draft(this.rows, states);
    const result = new TokenClaim(this, this.rows).attempt(draft, now);
    if (this.isLoud(result, states[0]!, draft.peek(this.rows[0]!), now)) return { result };
    this.isChange = draft.isWritten;
    if (this.limit.holdRows !== undefined) {
      this.holding = result.ok ? undefined : holdingAmong([this.limit], draft);
    }
    if (!result.ok) this.left = this.rows.map((row) => draft.peek(row));
    if (this.config !== this.limit.config) {
      for (const row of this.rows) this.limit.seen[row.shard] = draft.peek(row) ?? undefined;
    }
    return draft.outcome(result);
  }

  /** Whether a grant may cross a level, so that it has to be decided with the rows of warnings. */
  protected isLoud(
    { ok }: RateLimitResult,
    before: Row | null,
    after: Row | null | undefined,
    now: number,
  ): boolean {
    const { limit: resolved } = this;
    if (resolved.marks === undefined || !ok || !after || after === before) return false;
    return (this.mayCross = !staysQuiet(resolved, before, after, now));
  }
}

const isDenied = ({ ok }: RateLimitResult): boolean => !ok;

const NONE: readonly (Row | null)[] = [];

/**
 * The answer of a shadow: every call passes, and `shadow` has the answer that the limit would have given.
 */
export function inShadow(decided: RateLimitResult, now: number): RateLimitResult {
  const { ok, retryAfter, ...rest } = decided;
  if (retryAfter === undefined) return decided;
  return { ts: now, ...rest, ok: true, shadow: { ok, retryAfter } };
}
