/**
 * The options that go together, for the compiler: a limit has to leave options out because of its other
 * options. The compiler checks a config by these types only where the config is written in the call
 * itself. Each reason is part of the message, see `LeftOut`. At run time, `core/validate-config.ts`
 * checks the same.
 */
import type { LimitConfig } from "../../../core/limit-config.js";

/** The options that a limit with a `lease` must not have. */
export type FitsLease<TConfig> = TConfig extends { kind: "concurrency" }
  ? unknown
  : TConfig extends { lease: object }
    ? {
        blockFor?: LeftOut<"a limit with a lease"> | undefined;
        shards?: 1 | LeftOut<"a limit with a lease"> | undefined;
        period: number;
      }
    : unknown;

/** The options that a limit with `onceFor`, or with a list as `blockFor`, must not have. */
export type FitsOneRow<TConfig> = (TConfig extends { onceFor: number }
  ? { shards?: 1 | LeftOut<"a limit with onceFor"> | undefined }
  : unknown) &
  (TConfig extends { blockFor: readonly number[] }
    ? { shards?: 1 | LeftOut<"a limit with blockFor"> | undefined }
    : TConfig extends { forgiveAfter: number }
      ? { forgiveAfter?: LeftOut<"a limit whose blockFor is no list"> | undefined }
      : unknown);

/**
 * Refuses `once` in a call of a limit with shards: such a limit has no single row beside which an id
 * could be remembered. `never` stands for a name that the limiter does not know. Where a name may be one
 * of several limits, `once` is refused only if all of them have shards.
 */
export type FitsOnce<TConfig> = [TConfig] extends [never]
  ? unknown
  : [TConfig] extends [{ shards: infer TShards }]
    ? [TShards] extends [1 | undefined]
      ? unknown
      : { once?: LeftOut<"a limit with shards"> | undefined }
    : unknown;

/**
 * The options that do not go with the windows of a time zone, and `weekStart`, which goes only with
 * weeks.
 */
export type FitsCalendar<TConfig> = FitsWeek<TConfig> &
  (TConfig extends { timeZone: string } | { period: "day" | "week" }
    ? {
        /** Only for fixed windows that are of no time zone. */
        start?: LeftOut<"windows of a time zone"> | undefined;
        /** Only for fixed windows with `blockFor`. */
        afterBlock?: "next window" | LeftOut<"windows of a time zone"> | undefined;
      }
    : unknown);

type FitsWeek<TConfig> = TConfig extends { period: "day" | "month"; weekStart: number }
  ? { weekStart?: LeftOut<"windows that are no weeks"> | undefined }
  : unknown;

/**
 * The options that a limit must not have, because they are options of other kinds only.
 *
 * @typeParam TAll the configs that there are.
 */
export type FitsKind<TConfig, TAll = LimitConfig> = TConfig extends {
  kind: infer TKind extends LimitConfig["kind"];
}
  ? Without<Exclude<keyof TConfig, KeysOf<Extract<TAll, { kind: TKind }>>>, TKind>
  : unknown;

/** The entries that a limit with plans must have: one for each plan of the limiter, and no other entry. */
export type FitsPlans<TConfig, TPlan extends string> = "plans" extends keyof TConfig
  ? {
      plans: { readonly [TName in TPlan]: unknown } & {
        readonly [
          TName in Exclude<keyof TConfig["plans"], TPlan>
        ]: LeftOut<"a limiter whose plans do not name it">;
      };
      rate?: LeftOut<"a limit with plans"> | undefined;
      capacity?: LeftOut<"a limit with plans"> | undefined;
      maxReserved?: LeftOut<"a limit with plans"> | undefined;
      slots?: LeftOut<"a limit with plans"> | undefined;
    }
  : unknown;

/**
 * `unknown` where no option has to be left out: in a message, `TokenBucketConfig & {}` says no more than
 * `TokenBucketConfig`, and is longer.
 */
type Without<TOption extends PropertyKey, TKind extends string> = [TOption] extends [never]
  ? unknown
  : { [TName in TOption]?: LeftOut<`a limit of kind "${TKind}"`> | undefined };

/** The keys of any member of a union. */
type KeysOf<TUnion> = TUnion extends unknown ? keyof TUnion : never;

/** An option that has to be left out. The reason is here for the compiler's message. */
export interface LeftOut<TOf extends string> {
  /** The limit that must not have the option. */
  leftOutOf: TOf;
}
