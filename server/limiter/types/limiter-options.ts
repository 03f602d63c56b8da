/** The options of a limiter and of its upkeep, and what `onDecision` receives. */
import type { LimitConfig } from "../../../core/limit-config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { DenialMessage } from "../../../core/errors.js";
import type { ChangeChannel } from "../../changes/change-channel.js";
import type { RateLimitLogger } from "../../report/logger.js";
import type { WaitUntil } from "../../report/wait-until.js";
import type { BatchEvent } from "../../store/batch-event.js";
import type { RateLimitStore } from "../../store/store.js";
import type { LimitConfigs } from "./names.js";
import type { FitsCalendar, FitsKind, FitsLease, FitsOneRow, FitsPlans } from "./fits-config.js";
import type { PlannedConfig, PlanQuestion } from "./plan-types.js";

/** The options of `autoPrune`. */
export interface AutoPruneOptions {
  /** How often to prune, ms: whole, at least 1. @default 5 minutes */
  every?: number | undefined;
  /** Ends the pruning when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** The argument of `onDecision`. `TContext` is the type of the contexts that calls and hosts give. */
export interface DecisionEvent<TContext = unknown> {
  /**
   * - `limit`: tokens were wanted.
   * - `check`: only an answer.
   * - `charge`: tokens were taken for use that has happened, by `charge` or by `settle`.
   * - `credit`: credits were added.
   * - `warn`: a call has crossed a level of `warnAt`. It is no call of its own.
   * - {@link OperatorAction}: an operator has changed the limit of a key by the admin router
   *   (`rl.admin`). An action is no call: usage does not count it.
   */
  action: "limit" | "check" | "charge" | "credit" | "warn" | OperatorAction;
  /** The limit. */
  name: string;
  /**
   * The key of the bucket; `undefined` for the bucket that all callers share. `undefined` also for an
   * operator's action on all keys. For an operator's action on a key from a list, `key` is the stored
   * key, which is hashed where there is a `hashKey`.
   */
  key: string | undefined;
  /** The plan by which the call was decided; absent for a limit without plans. */
  plan?: string | undefined;
  /**
   * Tokens wanted; of a grant with `atLeast`, the tokens that the call got; 1 for the action of an operator.
   */
  count: number;
  /**
   * The answer that the caller got. For an operator's action: the answer that a call for one token would
   * get after it.
   */
  result: RateLimitResult;
  /** The capacity of the bucket, or the slots of a key; absent for credits that have none. */
  capacity?: number | undefined;
  /**
   * The used part of the capacity after the decision: 0 to 1, and above 1 while tokens are owed. Absent
   * where it is not known: for credits without a capacity, with shards, for a caller whom an override or a
   * plan exempts or blocks, in an outage, and for an id that was charged before.
   */
  share?: number | undefined;
  /**
   * The context of the request: `ctx` of tRPC, `c` of Hono, `req` of Express, that of better-auth's hooks,
   * or the `context` of a call or of `limitModel`; absent where none was given. A charge of `settle` has
   * that of the call whose result is settled, and none where a hold is settled by its id.
   */
  context?: TContext | undefined;
  /** The operator, as the option `admin.actor` names the operator. Only for an operator's action. */
  by?: string | undefined;
  /** The reason that the operator gave. Only for an operator's action. */
  why?: string | undefined;
  /** The level that was crossed, such as 0.8. Only for `warn`, whose `key` is the stored key. */
  level?: number | undefined;
}

/**
 * An operator's change of the limit of a key: denies all of its calls, lets all of them pass, raises its
 * limit, gives it more tokens or a plan, ends any of these changes, fills the bucket, or undoes one of these.
 */
export type OperatorAction =
  "ban" | "exempt" | "raise" | "give" | "plan" | "clear" | "reset" | "undo";

/**
 * Is told of decisions. Its errors and rejections are ignored. It may name the type of the contexts:
 * `({ context }: DecisionEvent<Context>) => …`.
 */
export type DecisionListener = {
  // A method, so that the compiler accepts a listener that knows the type of the contexts.
  listen(this: void, event: DecisionEvent): void | Promise<void>;
}["listen"];

/**
 * The type that the config of a limit may have. For a limit with plans, the type is no union, because
 * editors show no docstrings for the options of a union. If the limit also has options that do not go
 * with plans, the type is the union, so that the compiler's message names these options.
 */
type ConfigLike<TConfig> = "plans" extends keyof TConfig
  ? [keyof TConfig & ("rate" | "capacity" | "maxReserved" | "slots")] extends [never]
    ? PlannedConfig
    : LimitConfig | PlannedConfig
  : LimitConfig | PlannedConfig;

/** The options of `createRateLimiter`. */
export interface RateLimiterOptions<
  TLimits extends LimitConfigs,
  TTransaction = unknown,
  TPlan extends string = string,
> {
  /** Where the rows are: `prismaStore(prisma)` or `memoryStore()`. */
  store: RateLimitStore<TTransaction>;
  /**
   * The names of the plans, such as `["free", "pro"]`. A limit says with `plans` what each plan may do,
   * and a call says with `plan` which plan its key has.
   * @default none
   */
  plans?: readonly TPlan[] | undefined;
  /**
   * How long the answer of the `plan` function counts, ms: whole, at least 0. After that time, or after
   * `planChanged`, the next call of the key asks the function again.
   * @default 60000
   */
  planFor?: number | undefined;
  /** The limits by name. Checked at construction. */
  limits: {
    readonly [TName in keyof TLimits]: TLimits[TName] &
      ConfigLike<TLimits[TName]> &
      FitsKind<TLimits[TName], LimitConfig | PlannedConfig> &
      FitsPlans<TLimits[TName], NoInfer<TPlan>> &
      FitsLease<TLimits[TName]> &
      FitsOneRow<TLimits[TName]> &
      FitsCalendar<TLimits[TName]>;
  };
  /**
   * The time, epoch ms. Fractions are dropped.
   * @default the clock of the store's database, or else `Date.now`
   */
  clock?: () => number;
  /**
   * Keeps keys, such as mail addresses, out of the table: rows have the key that this function returns,
   * which must be a valid key. If the returned key is not valid, or if the function throws, calls with
   * that key fail with a `RateLimitConfigError`. Use a keyed hash, such as `createHmac` of `node:crypto`:
   * without a secret, everyone can hash all addresses that exist, and compare. The function has to be
   * quick, and to return the same for a key each time: results are kept for keys in use. The function is
   * not called for the shared bucket. `onDecision` and `onChange` keep the caller's key. Another
   * function, or another secret, gives every caller a new bucket.
   * @default the keys themselves
   */
  hashKey?: ((key: string) => string) | undefined;
  /** Between 0 and 1; picks shards. @default Math.random */
  random?: () => number;
  /**
   * Whether the limits are on: `false`, or a function that each call asks, for load tests, previews and
   * self-hosted installations. While they are off, every call of every verb passes, writes nothing, asks
   * the store nothing, and says `disabled: true` in its result. Names, keys, options and configs that are
   * not valid are still refused. `overrides`, `list`, `usage`, `prune` and `forget`, and the admin router,
   * work on the store as before, and `transaction` still opens a transaction for the application's own rows.
   * The `logger` is warned once. The function must return a boolean: a call rejects with the error of a
   * function that throws, and with a `RateLimitConfigError` for any other answer.
   * @default true
   */
  enabled?: boolean | (() => boolean) | undefined;
  /**
   * How long a call may wait for the store, ms, above 0; `Infinity` for no bound. After that time
   * the call fails with a `RateLimitStoreError`: neither a denial nor a pass.
   * @default 2000
   */
  timeout?: number;
  /**
   * Waits for `acquire`, and before a hold is ended again after a failure of the store. In tests, inject
   * a `sleep` that goes with `clock`.
   * @default real timers
   */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Sends changes to other processes at once, and receives theirs, for `watch`.
   * @default none: `watch` finds the changes of other processes when it next reads the store
   */
  channel?: ChangeChannel;
  /**
   * How long this process may repeat a denial from memory, ms: whole, at least 0. Counts for all limits
   * that do not set it; see `rememberDenials` of a limit.
   * @default 0: every call asks the store
   */
  rememberDenials?: number | undefined;
  /**
   * The answer of `limit` and `check` in an outage of the store: an error, or `ok` with `storeFailed`.
   * Counts for all limits that do not set it, and not for limits of slots; see `whenStoreFails` of a
   * limit.
   * @default "fail"
   */
  whenStoreFails?: "fail" | "allow" | undefined;
  /**
   * How long the ids of calls with `once` are remembered, ms: whole, at least 1. Counts for all limits
   * that do not set it; see `onceFor` of a limit.
   * @default 7 days: longer than services repeat a webhook by themselves
   */
  onceFor?: number | undefined;
  /**
   * Whether `limiter.overrides` may change limits at run time: bans, exemptions, higher limits. The
   * table `RateLimitOverride` is then read by the first call, and kept in memory.
   * @default false: the table is not needed
   */
  overrides?: boolean | undefined;
  /**
   * How old the copy of the overrides in this process may get, ms: whole, at least 0. For so long, this
   * process may not obey a change that another process made, unless a `channel` tells of the change at
   * once. A call waits for the table only if the copy is older. Under steady load, the table is read in
   * time, beside the calls. Only with `overrides`.
   * @default 10000
   */
  overridesFor?: number | undefined;
  /**
   * Deletes rows that are full again, now and then: `true`, or how often. However many processes there
   * are, only one of them prunes per interval. Its timer does not keep the process alive. Its errors
   * reach the `logger`. On Cloudflare Workers, `autoPrune` needs `waitUntil`.
   * @default false
   */
  autoPrune?: boolean | AutoPruneOptions | undefined;
  /**
   * How long the usage of limits with `usage` may be summed up in this process before it is written, ms:
   * whole, at least 1. A process that is killed loses at most the usage that it has counted in that time
   * and in the time of one write. See `limiter.flushUsage`.
   * @default 5000
   */
  flushUsage?: number | undefined;
  /**
   * Takes promises of work that goes on after an answer, on a host that ends a request's work with its
   * response: `import { waitUntil } from "cloudflare:workers"`, or `waitUntil` of `@vercel/functions`. It
   * gets the promises of `onDecision`, `onBatch` and `channel.publish`, the promises that write usage,
   * and the turns of `autoPrune`. These turns then begin after a call, and not by a timer.
   * @default none: such work goes on as long as the process does
   */
  waitUntil?: WaitUntil | undefined;
  /**
   * Receives the messages that no caller gets: once per outage, the reason why the store fails. `false`
   * for no messages.
   * @default console
   */
  logger?: RateLimitLogger | false | undefined;
  /**
   * The text of the errors of denied calls, in words or a language of your own: a {@link DenialMessage}.
   * `waitInWords` has the words of a wait. The function must not throw.
   * @default 'Rate limit "sendMessage" exceeded. Try again in 6 seconds'
   */
  denialMessage?: DenialMessage | undefined;
  /** Called after every decision, for metrics. Its errors and rejections are ignored. */
  onDecision?: DecisionListener;
  /**
   * Called after each batch that the store has sent to its database, for metrics. Its errors and
   * rejections are ignored. The events are those of the store: limiters that share a store get the same
   * events. SQL stores have events. `memoryStore` has none, and stores without `onBatch` have none.
   * `transaction` and `using` send their statements one by one, and without events.
   */
  onBatch?: (event: BatchEvent) => void | Promise<void>;
}

/** The `plan` function of a limiter, if it has one. */
export interface PlanOption<TAnswer, TName extends string = string> {
  /**
   * Says which plan a key has, such as from the application's own table. The limiter asks where a call
   * says no plan, and only for limits with plans: once per limit and key in `planFor`, by each process.
   * Where the function fails, its last answer for the key counts. If there is no last answer, the call
   * fails with the function's error.
   * @default none: each call says its plan
   */
  plan?: ((of: PlanQuestion<TName>) => TAnswer) | undefined;
}

/** The options that need `overrides: true`. */
export type FitsOverrides =
  { overrides: true } | { overrides?: boolean | undefined; overridesFor?: undefined };
