/** The tokens that are left of limits, and by which config. */
import type { RateLimitState } from "../../../core/calculate.js";
import type { ShownConfig } from "../../../core/config.js";
import type { RateLimitSnapshot } from "../../../core/snapshot.js";
import type {
  CallArgs,
  KeyOptions,
  GivenKey,
  KnownKey,
  NameWith,
  OwnConfig,
  PlanOfItem,
  PlanOptions,
} from "./call.js";
import type { LimitConfigs } from "./names.js";
import type { PlanBy, PlanName, PlannedName } from "./plan-types.js";

/** The options of `getValue`. */
export interface ValueOptions extends Omit<KeyOptions, "config"> {
  /**
   * The limit's config for this call only; see `config` of `limit`. The type of the config is in the
   * signature of `getValue`: with the type here, the compiler would infer nothing from the argument.
   */
  config?: unknown;
}

/** The result of `getValue`. */
export type LimitValue = RateLimitState & {
  /** The config by which the tokens are calculated. */
  config: ShownConfig;
  /**
   * Tokens that are held and not yet settled, of a limit with holds. Held tokens are not in `value`. The
   * tokens of a lapsed hold count as held until a call needs them, or `prune` finds the hold.
   */
  held?: number;
};

/** A limit whose state is asked for: an item of a limit with plans says its plan. */
export type ShownItemOf<TLimits, TName extends string, TBy extends PlanBy> = TName extends unknown
  ? KeyOptions & { name: TName } & (TName extends PlannedName<TLimits>
        ? PlanOfItem<PlanName<TLimits>, TBy>
        : unknown)
  : never;

/** `getValue`. */
export interface ValueMethods<TLimits extends LimitConfigs, TBy extends PlanBy> {
  /**
   * The tokens held now, summed over all shards: `value` at `ts`, the present instant or the start
   * of the present window. `config` has `start` filled in, so the three belong together.
   *
   * @example
   * const { value, config } = await limiter.getValue("sendMessage", { key: userId });
   * console.log(`${Math.floor(value)} of ${config.capacity ?? config.rate} left`);
   */
  getValue<
    TName extends NameWith<keyof TLimits & string, TConfig>,
    const TConfig = undefined,
    TKey = string,
  >(
    name: TName,
    ...[options]: CallArgs<TLimits, TName, TConfig, TKey, TBy, ValueOptions>
  ): Promise<LimitValue>;
}

/** `snapshots` and `configOf`. */
export interface SnapshotMethods<TLimits extends LimitConfigs, TBy extends PlanBy> {
  /**
   * The config by which a call with this key is decided, with `start` filled in. Reads no row.
   * Throws where the call would reject.
   *
   * @example
   * const { rate, period } = limiter.configOf("sendMessage", { key: userId });
   */
  configOf<const TConfig = undefined, TKey = string>(
    name: NameWith<keyof TLimits & string, TConfig>,
    ...[options]: KnownKey<
      TKey,
      [options?: KeyOptions & PlanOptions & OwnConfig<TConfig> & GivenKey<TKey>]
    >
  ): ShownConfig;

  /**
   * The states of several limits in one round trip, for clients to calculate with. `value` and `used` are
   * those of the row's own instant, `ts`. So a client predicts exactly what the server decides.
   *
   * @example
   * const [snapshot] = await limiter.snapshots([{ name: "sendMessage", key: userId }]);
   */
  snapshots<TName extends keyof TLimits & string, TKey = string>(
    ...[items]: KnownKey<
      TKey,
      [items: readonly (ShownItemOf<TLimits, TName, TBy> & GivenKey<TKey>)[]]
    >
  ): Promise<RateLimitSnapshot<TName>[]>;
}
