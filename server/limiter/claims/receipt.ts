/**
 * The receipt of a granted result, for `settle` and `refund`: a list of entries in order, each with its
 * rows and the tokens that they gave. The first entry is the call itself. Later entries are charges of
 * `settle`. For `limitFirst`, the entries of the limits that paid come before its own. Tokens go back
 * from the last entry to the first, see `give-back.ts`.
 */
import { rowOfTokens } from "../../../core/rows/bucket.js";
import type { RateLimitResult, TakenShard } from "../../../core/decide.js";
import type { TakenTokens } from "../../../core/refund.js";
import { RateLimitInputError } from "../../../core/errors.js";
import type { Block } from "../../leases/block.js";
import type { RowId } from "../../store/store.js";
import { rowOf } from "./choose-shards.js";
import type { Environment } from "./environment.js";
import type { HeldLimit } from "./end-hold.js";
import { Entry, EntryRefund, type TransactionScope } from "./receipt-entries.js";
import type { Marker } from "./markers.js";
import type { ResolvedLimit } from "../limits/resolved-limit.js";

/** The data that a result gets at first. A receipt is made of it only when a receipt is needed. */
export interface Memory {
  readonly limit: ResolvedLimit;
  readonly count: number;
  /** The environment of the limiter, or of the transaction, that was called. */
  readonly environment: Environment;
  /** Whether the call took nothing, although its result is `ok`. @default false */
  readonly readOnly?: boolean;
  /** Tokens of a call that an outage has let through. */
  readonly passed?: number;
  /** The block that served the call. */
  readonly block?: Block | undefined;
  /** The marker of the call's id, if the call had an id. */
  readonly marker?: Marker | undefined;
  /** Whether the call's tokens are held under its id. @default false */
  readonly isHeld?: boolean | undefined;
  /** Whether the decision itself has counted the usage of a grant. @default false */
  readonly isCounted?: boolean | undefined;
  /** When the call was decided, epoch ms: the `ts` of a marker. */
  now?: number;
  /** The results of the limits that paid for a call of `limitFirst`, in order. */
  readonly payers?: readonly RateLimitResult[];
  /** The limits that may have paid, in order. */
  readonly names?: readonly string[];
  /** The `context` of the call. A charge of `settle` is reported with it. */
  readonly context?: unknown;
}

type Granted = RateLimitResult & { ok: true };

export class Receipt {
  /** The limit that the call has charged, and that `settle` charges. */
  readonly limit: ResolvedLimit;
  /** The limiter that was called. */
  readonly owner: object;
  /** Whether there is nothing to settle. */
  readonly readOnly: boolean;
  /**
   * Whether the call took its tokens. False for an id that was charged before, and for a shadow that
   * would have denied the call.
   */
  readonly isTaken: boolean;
  /**
   * Tokens that a call counts as its usage although it took none, because it passed a shadow, or an
   * outage let it through.
   */
  passed: number;
  /** The marker of the call's id, and the `ts` that it was written with. */
  readonly marker: { readonly row: RowId; readonly ts: number } | undefined;
  /**
   * The hold of the call's tokens under its id. With a hold, the rows know what is left, and not the
   * entries.
   */
  readonly hold: HeldLimit | undefined;
  /** The rows of the call itself. */
  readonly rows: readonly RowId[];
  /** The receipts of the limits that paid for the call. Each of them can also be settled alone. */
  readonly payers: readonly Receipt[];
  /** The entries that are committed. Open transactions have further entries of the same receipt. */
  readonly entries: Entry[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  constructor(
    readonly memory: Memory,
    result: Granted,
  ) {
    const of = memory;
    const { limit, environment, readOnly = false, marker, now = 0, payers = [] } = of;
    // While an override blocks the first limit, charges go to the rows of that limit, as by `charge`.
    this.limit = limit.answer?.kind === "blocked" ? limit.answer.beneath : limit;
    this.owner = environment.owner;
    this.readOnly = readOnly;
    this.marker = marker && { row: marker.row, ts: now };
    this.payers = payers.map((payer) => receiptOf(payer)!);
    // The row gave the tokens with the whole block.
    const taken = takenBy(limit, of.count, of.block?.row ?? result);
    this.rows = taken.rows;
    const isShadowed = result.shadow?.ok === false;
    this.isTaken = !result.repeated && !isShadowed;
    this.passed = readOnly ? 0 : (of.passed ?? (isShadowed ? of.count : 0));
    // The hold of a repeated call belongs to the first call, which may still be at work.
    const isHeld = of.isHeld && this.isTaken;
    const { context } = of;
    this.hold = isHeld ? { limit: this.limit, marker: marker!, at: now, context } : undefined;
    // The tokens of a payment are in the entries of the limits that paid.
    if (readOnly || !this.isTaken || of.payers !== undefined || this.hold !== undefined) return;
    const entry = new Entry(of.count, taken, false, of.block);
    const { scope } = environment;
    if (scope === undefined || scope.outcome === "committed") this.entries.push(entry);
    else scope.entriesOf(this).push(entry);
  }

  /** The holds of the call and of the limits that paid for it, in order. */
  get holds(): readonly HeldLimit[] {
    return [...this.payers.flatMap(({ holds }) => holds), ...(this.hold ? [this.hold] : [])];
  }

  /**
   * Tokens that the call keeps, as a transaction sees them, or, without `scope`, as all others see them.
   */
  countIn(scope: TransactionScope | undefined): number {
    const paid = this.payers.reduceRight((sum, payer) => sum + payer.countIn(scope), 0);
    return this.ownCountIn(scope) + paid;
  }

  /** The same, without the tokens of the limits that paid for the call. */
  ownCountIn(scope: TransactionScope | undefined): number {
    return this.#listsIn(scope).reduce((sum, entries) => sum + countOf(entries), 0);
  }

  /** Runs `work` after the earlier corrections, or two corrections could give the same tokens back. */
  inTurn<TResult>(
    scope: TransactionScope | undefined,
    work: () => Promise<TResult>,
  ): Promise<TResult> {
    // A correction outside may wait for a row that the transaction has locked, so corrections in the
    // transaction do not wait for corrections outside.
    if (scope !== undefined) return scope.inTurn(this, work);
    const running = this.#turn.then(work);
    this.#turn = running.catch(() => {});
    return running;
  }

  /** Adds tokens that were charged. */
  charge(count: number, charged: RateLimitResult & { ok: true }, scope?: TransactionScope): void {
    const entries = scope === undefined ? this.entries : scope.entriesOf(this);
    const entry = new Entry(count, takenBy(this.limit, count, charged), true);
    const last = entries.at(-1);
    // The call's own entry stays apart, because fewer tokens of a later charge have been replaced.
    if (last?.isCharge && last.count > 0) return last.add(entry);
    if (last?.count === 0) entries.pop();
    entries.push(entry);
  }

  /** Claims up to `count` of the receipt's own tokens, to give them back, from the last entry on. */
  claim(count: number, scope: TransactionScope | undefined): EntryRefund[] {
    const refunds: EntryRefund[] = [];
    let rest = count;
    for (const entries of this.#listsIn(scope)) {
      for (const entry of entries.toReversed()) {
        if (rest <= 0 || entry.count === 0) continue;
        const refund = new EntryRefund(entry, rest, entries);
        refunds.push(refund);
        rest -= refund.count;
      }
    }
    scope?.noteRefunds(refunds);
    return refunds;
  }

  /** The lists of entries, the latest list first. */
  #listsIn(scope: TransactionScope | undefined): Entry[][] {
    return scope === undefined ? [this.entries] : [scope.entriesOf(this), this.entries];
  }
}

function countOf(entries: readonly Entry[]): number {
  return entries.reduce((sum, { count }) => sum + count, 0);
}

/** A constructor that returns an object gives its subclasses that object as `this`. */
// oxlint-disable-next-line no-extraneous-class -- a subclass adds the private field
class Result {
  constructor(result: object) {
    // oxlint-disable-next-line no-constructor-return -- see above
    return result;
  }
}

/**
 * Adds a private field to a result. The result stays a plain object, which can be sent as JSON and
 * compared. The field costs 3 ns and 40 bytes per result. Measured and rejected, per result: a `WeakMap`
 * (525 ns, 31 bytes); a property by a symbol, not enumerable (330 ns, 40 bytes); a property by a symbol,
 * enumerable (10 ns), because it goes into copies, and a copy must remember nothing.
 */
class Remembering extends Result {
  #of: Memory | Receipt;

  constructor(result: object, of: Memory) {
    super(result);
    this.#of = of;
  }

  static memoryOf(result: Granted): Memory | undefined {
    if (!(#of in result)) return undefined;
    return result.#of instanceof Receipt ? result.#of.memory : result.#of;
  }

  static receiptOf(result: Granted): Receipt | undefined {
    if (!(#of in result)) return undefined;
    const of = result.#of;
    if (of instanceof Receipt) return of;
    return (result.#of = new Receipt(of, result));
  }
}

/** Gives a granted result its memory: the limit, and the tokens that the call has taken. */
export function remember<TResult extends { ok: boolean }>(result: TResult, of: Memory): TResult {
  return result.ok ? (new Remembering(result, of) as unknown as TResult) : result;
}

/** The memory that a result was given. */
export function memoryOf(result: Granted): Memory | undefined {
  return Remembering.memoryOf(result);
}

/**
 * The receipt of a result: the same object at each call. `undefined` for a result that no limiter gave,
 * and for a copy.
 */
function receiptOf(result: object): Receipt | undefined {
  const { ok } = Object(result) as { ok?: unknown };
  return ok === true ? Remembering.receiptOf(result as Granted) : undefined;
}

/** @throws RateLimitInputError for the result of another limiter. */
export function ownReceiptOf(result: object, { owner }: Environment): Receipt | undefined {
  const receipt = receiptOf(result);
  if (receipt === undefined || receipt.owner === owner) return receipt;
  const message =
    "the result is of another limiter: pass it to settle() or refund() of the limiter that gave it";
  throw new RateLimitInputError("result", message);
}

/** The rows that gave the tokens of a call, and the tokens that each row gave. */
export function takenBy(
  limit: ResolvedLimit,
  count: number,
  { value, ts, shards }: { value: number; ts: number; shards?: readonly TakenShard[] | undefined },
): { rows: readonly RowId[]; taken: readonly TakenTokens[] } {
  const left = (tokens: number) => rowOfTokens(limit.part, { value: tokens, ts });
  if (shards === undefined) return { rows: limit.rows, taken: [{ count, ...left(value) }] };
  // A call that uses two shards leaves the same value in each of them.
  const each = left(value / shards.length);
  return {
    rows: shards.map(({ shard }) => rowOf(limit, shard)),
    taken: shards.map((shard) => ({ ...each, count: shard.count })),
  };
}
