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
  /** How often, ms: whole, at least 1. @default 5 minutes */
  every?: number | undefined;
  /** Ends it when it is aborted. */
  signal?: AbortSignal | undefined;
}

/** The argument of `onDecision`. */
export interface DecisionEvent {
  /**
   * - `limit`: tokens were wanted.
   * - `check`: only an answer.
   * - `charge`: tokens were taken for use that has happened, by `charge` or by `settle`.
   * - `credit`: credits were added.
   * - {@link OperatorAction}: somebody has changed the limit of a key by the admin router (`rl.admin`).
   *   It is no call: usage does not count it.
   */
  action: "limit" | "check" | "charge" | "credit" | OperatorAction;
  /** The limit. */
  name: string;
  /**
   * The key of the bucket; `undefined` for the bucket that all callers share. Of an action of an
   * operator on all keys, `undefined`; of one on a key that a list gave, the stored key, which is hashed
   * where there is a `hashKey`.
   */
  key: string | undefined;
  /** The plan by which it was decided; absent for a limit without plans. */
  plan?: string | undefined;
  /** Tokens wanted; 1 for the action of an operator. */
  count: number;
  /** The answer that the caller got. Of an operator's action: what a call for one token would get then. */
  result: RateLimitResult;
  /** Who did it, as the option `admin.actor` has named them. Only of an operator's action. */
  by?: string | undefined;
}

/**
 * What an operator does to the limit of a key: denies all of its calls, lets all of them pass, raises its
 * limit, gives it a plan, ends any of these, or fills its bucket.
 */
export type OperatorAction = "ban" | "exempt" | "raise" | "plan" | "clear" | "reset";

/** Is told of decisions. Its errors and rejections are ignored. */
export type DecisionListener = (event: DecisionEvent) => void | Promise<void>;

/**
 * What the config of a limit may be. For one with plans it is no union, because editors find no text for
 * options in that one. With options that do not go with plans, it is: so the compiler's message names them.
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
   * The names of the plans, such as `["free", "pro"]`. A limit says with `plans` what each of them may do,
   * and a call says with `plan` which one its key has.
   * @default none
   */
  plans?: readonly TPlan[] | undefined;
  /**
   * How long the answer of the `plan` function counts, ms: whole, at least 0. After that time, or after
   * `planChanged`, the next call of the key asks it again.
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
   * Keeps keys, such as mail addresses, out of the table: rows have the key that this returns, which
   * must be a valid one. If it is not, or if this throws, calls with that key fail with a
   * `RateLimitConfigError`. Use a keyed hash, such as `createHmac` of `node:crypto`: everyone can hash
   * all addresses that exist, and compare. It has to be quick, and to return the same each time:
   * results are kept for keys in use. It is not called for the shared bucket. `onDecision` and
   * `onChange` keep the caller's key. Another function, or another secret, gives every caller a new
   * bucket.
   * @default the keys themselves
   */
  hashKey?: ((key: string) => string) | undefined;
  /** Between 0 and 1; picks shards. @default Math.random */
  random?: () => number;
  /**
   * How long a call may wait for the store, ms, above 0; `Infinity` for no bound. After that time
   * the call fails with a `RateLimitStoreError`: neither a denial nor a pass.
   * @default 2000
   */
  timeout?: number;
  /**
   * Waits for `acquire`, and before a hold is ended again after a failure of the store. Inject one that
   * goes with `clock` in tests.
   * @default real timers
   */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * Sends changes to other processes at once, and receives theirs, for `watch`.
   * @default none: `watch` finds the changes of other processes when it next reads the store
   */
  channel?: ChangeChannel;
  /**
   * How long this process may repeat a denial from memory, ms: whole, at least 0. For all limits that
   * do not set it; see `rememberDenials` of a limit.
   * @default 0: every call asks the store
   */
  rememberDenials?: number | undefined;
  /**
   * How long the ids of calls with `once` are remembered, ms: whole, at least 1. For all limits that do
   * not set it; see `onceFor` of a limit.
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
   * How old this process may let its copy of the overrides get, ms: whole, at least 0. So long another
   * process may not obey a change, unless a `channel` tells it at once. A call waits for the table
   * only if the copy is older. Under steady load it is read in time, beside the calls. Only with
   * `overrides`.
   * @default 10000
   */
  overridesFor?: number | undefined;
  /**
   * Deletes rows that are full again, now and then: `true`, or how often.
   * However many processes there are, only one of them does it per interval. Its timer does not
   * keep the process alive. Its errors reach the `logger`. On Cloudflare Workers it needs
   * `waitUntil`.
   * @default false
   */
  autoPrune?: boolean | AutoPruneOptions | undefined;
  /**
   * How long the usage of limits with `usage` may be summed up in this process before it is written,
   * ms: whole, at least 1. A process that is killed loses at most what it has counted in that time and
   * in the time of one write. See `limiter.flushUsage`.
   * @default 5000
   */
  flushUsage?: number | undefined;
  /**
   * Takes promises of work that goes on after an answer, on a host that ends a request's work with
   * its response: `import { waitUntil } from "cloudflare:workers"`, or that of `@vercel/functions`.
   * It gets the promises of `onDecision`, `onBatch` and `channel.publish`, those that write
   * usage, and the turns of `autoPrune`, which begin after a call then, and not by a timer.
   * @default none: such work goes on as long as the process does
   */
  waitUntil?: WaitUntil | undefined;
  /**
   * Receives what no caller is told: once per outage why the store fails. `false` for no messages.
   * @default console
   */
  logger?: RateLimitLogger | false | undefined;
  /**
   * What the errors of denied calls say to people, in words or a language of your own: a
   * {@link DenialMessage}. `waitInWords` has the words of a wait. It must not throw.
   * @default 'Rate limit "sendMessage" exceeded. Try again in 6 seconds'
   */
  denialMessage?: DenialMessage | undefined;
  /** Called after every decision, for metrics. Its errors and rejections are ignored. */
  onDecision?: DecisionListener;
  /**
   * Called after each batch that the store has sent to its database, for metrics. Its errors and
   * rejections are ignored. The events are those of the store: limiters that share it get the same
   * ones. SQL stores have them. `memoryStore` has none, nor have stores without `onBatch`.
   * `transaction` and `using` send their statements one by one, and without events.
   */
  onBatch?: (event: BatchEvent) => void | Promise<void>;
}

/** The `plan` function of a limiter, if it has one. */
export interface PlanOption<TAnswer, TName extends string = string> {
  /**
   * Which plan a key has, such as from the application's own table: asked where a call says none, and for
   * limits with plans alone. Once per limit and key in `planFor`, by each process. Where it fails, the
   * answer before counts; without one, the call fails with its error.
   * @default none: each call says its plan
   */
  plan?: ((of: PlanQuestion<TName>) => TAnswer) | undefined;
}

/** The options that need `overrides: true`. */
export type FitsOverrides =
  { overrides: true } | { overrides?: boolean | undefined; overridesFor?: undefined };
