/**
 * The denials that this process answers from memory (`rememberDenials`). The process remembers the states
 * of the rows at a denial, and decides later calls by these states again. Calls only take tokens, so a
 * call that these states deny, the rows deny as well. The exceptions are tokens that come back, a `reset`
 * and another config of the row. Where this process makes such a change, it forgets the denial. Where
 * another process makes the change, the denial is too strict until it expires.
 */
import { isClosed } from "../../../core/rows/bucket.js";
import type { Row } from "../../../core/rows/row.js";
import type { RateLimitResult } from "../../../core/decide.js";
import { bucketId } from "../../../core/bucket-id.js";
import { sameConfig } from "../../../core/same-config.js";
import type { ChangeChannel } from "../../changes/change-channel.js";
import { changeDigest } from "../../changes/change-digest.js";
import type { RowId } from "../../store/store.js";
import { startTimer } from "../../timers/timer.js";
import { TokenClaim } from "../claims/token-claim.js";
import { Draft } from "../claims/draft.js";
import type { LimitRequest } from "../limits/limit-request.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";
import type { Ask, Asked, LimitCall } from "./asked.js";

/** The most denials that are remembered; some 800 bytes each. */
export const MAX_REMEMBERED = 20_000;

/** How often a process that listens to a channel looks whether it still has to listen, ms. */
const SWEEP = 60_000;

/** A denial, and the states that it has left. */
interface Denial {
  readonly request: LimitRequest;
  readonly rows: readonly RowId[];
  /** The states after the denial: with `blockFor`, the denial may have closed the bucket. */
  readonly states: readonly (Row | null)[];
  /** When the denied call was sent, by the monotonic clock, ms. The denial came after that. */
  readonly since: number;
}

/** A bucket with a denial, or with calls on their way that may be denied. */
interface AskedBucket {
  readonly id: string;
  readonly digest: string | undefined;
  /** The config of the denial and of the calls on their way. */
  config: ResolvedLimit["config"];
  asking: number;
  /** How often the bucket may have got tokens meanwhile. */
  changes: number;
  denial: Denial | undefined;
}

export function fromMemory(
  denials: RememberedDenials,
  clock: () => number,
): (next: Ask) => Ask<LimitCall> {
  return (next) => (call) => {
    const { request } = call;
    // Only `acquire` has a `maxWait`. `acquire` reserves and waits, and is denied because of the wait.
    if (request.maxWait !== undefined) return next(call);
    const now = clock();
    const known = denials.answer(request, now);
    if (known === undefined) next(denials.noting(call));
    else call.answer(known, now);
  };
}

export class RememberedDenials {
  /** Whether a call was ever sent whose denial would be remembered. */
  isInUse = false;
  private readonly buckets = new Map<string, AskedBucket>();
  private readonly byDigest = new Map<string, AskedBucket>();
  /** The buckets with a denial, in the order in which the denials came. */
  private readonly denied = new Set<AskedBucket>();
  private unsubscribe: (() => void) | undefined;

  constructor(private readonly channel: Pick<ChangeChannel, "subscribe"> | undefined) {}

  /** The remembered answer to this call; `undefined` if the store has to decide. */
  answer(request: LimitRequest, now: number): (RateLimitResult & { ok: false }) | undefined {
    if (this.denied.size === 0) return undefined;
    const bucket = this.buckets.get(idOf(request.limit.rows[0]));
    const denial = bucket?.denial;
    if (denial === undefined) return undefined;
    const { limit, count, reserve } = denial.request;
    if (!sameConfig(limit.config, request.limit.config)) return undefined;
    const isCovered = request.count >= count && (reserve || !request.reserve);
    if (!isCovered) return undefined;
    // When a closing is over, the next denial may close the bucket again, so the store has to decide.
    const { blockFor } = limit.part;
    const isOpen = blockFor !== undefined && !isClosed(denial.states[0], now);
    const rememberFor = Math.min(limit.rememberFor, request.limit.rememberFor);
    if (!isOpen && monotonic() < denial.since + rememberFor) {
      const claim = new TokenClaim(request, denial.rows);
      const result = claim.attempt(new Draft(denial.rows, denial.states), now);
      if (!result.ok) {
        // Twice as fast as a spread: V8 keeps the object of a spread as a table.
        const { retryAfter, value } = result;
        return { ok: false, retryAfter, value, remembered: true };
      }
    }
    this.forget(bucket!);
    return undefined;
  }

  /** Wraps the call, so that its denial is remembered. */
  noting(call: LimitCall): Asked<RateLimitResult> {
    const { request } = call;
    const decision = call.toDecision();
    const { limit } = request;
    const since = monotonic();
    const bucket = this.ask(limit);
    const { changes } = bucket;
    return {
      toDecision: () => decision,
      done: (result) => {
        if (!result.ok && changes === bucket.changes) {
          const { rows, left: states = [], now = 0, holding = [] } = decision;
          // Tokens that are held may come back before the bucket has refilled.
          const until = now + result.retryAfter;
          const mayLapse = holding.some(({ sum }) => sum.ts < until);
          if (!mayLapse) this.remember(bucket, { request, rows, states, since });
        }
        this.end(bucket, limit);
        call.done(result);
      },
      failed: (error) => {
        this.end(bucket, limit);
        call.failed(error);
      },
    };
  }

  /** This process has used a limit, also by a call that `noting` does not know. */
  used({ rows, config }: ResolvedLimit, ok: boolean): void {
    if (this.buckets.size === 0) return;
    const bucket = this.buckets.get(idOf(rows[0]));
    if (bucket === undefined) return;
    if (!sameConfig(bucket.config, config)) this.change(bucket);
    // A grant leaves fewer tokens: later calls are denied as before, but have to wait longer than
    // remembered. A denial that is on its way is right, too.
    else if (ok) this.forget(bucket);
  }

  /** This process may have given tokens to a row, whether or not the answer has come. */
  changed(row: RowId): void {
    if (this.buckets.size === 0) return;
    const bucket = this.buckets.get(idOf(row));
    if (bucket !== undefined) this.change(bucket);
  }

  /** A call is about to be sent. */
  private ask({ name, key, config, rows: [row] }: ResolvedLimit): AskedBucket {
    this.isInUse = true;
    const id = idOf(row);
    let bucket = this.buckets.get(id);
    if (bucket === undefined) {
      const digest = this.channel && changeDigest(name, key);
      bucket = { id, digest, config, asking: 0, changes: 0, denial: undefined };
      this.buckets.set(id, bucket);
      if (digest !== undefined) this.byDigest.set(digest, bucket);
    }
    // Count the call first, or `change` would drop a bucket without a denial.
    bucket.asking++;
    if (!sameConfig(bucket.config, config)) this.change(bucket);
    bucket.config = config;
    return bucket;
  }

  /** The call has been answered, or has failed. */
  private end(bucket: AskedBucket, { config }: ResolvedLimit): void {
    bucket.asking--;
    // Under another config, the row may hold more than calls with the bucket's config expect.
    if (!sameConfig(bucket.config, config)) this.change(bucket);
    this.dropIfIdle(bucket);
  }

  /**
   * Forgets the denial. A denial that was decided before this change, and is answered after it, is not
   * remembered.
   */
  private change(bucket: AskedBucket): void {
    bucket.changes++;
    this.forget(bucket);
  }

  private remember(bucket: AskedBucket, denial: Denial): void {
    this.denied.delete(bucket);
    bucket.denial = denial;
    this.denied.add(bucket);
    this.listen();
    if (this.denied.size > MAX_REMEMBERED) this.forget(this.oldest()!);
    this.forgetExpired(2);
  }

  private forget(bucket: AskedBucket): void {
    bucket.denial = undefined;
    this.denied.delete(bucket);
    this.dropIfIdle(bucket);
  }

  private dropIfIdle(bucket: AskedBucket): void {
    const { id, digest, asking, denial } = bucket;
    if (asking > 0 || denial !== undefined || this.buckets.get(id) !== bucket) return;
    this.buckets.delete(id);
    if (digest !== undefined && this.byDigest.get(digest) === bucket) this.byDigest.delete(digest);
  }

  private oldest(): AskedBucket | undefined {
    for (const bucket of this.denied) return bucket;
    return undefined;
  }

  /** Looks at the oldest denials only, so that a call does not wait for all of them. */
  private forgetExpired(looks: number): void {
    const now = monotonic();
    for (const bucket of this.denied) {
      const { since, request } = bucket.denial!;
      if (looks-- === 0 || since + request.limit.rememberFor > now) return;
      this.forget(bucket);
    }
  }

  /** Listens while there is something to forget, because a listener keeps a connection open. */
  private listen(): void {
    if (this.channel === undefined || this.unsubscribe !== undefined) return;
    this.unsubscribe = this.channel.subscribe((digest) => {
      const bucket = this.byDigest.get(digest);
      if (bucket !== undefined) this.change(bucket);
    });
    this.sweepLater();
  }

  private sweepLater(): void {
    const sweep = () => {
      this.forgetExpired(Infinity);
      if (this.denied.size > 0) return this.sweepLater();
      this.unsubscribe?.();
      this.unsubscribe = undefined;
    };
    // The timer does not keep the process alive.
    startTimer(sweep, SWEEP).unref();
  }
}

/** ms. Not the limiter's clock: a clock that is set must not prolong a denial. */
function monotonic(): number {
  return performance.now();
}

/** One id for all shards: a call on two shards is a decision about the whole limit. */
function idOf({ name, key }: RowId): string {
  return bucketId(name, key);
}
