/** Plans as the users of a limiter see them: rates and capacities, by the name of a plan. */
import type {
  CalendarWindowConfig,
  ConcurrencyConfig,
  PeriodWindowConfig,
  TokenBucketConfig,
} from "../../../core/limit-config.js";

/** The terms of one plan: how many tokens come, and how many may be held. */
export interface PlanRate {
  /** Tokens added per `period` of the limit: finite and above 0. */
  rate: number;
  /** The most tokens that can be held; see `capacity` of a limit. @default rate */
  capacity?: number;
  /** The most tokens that reservations may owe; see `maxReserved` of a limit. @default unlimited */
  maxReserved?: number;
}

/**
 * The terms of a plan for a limit of tokens:
 *
 * - a number: the `rate` of the plan, and also its `capacity`.
 * - `"unlimited"`: every call passes, whatever its count, and takes nothing.
 * - `"none"`: every call is denied, whatever its count.
 */
export type PlanTerms = number | PlanRate | "unlimited" | "none";

/** The terms of all plans for a limit: one entry for each plan of the limiter. */
export type PlanEntries = Readonly<Record<string, PlanTerms>>;

/** The options that each plan of a limit has, and that the limit itself must not have. */
type OfPlans = "rate" | "capacity" | "maxReserved";

interface ByPlan {
  /** The terms by the name of a plan. Every plan of the limiter is here. */
  plans: PlanEntries;
  /** Each plan has its own. */
  rate?: undefined;
  /** Each plan has its own. */
  capacity?: undefined;
  /** Each plan has its own. */
  maxReserved?: undefined;
}

/** A token bucket whose rate depends on the plan of the caller. */
export interface PlannedTokenBucketConfig extends Omit<TokenBucketConfig, OfPlans>, ByPlan {}

/** Fixed windows of a number of ms, whose rate depends on the plan of the caller. */
export interface PlannedPeriodWindowConfig extends Omit<PeriodWindowConfig, OfPlans>, ByPlan {}

/** Days, weeks or months of the calendar, whose rate depends on the plan of the caller. */
export interface PlannedCalendarWindowConfig extends Omit<CalendarWindowConfig, OfPlans>, ByPlan {}

/** Slots whose number depends on the plan of the caller. */
export interface PlannedConcurrencyConfig extends Omit<ConcurrencyConfig, "slots"> {
  /** The number of slots by the name of a plan: whole, 1 to 1,000. Every plan of the limiter is here. */
  plans: Readonly<Record<string, number>>;
  /** Each plan has its own. */
  slots?: undefined;
}

/** The config of a limit with plans: each plan makes another config of it. */
export type PlannedConfig =
  | PlannedTokenBucketConfig
  | PlannedPeriodWindowConfig
  | PlannedCalendarWindowConfig
  | PlannedConcurrencyConfig;

/**
 * The config of a limit if it has plans, else `never`. The test is by the keys of the config: TypeScript
 * 5 does not find that an inferred config extends `{ plans: object }`.
 */
type Planned<TConfig> = TConfig extends unknown
  ? "plans" extends keyof TConfig
    ? TConfig
    : never
  : never;

/** Whether a limit has plans for certain: all configs that its type allows have plans. */
type IsPlanned<TConfig> = [TConfig] extends [never]
  ? false
  : [Exclude<TConfig, Planned<TConfig>>] extends [never]
    ? true
    : false;

/** The names of the limits that have plans. */
export type PlannedName<TLimits> = {
  [TName in keyof TLimits & string]: IsPlanned<TLimits[TName]> extends true ? TName : never;
}[keyof TLimits & string];

/**
 * The names of the plans that the limits have. By `infer`, so that the compiler's messages list the
 * names.
 */
export type PlanName<TLimits> = {
  [TName in keyof TLimits]: PlanOf<TLimits[TName]>;
}[keyof TLimits] extends infer TPlan extends string
  ? TPlan
  : never;

type PlanOf<TConfig> = TConfig extends unknown
  ? "plans" extends keyof TConfig
    ? keyof TConfig["plans"] & string
    : never
  : never;

/** The source of a call's plan: the call itself, or the `plan` function of the limiter. */
export type PlanBy = "call" | "limiter";

/**
 * The `plan` that a call has to say, or must not say.
 *
 * @typeParam TConfig of the limit; `never` for a name that the limiter does not know.
 * @typeParam TOwn the call's own config; `undefined` for none.
 */
export type SaysPlan<TConfig, TOwn, TBy extends PlanBy> = [Planned<TConfig>] extends [never]
  ? unknown
  : undefined extends TOwn
    ? NeedsPlan<TConfig, TOwn, TBy> extends true
      ? { plan: PlanOf<TConfig> }
      : { plan?: PlanOf<TConfig> | undefined }
    : unknown;

/** Whether a call has to say a plan. */
type NeedsPlan<TConfig, TOwn, TBy extends PlanBy> = undefined extends TOwn
  ? IsPlanned<TConfig> extends true
    ? "limiter" extends TBy
      ? false
      : true
    : false
  : false;

/** The options of a call, which may be left out where the call need not say a plan. */
export type PlanArgs<TConfig, TOwn, TBy extends PlanBy, TOptions> =
  NeedsPlan<TConfig, TOwn, TBy> extends true ? [options: TOptions] : [options?: TOptions];

/** The `plan` option of a call whose answer does not depend on the plan, so the call may leave it out. */
export type MaySayPlan<TLimits> = [PlanName<TLimits>] extends [never]
  ? unknown
  : { plan?: PlanName<TLimits> | undefined };

/** The options of a call for several limits: one plan, for the limits that have plans. */
export type PlanOfList<TLimits, TName, TBy extends PlanBy, TOptions> = [
  Extract<TName, PlannedName<TLimits>>,
] extends [never]
  ? [options?: TOptions]
  : "limiter" extends TBy
    ? [options?: TOptions & { plan?: PlanName<TLimits> }]
    : [options: TOptions & { plan: PlanName<TLimits> }];

/** The argument of the `plan` function of a limiter. */
export interface PlanQuestion<TName extends string = string> {
  /** The key of the bucket; `undefined` for the bucket that all callers share. */
  key: string | undefined;
  /** The limit, which has plans. */
  name: TName;
}

/** Says which plan a key has. */
export type PlanResolver<TPlan extends string = string, TName extends string = string> = (
  of: PlanQuestion<TName>,
) => TPlan | Promise<TPlan>;

/** The terms of a plan for a limit, for a page of prices: plain JSON. */
export type ShownPlan<TConfig, TPlan> = "plans" extends keyof TConfig
  ? TPlan extends keyof TConfig["plans"]
    ? ShownEntry<TConfig, TConfig["plans"][TPlan]>
    : never
  : never;

type ShownEntry<TConfig, TTerms> = TTerms extends "unlimited" | "none"
  ? TTerms
  : OptionOf<TConfig, "kind"> extends "concurrency"
    ? ConcurrencyConfig
    : OptionOf<TConfig, "kind"> extends "token bucket"
      ? TokenBucketConfig
      : OptionOf<TConfig, "period"> extends number
        ? PeriodWindowConfig
        : CalendarWindowConfig;

type OptionOf<TConfig, TOption extends PropertyKey> = TOption extends keyof TConfig
  ? TConfig[TOption]
  : never;

/** The terms of each plan for the limits that have plans. */
export type PlanTable<TLimits> = {
  readonly [TPlan in PlanName<TLimits>]: {
    readonly [TName in PlannedName<TLimits>]: ShownPlan<TLimits[TName], TPlan>;
  };
};
