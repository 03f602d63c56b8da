/** Overrides as the users of a limiter see them. */
import type { RateLimitConfig } from "../../../core/limit-config.js";

/** What counts instead of a limit's config: exactly one of five. */
export type OverrideRule<TPlan extends string = string> =
  | {
      /** What this plan has: a trial. Only of a limit with plans. */
      plan: TPlan;
      config?: undefined;
      times?: undefined;
      unlimited?: undefined;
      blocked?: undefined;
    }
  | {
      /** This config. */
      config: RateLimitConfig;
      plan?: undefined;
      times?: undefined;
      unlimited?: undefined;
      blocked?: undefined;
    }
  | {
      /**
       * The config that would count without the override, with so many times its rate and its
       * capacity: finite, above 0. The capacity leaves room for a call of one token. A call whose config
       * it turns into one that cannot work fails with a `RateLimitConfigError`.
       */
      times: number;
      plan?: undefined;
      config?: undefined;
      unlimited?: undefined;
      blocked?: undefined;
    }
  | {
      /** Every call passes, whatever its count, and takes nothing. The store is not asked. */
      unlimited: true;
      plan?: undefined;
      config?: undefined;
      times?: undefined;
      blocked?: undefined;
    }
  | {
      /** Every call is denied, whatever its count, until the override ends. The store is not asked. */
      blocked: true;
      plan?: undefined;
      config?: undefined;
      times?: undefined;
      unlimited?: undefined;
    };

/** The key of an override. */
export interface OverrideKeyOptions {
  /**
   * The key that it is about, as in other calls; it is hashed if there is a `hashKey`. An override of
   * a key comes before one of all keys, and before a call's own `config`. `undefined` is an error.
   * @default left out: all keys of the limit, and its shared bucket
   */
  key?: string;
}

/** The options of `overrides.set`. */
export type SetOverrideOptions<TPlan extends string = string> = OverrideRule<TPlan> &
  OverrideKeyOptions & {
    /**
     * When it ends, epoch ms on the limiter's clock: finite, and still to come.
     * @default never
     */
    until?: number | undefined;
  };

/** An override that is in force. */
export type RateLimitOverride<TName extends string = string> = OverrideRule & {
  /** The limit. */
  name: TName;
  /** The key of its rows, hashed where there is a `hashKey`; `undefined` for all keys of the limit. */
  key: string | undefined;
  /** When it ends, epoch ms; `undefined` for never. */
  until: number | undefined;
  /** When it was set, epoch ms. */
  setAt: number;
};

/**
 * Changes limits at run time, for all processes: bans, exemptions, higher limits. Needs
 * `overrides: true`. Other processes obey within `overridesFor`, and at once where a `channel` tells
 * them. This process obeys before the promise resolves.
 *
 * The precedence: the override of the key, a call's own `config` (or that of a `config` function), the
 * override of all keys, the limit's own config.
 *
 * Every method rejects with a `RateLimitConfigError` for an option that cannot work, with a
 * `RateLimitInputError` for an unknown name and for a key that is not valid, and with a
 * `RateLimitStoreError` when the store fails. It is then unknown whether the change took effect.
 */
export interface RateLimitOverrides<TName extends string = string, TPlan extends string = string> {
  /**
   * Sets the override of a key, or of all keys. It replaces the one that there was. What was used stays
   * used: so the key has at once what the new capacity leaves, and when the override ends, what the
   * limit's own leaves. Of several limits, one after the other; in a transaction, all or none.
   *
   * @example
   * const until = Date.now() + 14 * DAY; // a trial of all limits
   * await limiter.overrides.set(["sendMessage", "pictures"], { key: userId, plan: "pro", until });
   */
  set(name: TName | readonly TName[], options: SetOverrideOptions<TPlan>): Promise<void>;
  /** The override of exactly this key, or of all keys, as the store has it now. */
  get(name: TName, options?: OverrideKeyOptions): Promise<RateLimitOverride<TName> | undefined>;
  /** All overrides that are in force, as the store has them now: of one limit, or of all of them. */
  list(name?: TName): Promise<RateLimitOverride<TName>[]>;
  /**
   * Ends the override of a key, or of all keys. Resolves with whether there was one. Overrides of
   * other keys stay. What was used stays used, as at the end of an `until`.
   */
  clear(name: TName, options?: OverrideKeyOptions): Promise<boolean>;
}
