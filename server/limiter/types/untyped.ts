/** A limiter whose names are only known at run time. */
import type { ShownConfig } from "../../../core/config.js";
import type { RateLimitResult } from "../../../core/decide.js";
import type { KeyOptions, PlanOptions } from "./call.js";
import type { EnterOptions, EnterResult } from "./enter.js";
import type {
  ItemResult,
  LimitAllFirst,
  LimitAllItem,
  LimitAllOptions,
  LimitAllResult,
  ResultsOf,
} from "./limit-all.js";
import type { LimitFirstItem, LimitFirstOptions, LimitFirstResult } from "./limit-first.js";
import type { LimitOptions } from "./limit.js";
import type { LimitConfigs } from "./names.js";
import type { SettleResult } from "./settle.js";

/** A limiter with names that are only known at run time, for the package's own generic code. */
export interface UntypedRateLimiter extends UntypedOperations {
  enter(
    name: string,
    options?: EnterOptions & PlanOptions,
  ): Promise<EnterResult<readonly ItemResult[]>>;
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
  settle(
    answer: LimitAllResult<readonly ItemResult[]>,
    actual: number | null | undefined | Readonly<Record<string, number | null | undefined>>,
  ): Promise<SettleResult>;
  limitFirst(
    items: readonly (string | (LimitFirstItem & PlanOptions))[],
    options?: LimitFirstOptions & PlanOptions,
  ): Promise<LimitFirstResult>;
  limit(name: string, options?: LimitOptions & PlanOptions): Promise<RateLimitResult>;
  limitAll<const TItems extends readonly ((LimitAllItem | LimitAllFirst) & PlanOptions)[]>(
    items: TItems,
    options?: LimitAllOptions,
  ): Promise<LimitAllResult<ResultsOf<TItems>>>;
}
