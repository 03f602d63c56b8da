/** The limiter as its users see it: the names of the limits flow from the config into each call. */
import type { ShownConfig } from "../../../core/config.js";
import type { RateLimitConfig } from "../../../core/limit-config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { RateLimitSnapshot } from "../../../core/snapshot.js";
import type { ChangeListener } from "../../changes/change-channel.js";
import type { TransactionOptions } from "../../store/store.js";
import type {
  AcquireOptions,
  CallArgs,
  ChargeOptions,
  ChargeResult,
  KeyOptions,
  KnownItemOf,
  LimitAllItem,
  LimitAllItemOf,
  LimitAllOptions,
  LimitAllResult,
  LimitConfigs,
  LimitOptions,
  LimitValue,
  ObserveOptions,
  NameWith,
  ShownItemOf,
  PlanOptions,
  ObserveResult,
  OwnConfig,
  RefillingName,
  RefundOptions,
  SettleResult,
  SlotsName,
  TokensName,
  ValueOptions,
} from "./call-options.js";
import type {
  CreditOptions,
  CreditResult,
  OfCredits,
  LimitFirstItem,
  LimitFirstOptions,
  LimitFirstResult,
} from "./limit-first-options.js";
import type {
  HeldBucket,
  HoldOptions,
  OpenHold,
  ReleaseResult,
  SettledHold,
} from "./hold-options.js";
import type { FitsOnce } from "./fits-config.js";
import type { DecisionListener } from "./limiter-options.js";
import type {
  MaySayPlan,
  PlanArgs,
  PlanBy,
  PlanName,
  PlanOfList,
  PlanTable,
  SaysPlan,
} from "./plan-types.js";
import type { RateLimitOverride, RateLimitOverrides } from "./override-types.js";
import type { EnterOptions, EnterResult } from "./enter-options.js";
import type { UsageName, UsageOptions, UsageReport } from "./usage-types.js";

/**
 * The operations on limits, on their own or inside a transaction. Every method rejects with a
 * `RateLimitInputError` for an unknown name and for a key or a count that is not valid, and with a
 * `RateLimitStoreError` when the store fails. Neither consumes tokens, with one exception: a write
 * may have taken effect although its answer was lost.
 *
 * A method takes the limiter's own names, and any name with a `config`. It has one signature for both:
 * of two overloads, editors show the error of each, and the first one is about a missing `config`.
 * `limitAll` has two, because the names of a list depend on a config each. There, the own names come
 * last, because the compiler reports the error of the last overload.
 */
export interface RateLimitOperations<
  TLimits extends LimitConfigs,
  TTokens extends string = TokensName<TLimits>,
  TBy extends PlanBy = "call",
> {
  /**
   * Consumes tokens if there are enough. A denied call changes nothing, unless it closes the bucket
   * (`blockFor`).
   *
   * @example
   * const { ok, retryAfter } = await limiter.limit("sendMessage", { key: userId });
   * if (!ok) console.log(`Try again in ${retryAfter} ms`);
   */
  limit<TName extends NameWith<TTokens, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TBy,
      LimitOptions & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<RateLimitResult>;

  /**
   * The answer that `limit` would give. Consumes nothing.
   *
   * @example
   * const { ok } = await limiter.check("sendMessage", { key: userId });
   */
  check<TName extends NameWith<keyof TLimits & string, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TBy,
      LimitOptions & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<RateLimitResult>;

  /**
   * Consumes from every limit, or from none. Decided in one step, whatever the order.
   *
   * @example
   * const { ok } = await limiter.limitAll([
   *   { name: "sendMessage", key: userId },
   *   { name: "messagesOfTeam", key: teamId },
   * ]);
   */
  limitAll(
    items: readonly LimitAllItemOf<TLimits, TTokens, TBy>[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;
  limitAll(
    items: readonly KnownItemOf<TLimits, TTokens, TBy>[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;

  /**
   * The first of several limits that has the tokens pays for the call: the plan's tokens first, then
   * the credits. With `split`, each limit gives what it has, in order. Decided in one step. It closes
   * no bucket (`blockFor`), asks no block of a `lease`, and repeats no denial from memory. Rejects
   * with a `RateLimitInputError` for a count that none of them could ever grant, and with a
   * `RateLimitConfigError` for a limit that is a shadow, or that is there twice with one key.
   *
   * @example
   * const result = await limiter.limitFirst(["plan", "credits"], { key: userId });
   * if (result.ok) console.log(`paid by ${result.paid[0]?.name}`);
   */
  limitFirst<TName extends keyof TLimits & string>(
    items: readonly (TName | (LimitFirstItem & { name: TName; plan?: PlanName<TLimits> }))[],
    ...[options]: PlanOfList<TLimits, TName, TBy, LimitFirstOptions & { split?: false | undefined }>
  ): Promise<LimitFirstResult<TName>>;
  /** Each limit gives what it has, in order, until the call has its tokens: all, or none. */
  limitFirst<TName extends keyof TLimits & string>(
    items: readonly (
      TName | (LimitFirstItem & { name: TName; count?: undefined; plan?: PlanName<TLimits> })
    )[],
    ...[options]: PlanOfList<TLimits, TName, TBy, LimitFirstOptions>
  ): Promise<LimitFirstResult<TName>>;

  /**
   * Adds to a balance of credits (`kind: "credits"`), up to its capacity. Resolves with the balance. Rejects
   * with a `RateLimitConfigError` for a limit that refills.
   *
   * @example
   * const { value } = await limiter.credit("credits", { key: userId, count: 100 });
   */
  credit<TName extends keyof TLimits & string>(
    name: TName & OfCredits<TLimits[TName]>,
    options: CreditOptions,
  ): Promise<CreditResult>;

  /**
   * Records use that has happened: takes the tokens whatever is left, into debt, and whatever
   * `maxReserved` says. Later calls wait until the debt is repaid. Rejects with a
   * `RateLimitInputError` for a count that takes more than 71,000 years to refill.
   *
   * @example
   * await limiter.charge("llmTokens", { key: userId, count: 1_200 });
   */
  charge<TName extends NameWith<TTokens, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<
      TLimits,
      TName,
      TConfig,
      TBy,
      ChargeOptions & FitsOnce<TLimits[TName & keyof TLimits]>
    >
  ): Promise<ChargeResult>;

  /**
   * Corrects the tokens of a granted call to what it really used: gives the difference back, as
   * `refund` does with a result, or charges it, as `charge` does. A call that is never settled stays
   * as it was estimated. A second call corrects the first one. Calls at the same time take effect
   * one after the other. In `transaction`, a rollback also undoes what the result remembers, and
   * nothing comes back of a call that was rolled back itself. Until the commit, calls outside do not
   * see what was charged inside. In a transaction of your own (`using`), settle a result once, and
   * only a result of that transaction. Rejects with a `RateLimitInputError` for a result of another
   * limiter.
   *
   * After a `RateLimitStoreError`, a second call charges the difference again, and gives nothing
   * back again, because the first one may have taken effect. The result of a call that was repeated
   * settles nothing, also where the first call holds its tokens.
   *
   * Of `limitFirst`, what was paid last goes back first. What was used beyond the estimate is charged
   * to the first of its limits. Each limit gets its part by a decision of its own.
   *
   * @param result the result itself that `limit`, `acquire`, `limitFirst` or an item of `limitAll`
   * got; a copy is not enough.
   * @param actual tokens that were used: finite and at least 0. `undefined`, `null` and `NaN` say that
   * the use is not known: the estimate stays charged, `settled` is false, and the logger is told once
   * in a while.
   *
   * @example
   * const estimated = await limiter.limit("llmTokens", { key: userId, count: 1_000 });
   * if (estimated.ok) await limiter.settle(estimated, await runModel());
   */
  settle(
    result: RateLimitResult | LimitFirstResult,
    actual: number | null | undefined,
  ): Promise<SettleResult>;
  /**
   * Settles the hold of an id, in whatever process: gives back what was not used, and charges what was
   * used beyond it, also into debt. Of any number of calls, one settles it; the others change
   * nothing and say how it has ended. A hold that has lapsed is over: see `then` of `hold`, and `charge`
   * what was used after it was given back. Where nothing was used, the id is forgotten, as by
   * `release`. Rejects with a `RateLimitConfigError` for a limit without `holds`. After a failure of the
   * store, it is tried again for some 10 s.
   *
   * A hold is settled whole. Where the call took from several limits, name all that hold: with some
   * of them, it rejects with a `RateLimitInputError`, and changes nothing.
   *
   * @param names the limit; of `limitAll` and `limitFirst`, the limits in their order, those with another
   * key as `{ name, key }`.
   * @param options the key and the id of the call, and its `config` if it had one.
   * @param actual tokens that were used: finite and at least 0. Of `limitFirst`, of all limits together.
   * Of `limitAll`, of each of them, or an object of counts by name. Missing or NaN, as a provider may
   * report it, settles the hold as it was estimated.
   *
   * @example
   * const hold = { key: userId, once: jobId };
   * const { settled } = await limiter.settle("llmTokens", hold, await runModel());
   */
  settle(
    names: TTokens | readonly (TTokens | HeldBucket<TTokens>)[],
    options: HoldOptions & MaySayPlan<TLimits>,
    actual: number | null | undefined | { readonly [TName in TTokens]?: number | null | undefined },
  ): Promise<SettledHold>;

  /**
   * Gives all tokens of a hold back, in whatever process, for work that was not done. Its id is
   * forgotten, so the same call can take its tokens again. See `settle`.
   *
   * @example
   * await limiter.release("llmTokens", { key: userId, once: jobId });
   */
  release(
    names: TTokens | readonly (TTokens | HeldBucket<TTokens>)[],
    options: HoldOptions & MaySayPlan<TLimits>,
  ): Promise<ReleaseResult>;

  /**
   * Fills the bucket and forgets its reservations.
   *
   * @example
   * await limiter.reset("sendMessage", { key: userId });
   */
  reset<const TConfig = undefined>(
    name: NameWith<keyof TLimits & string, TConfig>,
    options?: KeyOptions & OwnConfig<TConfig> & MaySayPlan<TLimits>,
  ): Promise<void>;

  /**
   * Tells open pages that the plan of a key has changed, in this process and, by the channel, in all
   * others: their streams ask at once which limits the key has now. Nothing else needs it. What was used
   * is the same under every config, so calls by the new plan have what it leaves from the first one on,
   * and a late call by the old plan takes nothing away. It may be called any number of times. Throws
   * `RateLimitInputError` for a key that is not valid.
   *
   * @example
   * await savePlan(userId, "pro"); // in your own table
   * limiter.planChanged(userId);
   */
  planChanged(key: string): void;

  /**
   * What a provider says about its own limit, such as in the header fields of its answers: lowers the
   * limit to `remaining` tokens, and never raises it. So all processes share what the provider has
   * left. Where nothing remains, `retryAfter` makes later calls wait for so long, and never shortens a
   * longer wait. In a fixed window, they wait until the first window that starts then or later. A
   * figure that cannot be true changes nothing, and ends nothing: `observed` is false. Rejects with a
   * `RateLimitConfigError` for credits. With `blockFor`, the wait counts as a closing.
   *
   * @example
   * const response = await fetch("https://api.example.com");
   * const remaining = Number(response.headers.get("x-ratelimit-remaining"));
   * await limiter.observe("llmTokens", { key: userId, remaining });
   */
  observe<const TConfig = undefined>(
    name: NameWith<RefillingName<TLimits>, TConfig>,
    options: ObserveOptions & OwnConfig<TConfig> & MaySayPlan<TLimits>,
  ): Promise<ObserveResult>;

  /**
   * Gives tokens back, up to the capacity. Resolves with the tokens that the rows concerned then
   * hold. Pass the `result` of the call that took them. It counts what `refund` and `settle` give
   * back, in transactions like `settle`. Without it, the tokens are a gift, which can let more
   * through than the limit allows. Rejects with a `RateLimitInputError` for a result of another
   * limiter, name or key.
   *
   * With the result of `limitFirst` in place of a name, at most those tokens come back that its call
   * keeps. What was paid last goes back first. `value` is their number; of a limit that refills, some
   * may have been replaced since.
   *
   * @param of the name of the limit, or the result of `limitFirst`.
   *
   * @example
   * const result = await limiter.limit("sendMessage", { key: userId });
   * const isSent = result.ok && (await send());
   * if (!isSent) await limiter.refund("sendMessage", { key: userId, result });
   */
  refund<TOf extends NameWith<TTokens, TConfig> | LimitFirstResult, const TConfig = undefined>(
    of: TOf,
    options?: RefundOptions &
      OwnConfig<TConfig> &
      MaySayPlan<TLimits> &
      (TOf extends string ? unknown : CountAlone),
  ): Promise<{ value: number }>;

  /**
   * The tokens held now, summed over all shards: `value` at `ts`, the present instant or the start
   * of the present window. `config` has `start` filled in, so the three belong together.
   *
   * @example
   * const { value, config } = await limiter.getValue("sendMessage", { key: userId });
   * console.log(`${Math.floor(value)} of ${config.capacity ?? config.rate} left`);
   */
  getValue<TName extends NameWith<keyof TLimits & string, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<TLimits, TName, TConfig, TBy, ValueOptions>
  ): Promise<LimitValue>;
}

/** What goes with a result of `limitFirst`, which says the rest itself. */
interface CountAlone {
  key?: undefined;
  result?: undefined;
  config?: undefined;
}

/** The operations inside a transaction. */
export interface JoinedOperations<
  TLimits extends LimitConfigs,
  TBy extends PlanBy = "call",
> extends RateLimitOperations<TLimits, TokensName<TLimits>, TBy> {
  /**
   * Overrides that change with the transaction: with its tokens, and with the application's own rows.
   * Later calls of the transaction go by them at once, and others from the commit on. After
   * `transaction`, this process obeys before it resolves, and the others as after any `set`. The limiter
   * is not told when a transaction of the caller's own (`using`) commits: this process looks for it
   * for five seconds, and tells the others when it has seen it. After that, each process obeys within
   * `overridesFor`.
   */
  readonly overrides: RateLimitOverrides<keyof TLimits & string, PlanName<TLimits>>;
}

/** The options of `enter`, with the names of a limiter. */
export type EnterOptionsOf<TLimits, TBy extends PlanBy = "call"> = Omit<EnterOptions, "with"> & {
  with?: readonly LimitAllItemOf<TLimits, TokensName<TLimits>, TBy>[] | undefined;
};

/** The options of `list`. */
export interface ListOptions {
  /** The limit's config, if the limiter does not know the limit, or another one than it has. */
  config?: RateLimitConfig | undefined;
  /**
   * The plan by which the items are shown, of a limit with plans.
   * @default that of each key, where the limiter's `plan` says it and keys are not hashed; else the
   * largest one
   */
  plan?: string | undefined;
  /** The `next` of the page before. @default the first page */
  after?: string | undefined;
  /** Items per page: whole, 1 to 1,000. @default 100 */
  count?: number | undefined;
  /**
   * Only the keys that are limited now: a call for one token would be denied, because the bucket lacks
   * it or an override blocks the key. A page looks at some 20,000 rows at most. So it may have fewer
   * items than `count`, or none, and still have a `next`. Blocked keys come first.
   * @default false: all keys that have rows
   */
  denied?: boolean | undefined;
}

/** One page of `list`. */
export interface LimitPage {
  /** One item per key that has rows, in the order of the store. */
  items: LimitItem[];
  /**
   * The `after` of the next page; `undefined` on the last one. It is printable ASCII, and may be
   * sent to a browser that may see the items: it says which key was the last one.
   */
  next: string | undefined;
}

/** The bucket of one key, as `list` shows it: that of `getValue`, with its key. */
export interface LimitItem extends LimitValue {
  /** The key of the rows, hashed where there is a `hashKey`; `undefined` for the shared bucket. */
  key: string | undefined;
  /** The limiter's clock when the state was read, epoch ms. */
  now: number;
  /** With `denied`: whole ms until a call for one token would pass; 8e15 for never. */
  retryAfter?: number;
  /** The plan by which it is shown; absent where it is not known. */
  plan?: string;
  /** The override of this key that is in force; absent where there is none, as without `overrides`. */
  override?: RateLimitOverride;
}

/** A limiter: operations on the limits that it names, and the upkeep of their rows. */
export interface RateLimiter<
  TLimits extends LimitConfigs = LimitConfigs,
  TTransaction = unknown,
  TBy extends PlanBy = "call",
> extends RateLimitOperations<TLimits, TokensName<TLimits>, TBy> {
  /**
   * The configs of the limits, by name.
   *
   * @example
   * const names = Object.keys(limiter.limits);
   */
  readonly limits: Readonly<TLimits>;
  /**
   * What each plan may do of the limits that have plans, for a page of prices. Plain JSON; empty without
   * plans.
   *
   * @example
   * const { rate } = limiter.plans.pro.pictures;
   */
  readonly plans: PlanTable<TLimits>;
  /**
   * The time by which this limiter decides, epoch ms.
   *
   * @example
   * const { retryAfter = 0 } = await limiter.check("sendMessage", { key: userId });
   * const retryAt = limiter.clock() + retryAfter;
   */
  readonly clock: () => number;

  /**
   * Waits for its turn among the calls of this process, reserves tokens, and resolves when the work may
   * be done. A call that leaves the line has cost nothing. Rejects with a `RateLimitError` when the wait
   * would be longer than `maxWait`, and with the signal's reason when the signal is aborted.
   *
   * @example
   * await limiter.acquire("sendMessage", { key: userId, maxWait: 5_000 });
   * await send();
   */
  acquire<TName extends NameWith<TokensName<TLimits>, TConfig>, const TConfig = undefined>(
    name: TName,
    ...[options]: CallArgs<TLimits, TName, TConfig, TBy, AcquireOptions>
  ): Promise<RateLimitResult>;

  /**
   * Takes one of the slots of a limit of `kind: "concurrency"`, until the result's `release`, and with
   * `maxWait` waits in line for it. At any instant of the database's clock, no key has more holders than
   * `slots`. It is renewed by itself; the slot of a process that dies is free after the `ttl`. A call
   * that fails with a `RateLimitStoreError` may have entered: that slot, too, is free after its `ttl`.
   * Use `await using slot = await limiter.enter(…)`, or call `release` in a `finally`.
   *
   * @example
   * await using slot = await limiter.enter("generations", { key: userId, maxWait: 5_000 });
   * if (slot.ok) await runModel(); // the slot is free again at the end of the block
   */
  enter<TName extends SlotsName<TLimits>>(
    name: TName,
    ...[options]: PlanArgs<
      TLimits[TName],
      undefined,
      TBy,
      EnterOptionsOf<TLimits, TBy> & SaysPlan<TLimits[TName], undefined, TBy>
    >
  ): Promise<EnterResult>;

  /**
   * Runs `run` in a Serializable transaction of the database. The tokens that it takes and the data
   * that it writes through `tx` are committed together or not at all. After a conflict all of `run`
   * runs again. Any other error of `run` rolls back and is rethrown. Rejects with a
   * `RateLimitStoreError` if the transaction cannot begin or commit, takes too long, or still meets
   * conflicts after `retryFor`.
   *
   * @example
   * const message = await limiter.transaction(async ({ tx, limit }) => {
   *   await limit("sendMessage", { key: userId, throws: true });
   *   return tx.message.create({ data: { visitor: userId, text } });
   * });
   */
  transaction<TResult>(
    run: (scope: JoinedOperations<TLimits, TBy> & { tx: TTransaction }) => Promise<TResult>,
    options?: TransactionOptions,
  ): Promise<TResult>;

  /**
   * The operations inside a transaction that the caller has opened and owns. They hold the rows
   * they touch until it ends. A conflict aborts it, and only its owner can try again.
   *
   * @example
   * await prisma.$transaction(async (tx) => {
   *   await limiter.using(tx).limit("sendMessage", { key: userId, throws: true });
   *   await tx.message.create({ data: { visitor: userId, text } });
   * });
   */
  using(tx: TTransaction): JoinedOperations<TLimits, TBy>;

  /**
   * Changes limits at run time, for all processes. Needs `overrides: true`; without it, every method
   * rejects with a `RateLimitConfigError`.
   *
   * @example
   * const until = Date.now() + HOUR;
   * await limiter.overrides.set("sendMessage", { key: userId, blocked: true, until });
   * await limiter.overrides.clear("sendMessage", { key: userId });
   */
  readonly overrides: RateLimitOverrides<keyof TLimits & string, PlanName<TLimits>>;

  /**
   * Deletes rows that are full again by the limit's own config, by each of its plans, and by its
   * overrides. Resolves with their number. Run it regularly.
   *
   * @example
   * const deleted = await limiter.prune();
   */
  prune(): Promise<number>;

  /**
   * Deletes the rows of a key under all names, also those that this limiter does not know, and
   * under names of calls with a `config`. For users who leave. Resolves with the number of rows
   * deleted. Each deletion is atomic. A call that is in flight meanwhile, or comes later, makes a
   * new row. The overrides of the key go, too, and count as rows. Each round trip is bounded by `timeout`: after a rejection, some rows may be deleted,
   * and the next call deletes the others. Rejects with a `RateLimitInputError` for a missing key:
   * it never deletes the shared bucket.
   *
   * @param key as in other calls; it is hashed if there is a `hashKey`.
   *
   * @example
   * await limiter.forget(userId); // a user who leaves
   */
  forget(key: string): Promise<number>;

  /**
   * A page of the buckets of a limit, for an administrator's view. Every key that has rows from the
   * first page to the last is there exactly once. Rows that are full are there until they are
   * pruned. Each round trip is bounded by `timeout`. Rejects with a `RateLimitInputError` for an
   * `after` that is no `next` of this method.
   *
   * @example
   * const { items, next } = await limiter.list("sendMessage");
   * for (const { key, value } of items) console.log(key, value);
   */
  list<const TConfig = undefined>(
    name: NameWith<keyof TLimits & string, TConfig>,
    options?: ListOptions & OwnConfig<TConfig>,
  ): Promise<LimitPage>;

  /**
   * The open holds of a key: those that nothing has settled, and that no call has found lapsed. The
   * ones that lapse first come first. Rejects with a `RateLimitConfigError` for a limit without `holds`.
   *
   * @example
   * const open = await limiter.holds("llmTokens", { key: userId });
   */
  holds(name: TokensName<TLimits>, options?: KeyOptions): Promise<OpenHold[]>;

  /**
   * Who used how much of a limit with `usage`: calls granted and denied, tokens taken and given back,
   * of a key or of all keys together, from the span of `from` to that of the ms before `to`. What this
   * process has counted is written first. What others have counted is there at most `flushUsage` later.
   * Reads some 2,000 rows per round trip. Rejects with a `RateLimitConfigError` for a limit without
   * `usage`, and for more than 10,000 spans.
   *
   * @example
   * const from = Date.now() - 30 * DAY;
   * const { total } = await limiter.usage("llmTokens", { key: userId, from, to: Date.now() });
   */
  usage<const TConfig = undefined>(
    name: NameWith<UsageName<TLimits>, TConfig>,
    options: UsageOptions & OwnConfig<TConfig>,
  ): Promise<UsageReport>;

  /**
   * Writes the usage that this process has counted. Call it before a process ends by a signal: one that
   * has nothing left to do does it by itself. Rejects with a `RateLimitStoreError` if the store fails.
   * What was not written is kept, and written with the next flush. What was written without an answer
   * counts twice then.
   *
   * @example
   * process.once("SIGTERM", async () => {
   *   await limiter.flushUsage();
   *   process.exit();
   * });
   */
  flushUsage(): Promise<void>;

  /**
   * The config by which a call with this key is decided, with `start` filled in. Reads no row.
   * Throws where the call would reject.
   *
   * @example
   * const { rate, period } = limiter.configOf("sendMessage", { key: userId });
   */
  configOf<const TConfig = undefined>(
    name: NameWith<keyof TLimits & string, TConfig>,
    options?: KeyOptions & PlanOptions & OwnConfig<TConfig>,
  ): ShownConfig;

  /**
   * The states of several limits in one round trip, for clients to calculate with. `value` and `used`
   * are those of the row's own instant, `ts`. So what a client predicts is exactly what the server decides.
   *
   * @example
   * const [snapshot] = await limiter.snapshots([{ name: "sendMessage", key: userId }]);
   */
  snapshots<TName extends keyof TLimits & string>(
    items: readonly ShownItemOf<TLimits, TName, TBy>[],
  ): Promise<RateLimitSnapshot<TName>[]>;

  /**
   * Calls `listener` with a digest after each change by this process, and after each change by
   * another process that the `channel` delivers. Compare it with `changeDigest(name, key)`. Returns
   * a function that ends that.
   *
   * @example
   * const stop = limiter.onChange((digest) => console.log("changed", digest));
   */
  onChange(listener: ChangeListener): () => void;

  /**
   * Calls `listener` after each decision of this process, as the option `onDecision` is called. Returns
   * a function that ends that. Its errors and rejections are ignored.
   *
   * @example
   * const stop = limiter.onDecision(({ name, result }) => {
   *   if (!result.ok) console.log(`denied by ${name}`);
   * });
   */
  onDecision(listener: DecisionListener): () => void;
}

/** A limiter with names that are only known at run time, for the package's own generic code. */
export interface UntypedRateLimiter extends UntypedOperations {
  enter(name: string, options?: EnterOptions & PlanOptions): Promise<EnterResult>;
  readonly limits: LimitConfigs;
  readonly clock: () => number;
  check(name: string, options?: LimitOptions & PlanOptions): Promise<RateLimitResult>;
  reset(name: string, options?: KeyOptions & PlanOptions): Promise<void>;
  configOf(name: string, options?: KeyOptions & PlanOptions): ShownConfig;
  transaction<TResult>(
    run: (scope: UntypedOperations & { tx: unknown }) => Promise<TResult>,
  ): Promise<TResult>;
}

export interface UntypedOperations {
  settle(
    result: RateLimitResult | LimitFirstResult,
    actual: number | null | undefined,
  ): Promise<SettleResult>;
  limitFirst(
    items: readonly (string | (LimitFirstItem & PlanOptions))[],
    options?: LimitFirstOptions & PlanOptions,
  ): Promise<LimitFirstResult>;
  limit(name: string, options?: LimitOptions & PlanOptions): Promise<RateLimitResult>;
  limitAll(
    items: readonly (LimitAllItem & PlanOptions)[],
    options?: LimitAllOptions,
  ): Promise<LimitAllResult>;
}
