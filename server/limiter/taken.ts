/**
 * Remembers what a granted call took, for `settle` and `refund`. The memory is a private field that
 * is added to the result: the result stays a plain object, which can be sent as JSON and compared.
 * A `WeakMap` would need an entry per call.
 */
import type { RateLimitResult, TakenShard } from "../../core/decide.js";
import type { TakenTokens } from "../../core/refund.js";
import { RateLimitInputError } from "../../core/errors.js";
import type { Block } from "../leases/block.js";
import type { RowId } from "../store/store.js";
import { rowOf } from "./choose-shards.js";
import type { Environment } from "./context.js";
import type { Marker } from "./once.js";
import type { ResolvedLimit } from "./resolve-limit.js";
import { RefundClaim, TakenPart } from "./taken-part.js";
import type { TransactionScope } from "./transaction-scope.js";

export interface Memory {
  readonly limit: ResolvedLimit;
  readonly count: number;
  /** Of the limiter, or of the transaction, that was called. */
  readonly environment: Environment;
  /** Whether the call took nothing, although its result is `ok`. @default false */
  readonly readOnly?: boolean;
  /** The block that served the call. */
  readonly block?: Block | undefined;
  /** What says that the id of the call was charged, if it had one. */
  readonly marker?: Marker | undefined;
  /** When it was decided, epoch ms: the `ts` of a marker. */
  now?: number;
}

/** What was taken for one result, and still can come back. */
export class Taken {
  readonly limit: ResolvedLimit;
  /** The limiter that was called. */
  readonly owner: object;
  /** Whether there is nothing to settle. */
  readonly readOnly: boolean;
  /** The rows of the call itself. */
  readonly rows: readonly RowId[];
  /** The marker of the call's id, and the `ts` that it was written with. */
  readonly marker: { readonly row: RowId; readonly ts: number } | undefined;
  /** What was taken and is committed. Transactions that are open have more of it. */
  readonly parts: TakenPart[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    { limit, count, environment, readOnly = false, block, marker, now = 0 }: Memory,
    result: RateLimitResult & { ok: true },
  ) {
    this.limit = limit;
    this.owner = environment.owner;
    this.readOnly = readOnly;
    this.marker = marker && { row: marker.row, ts: now };
    // The row gave it with the whole block.
    const taken = takenBy(limit, count, block?.row ?? result);
    this.rows = taken.rows;
    const { scope } = environment;
    // A shadow that would have denied the call took nothing, nor did an id that was charged before.
    if (readOnly || result.repeated || result.shadow?.ok === false) return;
    const part = new TakenPart(count, taken, false, block);
    if (scope === undefined || scope.outcome === "committed") this.parts.push(part);
    else scope.partsOf(this).push(part);
  }

  /** Tokens that the call keeps, as a transaction sees it, or as all others do. */
  countIn(scope: TransactionScope | undefined): number {
    return this.#listsIn(scope).reduce((sum, parts) => sum + countOf(parts), 0);
  }

  /** Runs `work` after the corrections before it, or two of them could give the same tokens back. */
  inTurn<TResult>(
    scope: TransactionScope | undefined,
    work: () => Promise<TResult>,
  ): Promise<TResult> {
    // A call outside may wait for a row that the transaction has locked, so these do not wait for it.
    if (scope !== undefined) return scope.inTurn(this, work);
    const running = this.#turn.then(work);
    this.#turn = running.catch(() => {});
    return running;
  }

  /** Adds what was charged. */
  charge(count: number, charged: RateLimitResult & { ok: true }, scope?: TransactionScope): void {
    const parts = scope === undefined ? this.parts : scope.partsOf(this);
    const part = new TakenPart(count, takenBy(this.limit, count, charged), true);
    const last = parts.at(-1);
    // What the call took stays apart, because less of a later charge has been replaced.
    if (last?.isCharge && last.count > 0) return last.add(part);
    if (last?.count === 0) parts.pop();
    parts.push(part);
  }

  /** Claims up to `count` tokens that are to be given back, those that were charged last first. */
  claim(count: number, scope: TransactionScope | undefined): RefundClaim[] {
    const claims: RefundClaim[] = [];
    let rest = count;
    for (const parts of this.#listsIn(scope)) {
      for (const part of parts.toReversed()) {
        if (rest <= 0 || part.count === 0) continue;
        const claim = new RefundClaim(part, rest, parts);
        claims.push(claim);
        rest -= claim.count;
      }
    }
    scope?.noteClaims(claims);
    return claims;
  }

  #listsIn(scope: TransactionScope | undefined): TakenPart[][] {
    return scope === undefined ? [this.parts] : [scope.partsOf(this), this.parts];
  }
}

function countOf(parts: readonly TakenPart[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

/** A constructor that returns an object gives its subclasses that object as `this`. */
// oxlint-disable-next-line no-extraneous-class -- a subclass adds the private field
export class Result {
  constructor(result: object) {
    // oxlint-disable-next-line no-constructor-return -- see above
    return result;
  }
}

class Remembering extends Result {
  #of: Memory | Taken;

  constructor(result: object, of: Memory) {
    super(result);
    this.#of = of;
  }

  static takenOf(result: RateLimitResult & { ok: true }): Taken | undefined {
    if (!(#of in result)) return undefined;
    const of = result.#of;
    if (of instanceof Taken) return of;
    return (result.#of = new Taken(of, result));
  }
}

/** Adds to a granted result which limit it is about, and how many tokens the call has taken. */
export function remember<TResult extends RateLimitResult>(result: TResult, of: Memory): TResult {
  return result.ok ? (new Remembering(result, of) as unknown as TResult) : result;
}

/** The same object at each call. `undefined` for a result that no limiter gave, and for a copy. */
function takenOf(result: RateLimitResult): Taken | undefined {
  return Object(result).ok === true
    ? Remembering.takenOf(result as RateLimitResult & { ok: true })
    : undefined;
}

/** @throws RateLimitInputError for the result of another limiter. */
export function ownTakenOf(result: RateLimitResult, { owner }: Environment): Taken | undefined {
  const taken = takenOf(result);
  if (taken === undefined || taken.owner === owner) return taken;
  const message =
    "the result is of another limiter: pass it to settle() or refund() of the limiter that gave it";
  throw new RateLimitInputError("result", message);
}

/** The rows that gave the tokens of a call, and what each of them gave. */
export function takenBy(
  limit: ResolvedLimit,
  count: number,
  { value, ts, shards }: { value: number; ts: number; shards?: readonly TakenShard[] | undefined },
): { rows: readonly RowId[]; taken: readonly TakenTokens[] } {
  if (shards === undefined) return { rows: limit.rows, taken: [{ count, value, ts }] };
  // A call that uses two shards leaves both with the same value.
  const each = { value: value / shards.length, ts };
  return {
    rows: shards.map(({ shard }) => rowOf(limit, shard)),
    taken: shards.map((shard) => ({ ...each, count: shard.count })),
  };
}
