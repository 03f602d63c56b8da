/** The names of limits, for the compiler: limits with tokens, limits with slots, and limits that refill. */
import type { ConcurrencyConfig, CreditsConfig, LimitConfig } from "../../../core/limit-config.js";
import type { PlannedConcurrencyConfig, PlannedConfig } from "./plan-types.js";

/** The limits of a limiter: their configs by name. */
export type LimitConfigs = Record<string, LimitConfig | PlannedConfig>;

/** The names of the limits that have tokens. */
export type TokensName<TLimits> = keyof {
  [TName in keyof TLimits & string as TLimits[TName] extends AnySlots ? never : TName]: unknown;
};

type AnySlots = ConcurrencyConfig | PlannedConcurrencyConfig;

/** The names of the limits that have slots: those of `kind: "concurrency"`. */
export type SlotsName<TLimits> = {
  [TName in keyof TLimits & string]: ConcurrencyConfig extends TLimits[TName]
    ? TName
    : TLimits[TName] extends AnySlots
      ? TName
      : never;
}[keyof TLimits & string];

/** The names of the limits whose tokens come by themselves: neither slots nor credits. */
export type RefillingName<TLimits> = keyof {
  [
    TName in keyof TLimits & string as TLimits[TName] extends AnySlots | CreditsConfig
      ? never
      : TName
  ]: unknown;
};

/** Autocompletes the names of the limits, and takes other strings where a config comes along. */
export type LimitName<TName extends string> = TName | (string & {});
