/// <reference lib="esnext.disposable" preserve="true" />
/** The options and results of `enter`. The library in the line above has the types of `await using`. */
import type { ContextOption, GivenKey, KnownKey, ResultOf } from "./call.js";
import type { LimitConfigs, SlotsName, TokensName } from "./names.js";
import type { PlanArgs, PlanBy, SaysPlan } from "./plan-types.js";
import type { ConcurrencyConfig } from "../../../core/limit-config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type {
  AnyItemOf,
  ItemResult,
  LimitAllFirst,
  LimitAllItem,
  OnlyKnown,
  ResultsOf,
} from "./limit-all.js";

/** The options of `enter`. */
export interface EnterOptions extends ContextOption {
  /** The key of the slots, as in other calls. @default left out: the slots that all callers share */
  key?: string;
  /**
   * An id of the holder of the slot, such as the id of a page that opens a stream: 1 to 500 UTF-16 code
   * units. A call with the id of a slot that is held takes that slot over, also where no slot is free.
   * The earlier call then loses the slot: its `signal` is aborted at its next renewal, after a third of
   * the `ttl` at most. Use `holder` for connections whose end the server does not hear of. A client that
   * knows the id of another call of the same key can end that call, so let clients choose random ids.
   * @default none: each call has a slot of its own
   */
  holder?: string | undefined;
  /**
   * The limit's config for this call only. The config has to be of kind `"concurrency"`, too. A slot is
   * held by the `ttl` of the call that entered it.
   */
  config?: ConcurrencyConfig | undefined;
  /**
   * How long to wait for a slot, ms: at least 0, or `Infinity`. Callers of one key wait in a line, first
   * come, first served, over all processes. At most 100 wait for the slots of one key; the next one is
   * denied at once.
   * @default none: the call is denied at once where no slot is free
   */
  maxWait?: number | undefined;
  /** Ends the wait when it is aborted. The call then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /**
   * Called with the caller's place in the line, 1 for the first, when the caller joins and after each
   * change. Errors of `onPlace` end the wait.
   */
  onPlace?: ((place: number) => void) | undefined;
  /**
   * Tokens to take together with the slot, as items of `limitAll`: the slot and all tokens, or nothing.
   * Missing tokens deny the call at once: the call waits only for slots. `results` has one result for
   * each item. The tokens stay taken when the slot is released.
   */
  with?: readonly (LimitAllItem | LimitAllFirst)[] | undefined;
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: boolean | undefined;
}

/** A slot that a call has entered. The slot is the caller's until `release`. */
export interface EnterGranted<
  TResults extends readonly ItemResult[] = readonly RateLimitResult[],
> extends AsyncDisposable {
  /** The caller may do its work. */
  readonly ok: true;
  /** The limiter is switched off, see its option `enabled`: no slot is held. */
  readonly disabled?: true;
  /** The slots that were free afterwards, as far as the call has seen them. */
  readonly value: number;
  /** The instant of `value`, epoch ms. */
  readonly ts: number;
  /** One result for each item of `with`. */
  readonly results: TResults;
  /**
   * Aborted when the slot is lost: the slot could not be renewed in time, a later call took it over, or
   * the slots were reset. Stop the work then, because another caller may have the slot. `release` does
   * not abort the signal.
   */
  readonly signal: AbortSignal;
  /** Whether a later call with the same `holder` has this slot now. `signal` is aborted then. */
  readonly isTakenOver: boolean;
  /**
   * Frees the slot, or hands it to the first in line. Only the first call counts. A late call, too, frees
   * no slot but this caller's. `release` does not reject when the store fails: the slot is then free
   * after its `ttl`. `await using` calls `release` at the end of a block.
   */
  release(): Promise<void>;
  /**
   * Holds the slot as long as the answer streams: returns the same response, whose body releases the slot
   * when it ends, fails or is cancelled because the client has left. A response without a body releases the
   * slot at once. `await using` then leaves the slot to the response. If a later call takes the slot over,
   * the body fails. If the host does not read the body for the `ttl` of the slot, the slot is free, and the
   * body may go on. Throws a `RateLimitConfigError` for a body that is in use, and releases the slot.
   *
   * @example
   * await using slot = await limiter.enter("generations", { key: userId });
   * const { readable } = new TransformStream<Uint8Array, Uint8Array>();
   * const response = slot.ok ? slot.during(new Response(readable)) : Response.error();
   */
  during(response: Response): Response;
}

/** A call that got no slot. There is nothing to release: `await using` does nothing with a denial. */
export class EnterDenied<
  TResults extends readonly ItemResult[] = readonly RateLimitResult[],
> implements AsyncDisposable {
  /** The caller must not do its work. */
  readonly ok = false;

  constructor(
    /** The limit that denied the call: the limit of the slots, or a limit of `with`. */
    readonly name: string,
    /**
     * Whole ms, above 0. Where no slot is free, an upper bound: by then, the first slot is free if its
     * holder gives no more sign. Work that ends frees its slot earlier. Work that goes on renews its slot,
     * and the call is then denied again: use `maxWait` to wait for a slot. Where tokens of `with` are
     * missing, the wait until they are there.
     */
    readonly retryAfter: number,
    /** The slots that are free for this call; 0 also where tokens are missing. */
    readonly value: number,
    /**
     * The results that the items of `with` would have got, where an item denied the call; else no results.
     */
    readonly results: TResults | readonly [],
  ) {}

  /** There is nothing to release. */
  [Symbol.asyncDispose](): Promise<void> {
    return Promise.resolve();
  }
}

/** A slot, or a denial. */
export type EnterResult<TResults extends readonly ItemResult[] = readonly RateLimitResult[]> =
  EnterGranted<TResults> | EnterDenied<TResults>;

/** The options of `enter`, with the names of a limiter. */
export type EnterOptionsOf<
  TLimits,
  TBy extends PlanBy = "call",
  TWith = readonly AnyItemOf<TLimits, TokensName<TLimits>, TBy>[],
  TThrows extends boolean = boolean,
> = Omit<EnterOptions, "with" | "throws"> & {
  with?: TWith | undefined;
  throws?: TThrows | undefined;
};

/** `enter`. */
export interface EnterMethods<TLimits extends LimitConfigs, TBy extends PlanBy> {
  /**
   * Takes one of the slots of a limit of `kind: "concurrency"`, until the result's `release`. With
   * `maxWait`, waits in line for a slot. At any instant of the database's clock, no key has more holders
   * than `slots`. A slot is renewed by itself. The slot of a process that dies is free after the `ttl`. A
   * call that fails with a `RateLimitStoreError` may have entered: its slot, too, is free after the
   * `ttl`. Use `await using slot = await limiter.enter(…)`, or call `release` in a `finally`. A handler
   * that returns a stream returns `slot.during(response)`.
   *
   * @example
   * await using slot = await limiter.enter("generations", { key: userId, maxWait: 5_000 });
   * if (slot.ok) await runModel(); // the slot is free again at the end of the block
   */
  enter<
    TName extends SlotsName<TLimits>,
    const TWith extends readonly AnyItemOf<TLimits, TokensName<TLimits>, TBy>[] = [],
    TKey = string,
    TThrows extends boolean = false,
  >(
    name: TName,
    ...[options]: KnownKey<
      TKey,
      PlanArgs<
        TLimits[TName],
        undefined,
        TBy,
        EnterOptionsOf<TLimits, TBy, TWith & OnlyKnown<TWith>, TThrows> &
          GivenKey<TKey> &
          SaysPlan<TLimits[TName], undefined, TBy>
      >
    >
  ): Promise<ResultOf<EnterResult<ResultsOf<TWith>>, TThrows>>;
}
