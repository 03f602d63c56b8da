/**
 * The calls of one process that wait for tokens of one key, in their order.
 *
 * Only the calls at the head reserve tokens: those that get their turn soon. The other calls wait here
 * and have taken nothing, so they leave without a trace. A call with a reservation cannot leave without a
 * trace: while a bucket owes tokens, only the call that took last can give its tokens back (see
 * `core/refund.ts`). Rejected: every caller reserves at once. Callers that gave up in their order then
 * left a debt that kept all others away.
 *
 * A caller at the head that leaves passes its turn to the next caller that wants as many tokens.
 */
import { isRateLimitError } from "../../../../core/errors.js";
import { sameConfig } from "../../../../core/same-config.js";
import { type Context, report } from "../../context/context.js";
import { denialError } from "../../limits/denial-error.js";
import { type Claim, ClaimDecision } from "../../claims/draft.js";
import { giveBack } from "../give-back.js";
import { limit } from "../limit.js";
import type { Granted, Line, Waiter } from "../../context/line.js";
import { LineEstimate } from "./line-estimate.js";
import { MovingUp, type Reservation } from "./move-up.js";
import { memoryOf, ownReceiptOf, remember } from "../../claims/receipt.js";
import type { Refunded } from "../../claims/refund-rows.js";

type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** A reservation, until the work may be done. */
interface Turn extends Reservation {
  /** The caller that gets the turn. Another caller gets the turn once the first caller has left. */
  waiter: Waiter;
  readonly timer: AbortController;
}

/** A reservation on its way. */
interface Asking {
  answered: Promise<void>;
  /** Set when the caller has left meanwhile. */
  left?: { readonly reason: unknown };
}

/** Tokens that are given back by a call that has ended. */
interface Giving {
  readonly claim: Claim<Refunded>;
  resolve(answer: Refunded): void;
  reject(error: unknown): void;
}

/**
 * How long before its turn a call reserves, ms. `#ahead` makes that at least two round trips, so that no
 * call is late because of its reservation.
 */
const AHEAD = 50;

export class AcquireLine implements Line {
  /** The callers whose tokens have not been asked for yet. */
  readonly #queue = new Set<Waiter>();
  /** The tokens of the queue. */
  #queued = 0;
  readonly #turns: Turn[] = [];
  readonly #asking = new Map<Waiter, Asking>();
  /** The tokens of the calls that are asked for. */
  #asked = 0;
  readonly #estimate: LineEstimate;
  /** Ends the wait until the last turn is near. */
  #untilNear: AbortController | undefined;
  /**
   * Whether the store failed. The whole queue is then asked for together, and fails within one time-out.
   */
  #isFailing = false;
  /**
   * Tokens that are not sent back yet. All of them go back together, or each call would wait for the
   * calls before it.
   */
  readonly #giving: Giving[] = [];
  /** Resolves when all decisions on moving up are answered, whether turns have moved or not. */
  #moving: Promise<unknown> = Promise.resolve();
  /** How often the turns are still to move up. */
  #moves = 0;
  /**
   * How many turns are on their way back. A reservation that overtook such a turn would keep its tokens
   * from coming back.
   */
  #returning = 0;

  /** @param ended called when no caller is left. */
  constructor(
    private readonly context: Context,
    private readonly sleep: Sleep,
    private readonly ended: () => void,
  ) {
    this.#estimate = new LineEstimate(context);
  }

  join(waiter: Waiter): void {
    this.#queue.add(waiter);
    this.#queued += waiter.request.count;
    if (this.#queue.size === 1) this.#pump();
    if (!this.#queue.has(waiter)) return;
    if (this.#isLate(waiter, this.#queued)) void this.#refuseIfLate(waiter);
  }

  expire(waiter: Waiter): void {
    if (!this.#queue.has(waiter)) return;
    this.#deny(waiter, Math.max(1, this.#lateness(waiter, this.#queuedUpTo(waiter))));
  }

  leave(waiter: Waiter, reason: unknown): void {
    if (this.#remove(waiter)) {
      waiter.reject(reason);
      return this.#pump();
    }
    const asking = this.#asking.get(waiter);
    if (asking !== undefined) asking.left = { reason };
    else void this.#free(waiter, reason);
  }

  givingBack(claim: Claim<Refunded>): Promise<Refunded> {
    return new Promise((resolve, reject) => {
      this.#giving.push({ claim, resolve, reject });
      if (this.#giving.length > 1) return;
      const asked = [...this.#asking.values()].map(({ answered }) => answered);
      this.#moves++;
      this.#moving = Promise.all([this.#moving, ...asked]).then(() => this.#giveBack());
    });
  }

  async #giveBack(): Promise<void> {
    const giving = this.#giving.splice(0);
    const claims = giving.map(({ claim }) => claim);
    // A repeated call has reserved nothing of its own.
    const reservations = this.#turns.filter(({ result }) => !result.repeated);
    const moving = new MovingUp(claims, reservations);
    const { apply, environment } = this.context;
    const answering = apply([new ClaimDecision(moving, environment.clock)]);
    // Reservations that are sent from now on come after this decision.
    this.#pump();
    try {
      const [answers] = (await answering) as [readonly Refunded[]];
      const { now, results } = moving.moved;
      const old = this.#turns.filter((turn) => results.has(turn));
      for (const turn of old) this.#moved(turn, results.get(turn)!, now);
      for (const [i, { resolve }] of giving.entries()) resolve(answers[i]!);
    } catch (error) {
      for (const { reject } of giving) reject(error);
    }
    this.#moves--;
    this.#pump();
  }

  #pump(): void {
    for (const waiter of this.#queue) {
      if (!this.#mayAsk(waiter)) break;
      this.#remove(waiter);
      const asking: Asking = { answered: Promise.resolve() };
      this.#asking.set(waiter, asking);
      this.#asked += waiter.request.count;
      asking.answered = this.#ask(waiter, asking);
    }
    this.#untilNear?.abort();
    this.#untilNear = undefined;
    if (this.#queue.size > 0) return this.#pumpAhead();
    const waiting = this.#asking.size + this.#turns.length + this.#returning + this.#moves;
    if (waiting === 0) this.ended();
  }

  #mayAsk({ request }: Waiter): boolean {
    if (this.#returning > 0 || this.#giving.length > 0) return false;
    // Where nothing can be reserved, a call is granted or denied at once, so no call waits for another.
    if (this.#isFailing || request.limit.config.maxReserved === 0) return true;
    if (this.#asking.size === 0 && (this.#turns.length === 0 || this.#untilAhead() <= 0))
      return true;
    // Before the first answer, the tokens that are left are not known.
    if (!this.#estimate.isKnown) return false;
    return this.#estimate.waitOf(request, this.#asked + request.count) <= this.#ahead();
  }

  async #ask(waiter: Waiter, asking: Asking): Promise<void> {
    const { name, options } = waiter;
    try {
      const asked = { ...options, reserve: true, throws: true };
      const sentAt = performance.now();
      const answer = limit(this.context, name, asked, Math.max(0, this.#left(waiter)));
      const result = (await answer) as Granted;
      const isFirst = !this.#estimate.isKnown;
      this.#estimate.answered(waiter.request, result, performance.now() - sentAt);
      this.#answered(waiter);
      if (isFirst) this.#refuseLate();
      this.#isFailing = result.storeFailed === true;
      this.#reserved(waiter, result, asking.left);
    } catch (error) {
      this.#answered(waiter);
      this.#isFailing = !isRateLimitError(error);
      waiter.reject(asking.left === undefined ? error : asking.left.reason);
    }
    this.#pump();
    this.#isFailing = false;
  }

  #answered(waiter: Waiter): void {
    this.#asking.delete(waiter);
    this.#asked -= waiter.request.count;
  }

  #reserved(waiter: Waiter, result: Granted, left: Asking["left"]): void {
    if (result.retryAfter === undefined && left === undefined) return waiter.resolve(result);
    this.#turns.push(this.#turnOf(waiter, result));
    if (left !== undefined) void this.#free(waiter, left.reason);
  }

  #turnOf(waiter: Waiter, result: Granted): Turn {
    const { retryAfter = 0 } = result;
    const at = this.context.environment.clock() + retryAfter;
    // An override may have come since the caller has joined.
    const { limit: resolved, marker, now } = memoryOf(result)!;
    const request = { ...waiter.request, limit: resolved };
    const mark = marker && { row: marker.row, ts: now! };
    const turn = { waiter, request, result, at, mark, timer: new AbortController() };
    if (result.retryAfter !== undefined) {
      this.sleep(retryAfter, turn.timer.signal).then(
        () => this.#serve(turn),
        () => {},
      );
    }
    return turn;
  }

  async #serve(turn: Turn): Promise<void> {
    await this.#moving;
    const at = this.#turns.indexOf(turn);
    // The turn has moved up meanwhile, and ends by another timer.
    if (at === -1) return;
    this.#turns.splice(at, 1);
    turn.waiter.resolve(turn.result);
    this.#pump();
  }

  /** The same tokens are reserved for an earlier turn. */
  #moved(turn: Turn, reserved: Granted, now: number): void {
    turn.timer.abort();
    const { limit: resolved, count, environment, marker, isHeld, context } = memoryOf(turn.result)!;
    const of = { limit: resolved, count, environment, marker, isHeld, context, now };
    const result = remember(reserved, of);
    const moved = this.#turnOf(turn.waiter, result);
    this.#turns.splice(this.#turns.indexOf(turn), 1, moved);
    this.#estimate.saw(turn.request, result, result.value);
    this.#estimate.lastTurn = moved.at;
    if (result.retryAfter === undefined) void this.#serve(moved);
  }

  /** While turns are still to come, looks again shortly before the last turn. */
  #pumpAhead(): void {
    const ms = this.#untilAhead();
    if (this.#turns.length === 0 || !(ms > 0)) return;
    this.#untilNear = new AbortController();
    this.sleep(ms, this.#untilNear.signal).then(
      () => this.#pump(),
      () => {},
    );
  }

  /** Whole ms until the next caller may reserve. */
  #untilAhead(): number {
    return Math.ceil(this.#estimate.untilLastTurn() - this.#ahead());
  }

  /**
   * A caller leaves its turn. Later callers that want as many tokens move up by a turn each. The last of
   * these turns is left over: it goes to the first caller of the queue, or its tokens go back.
   */
  async #free(leaving: Waiter, reason: unknown): Promise<void> {
    await this.#moving;
    const turn = this.#turns.find((each) => each.waiter === leaving);
    if (turn === undefined) return;
    let free = turn;
    for (const later of this.#turns.slice(this.#turns.indexOf(turn) + 1)) {
      if (!isAlike(later.waiter, leaving)) continue;
      free.waiter = later.waiter;
      free = later;
    }
    const [next] = this.#queue;
    const mayTake = next !== undefined && free.at <= next.until && isAlike(next, leaving);
    const isTaken = mayTake && this.#remove(next);
    free.waiter = isTaken ? next : leaving;
    // The turn has come already, because the caller had left before the answer. A later caller gets it
    // now.
    if (turn.waiter !== leaving && turn.result.retryAfter === undefined) void this.#serve(turn);
    if (isTaken) return leaving.reject(reason);
    this.#turns.splice(this.#turns.indexOf(free), 1);
    this.#estimate.lastTurn = this.#turns.at(-1)?.at;
    free.timer.abort();
    this.#returning++;
    // If the store fails now, the tokens stay taken. The caller gets its own reason for the end of the
    // wait, and not this failure.
    const receipt = ownReceiptOf(free.result, this.context.environment);
    const { count } = leaving.request;
    const giving = receipt?.inTurn(undefined, () => giveBack(this.context, receipt, count));
    const value = await giving?.catch(() => undefined);
    if (value !== undefined) this.#estimate.saw(leaving.request, free.result, value);
    this.#returning--;
    leaving.reject(reason);
    this.#pump();
  }

  /** Refuses the late callers that joined before the first answer. */
  #refuseLate(): void {
    let queued = 0;
    for (const waiter of this.#queue) {
      queued += waiter.request.count;
      if (this.#isLate(waiter, queued)) void this.#refuseIfLate(waiter);
    }
  }

  #isLate(waiter: Waiter, queued: number): boolean {
    return waiter.until !== Infinity && this.#lateness(waiter, queued) > 0;
  }

  /**
   * Reads the rows, and denies a caller that is still late. The line's estimate may be old, because other
   * callers may have given tokens back.
   */
  async #refuseIfLate(waiter: Waiter): Promise<void> {
    // If the store fails, the call finds out in its turn.
    await this.#estimate.read(waiter.request).catch(() => {});
    if (!this.#queue.has(waiter)) return;
    const late = this.#lateness(waiter, this.#queuedUpTo(waiter));
    if (late > 0) this.#deny(waiter, late);
  }

  #deny(waiter: Waiter, retryAfter: number): void {
    this.#remove(waiter);
    const { request } = waiter;
    const { value } = this.#estimate;
    const result = { ok: false, retryAfter, value } as const;
    report(this.context, "limit", request, result, false);
    const { denialMessage, clock } = this.context.environment;
    waiter.reject(denialError(denialMessage, request, result, clock()));
    this.#pump();
  }

  #remove(waiter: Waiter): boolean {
    const isQueued = this.#queue.delete(waiter);
    if (isQueued) this.#queued -= waiter.request.count;
    return isQueued;
  }

  /** By how many ms a caller's tokens come after its `maxWait`; below 0 if they come in time. */
  #lateness(waiter: Waiter, queued: number): number {
    const { request } = waiter;
    return Math.ceil(this.#estimate.waitOf(request, this.#asked + queued) - this.#left(waiter));
  }

  #left({ until }: Waiter): number {
    return until - this.context.environment.clock();
  }

  #ahead(): number {
    return Math.max(AHEAD, 2 * this.#estimate.roundTrip);
  }

  #queuedUpTo(waiter: Waiter): number {
    let sum = 0;
    for (const each of this.#queue) {
      sum += each.request.count;
      if (each === waiter) break;
    }
    return sum;
  }
}

/**
 * Whether a caller can have the turn of another caller. A turn with an id or a hold is for one call only.
 */
function isAlike(a: Waiter, b: Waiter): boolean {
  const isOwn = (each: Waiter) =>
    each.options.once !== undefined || each.options.hold !== undefined;
  if (isOwn(a) || isOwn(b) || a.request.count !== b.request.count) return false;
  return sameConfig(a.request.limit.config, b.request.limit.config);
}
