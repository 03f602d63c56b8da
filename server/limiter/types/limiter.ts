/** The limiter as its users see it: the names of the limits flow from the config into each call. */
import type { AcquireMethods } from "./acquire.js";
import type { EnterMethods } from "./enter.js";
import type { HoldsMethods } from "./holds.js";
import type { ListMethods } from "./list.js";
import type { ListenMethods } from "./listen.js";
import type { LimitConfigs, TokensName } from "./names.js";
import type { RateLimitOperations } from "./operations.js";
import type { RateLimitOverrides } from "./override-types.js";
import type { PlanBy, PlanName, PlanTable } from "./plan-types.js";
import type { SnapshotMethods } from "./read.js";
import type { TransactionMethods } from "./transaction.js";
import type { UpkeepMethods } from "./upkeep.js";
import type { UsageMethods } from "./usage.js";
import type { WarningMethods } from "./warnings.js";

/** A limiter: operations on the limits that it names, and the upkeep of their rows. */
export interface RateLimiter<
  TLimits extends LimitConfigs = LimitConfigs,
  TTransaction = unknown,
  TBy extends PlanBy = "call",
>
  extends
    RateLimitOperations<TLimits, TokensName<TLimits>, TBy>,
    AcquireMethods<TLimits, TBy>,
    EnterMethods<TLimits, TBy>,
    TransactionMethods<TLimits, TBy, TTransaction>,
    UpkeepMethods,
    ListMethods<TLimits>,
    HoldsMethods<TLimits>,
    UsageMethods<TLimits>,
    WarningMethods<TLimits>,
    SnapshotMethods<TLimits, TBy>,
    ListenMethods {
  /**
   * The configs of the limits, by name.
   *
   * @example
   * const names = Object.keys(limiter.limits);
   */
  readonly limits: Readonly<TLimits>;

  /**
   * The rates of each plan on the limits that have plans, for a page of prices. Plain JSON; empty without
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
   * Changes limits at run time, for all processes. Needs `overrides: true`. Without that option, every
   * method rejects with a `RateLimitConfigError`.
   *
   * @example
   * const until = Date.now() + HOUR;
   * await limiter.overrides.set("sendMessage", { key: userId, blocked: true, until });
   * await limiter.overrides.clear("sendMessage", { key: userId });
   */
  readonly overrides: RateLimitOverrides<keyof TLimits & string, PlanName<TLimits>>;
}
