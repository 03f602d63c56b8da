/** Overrides as the users of a limiter see them. */
import type { RateLimitConfig } from "../../../core/limit-config.js";

/** What each rule has, and no other. */
interface OverrideRules<TPlan extends string> {
  /** The terms of this plan, such as for a trial. Only for a limit with plans. */
  plan: TPlan;
  /** This config counts. */
  config: RateLimitConfig;
  /**
   * Multiplies the rate and the capacity of the config that would count without the override: finite,
   * above 0. The capacity keeps room for a call of one token. Where the product is a config that
   * cannot work, calls fail with a `RateLimitConfigError`.
   */
  times: number;
  /**
   * So many tokens more, beside what would count without the override: finite, above 0. The capacity grows
   * by them, and the rate stays. So the key has them at once, and gets back by the rate what it leaves
   * unused; it never takes more than these tokens beyond its rate. What is left of them lapses with the
   * override. Not for a balance of credits: see `credit`.
   */
  add: number;
  /** Every call passes, whatever its count, and takes nothing. The store is not asked. */
  unlimited: true;
  /** Every call is denied, whatever its count, until the override ends. The store is not asked. */
  blocked: true;
}

/** The rule that counts beside a limit's config, or in place of it: exactly one of six. */
export type OverrideRule<TPlan extends string = string> = {
  [TKind in keyof OverrideRules<TPlan>]: Pick<OverrideRules<TPlan>, TKind> & {
    [TOther in Exclude<keyof OverrideRules<TPlan>, TKind>]?: undefined;
  };
}[keyof OverrideRules<TPlan>];

/** The key of an override. */
export interface OverrideKeyOptions {
  /**
   * The key of the override, as in other calls; the key is hashed if there is a `hashKey`. An override of
   * a key comes before an override of all keys, and before a call's own `config`. `undefined` is an
   * error.
   * @default left out: all keys of the limit, and its shared bucket
   */
  key?: string;
}

/** The options of `overrides.set`. */
export type SetOverrideOptions<TPlan extends string = string> = OverrideRule<TPlan> &
  OverrideKeyOptions & {
    /**
     * When the override ends, epoch ms on the limiter's clock: finite, and still to come.
     * @default never
     */
    until?: number | undefined;
  };

/** The options of `overrides.clear`. */
export interface ClearOverrideOptions extends OverrideKeyOptions {
  /**
   * The kind of override to end: the option that its `set` had.
   * @default all kinds
   */
  only?: OverrideKind | undefined;
}

/** The kinds of overrides, by the option that says the rule. */
export type OverrideKind = keyof OverrideRules<string>;

/** An override that is in force. */
export type RateLimitOverride<TName extends string = string> = OverrideRule & {
  /** The limit. */
  name: TName;
  /**
   * The key of the limit's rows, hashed where there is a `hashKey`; `undefined` for all keys of the
   * limit.
   */
  key: string | undefined;
  /** When the override ends, epoch ms; `undefined` for never. */
  until: number | undefined;
  /** When the override was set, epoch ms. */
  setAt: number;
};

/**
 * Changes limits at run time, for all processes: bans, exemptions, higher limits. Needs
 * `overrides: true`. Other processes obey within `overridesFor`, and at once where a `channel` tells them
 * of the change. This process obeys before the promise resolves.
 *
 * The precedence: the override of the key, a call's own `config` (or the config that a `config` function
 * returns), the override of all keys, the limit's own config.
 *
 * Every method rejects with a `RateLimitConfigError` for an option that cannot work, with a
 * `RateLimitInputError` for an unknown name and for a key that is not valid, and with a
 * `RateLimitStoreError` when the store fails. It is then unknown whether the change took effect.
 */
export interface RateLimitOverrides<TName extends string = string, TPlan extends string = string> {
  /**
   * Sets an override of a key, or of all keys, in place of the last one of its kind. The others stay, and
   * count again when this one ends: of `plan`, `config` and `times`, the last one that was set counts, and
   * `times` multiplies those before it; `add` adds to them; a `blocked` or `unlimited` lies over all these,
   * the last one of the two. Used tokens stay used. For example, 30 tokens of 100 are used, and the override
   * has a capacity of 200: the key has 170 tokens at once, and 70 if the override ends at once. Several
   * limits are set one after the other; in a transaction, all or none.
   *
   * @example
   * const until = Date.now() + 14 * DAY; // a trial of all limits
   * await limiter.overrides.set(["sendMessage", "pictures"], { key: userId, plan: "pro", until });
   */
  set(name: TName | readonly TName[], options: SetOverrideOptions<TPlan>): Promise<void>;
  /**
   * The override of exactly this key, or of all keys, as the store has it now: of several, the one that lies
   * over the others.
   */
  get(name: TName, options?: OverrideKeyOptions): Promise<RateLimitOverride<TName> | undefined>;
  /** All overrides that are in force, as the store has them now: of one limit, or of all limits. */
  list(name?: TName): Promise<RateLimitOverride<TName>[]>;
  /**
   * Ends the overrides of a key, or of all keys: those of one kind with `only`, or else all of them. Resolves
   * with whether there was one. Overrides of other keys stay. Used tokens stay used, as at the end of an
   * `until`.
   *
   * @example
   * await limiter.overrides.clear("sendMessage", { key: userId, only: "blocked" }); // a raise stays
   */
  clear(name: TName, options?: ClearOverrideOptions): Promise<boolean>;
}
