/** The options and the result of `limiter.usage`. */
import type { NameWith, OwnConfig } from "./call.js";
import type { Usage } from "../../../core/usage.js";
import type { KeyOptions } from "./call.js";
import type { LimitConfigs } from "./names.js";

/** The names of the limits that count their usage. */
export type UsageName<TLimits> = keyof {
  [
    TName in keyof TLimits & string as LimitConfigs[string] extends TLimits[TName]
      ? TName
      : TLimits[TName] extends { usage: true | object }
        ? TName
        : never
  ]: unknown;
};

/** The options of `usage`. */
export interface UsageOptions extends KeyOptions {
  /**
   * The user, team or address whose usage is asked for.
   * @default left out: all keys together, and the calls without a key
   */
  key?: string;
  /** An instant of the first span, epoch ms. */
  from: number;
  /** The end, epoch ms, above `from`. The last span is the span that has the ms before `to`. */
  to: number;
  /**
   * The length of an item, ms: a multiple of the limit's `usage.every`. Items are counted from the
   * first span, and the last one may be shorter.
   * @default the limit's `usage.every`
   */
  every?: number | undefined;
}

/** The usage of one span, or of several spans that follow each other. */
export interface UsageItem extends Usage {
  /** The start of the first span, epoch ms. */
  start: number;
  /** The end of the last span, epoch ms. */
  end: number;
}

/** The result of `usage`. */
export interface UsageReport {
  /** In order, without gaps: also items in which nothing was counted. */
  items: UsageItem[];
  /** The sum of all items. */
  total: Usage;
}

export type { Usage } from "../../../core/usage.js";

/** `usage` and `flushUsage`. */
export interface UsageMethods<TLimits extends LimitConfigs> {
  /**
   * The usage of a limit with `usage`: calls granted and denied, tokens taken and given back, of a key or
   * of all keys together, from the span of `from` to the span of the ms before `to`. Usage that this
   * process has counted is written first. Usage that other processes have counted is there at most
   * `flushUsage` later. Reads some 2,000 rows per round trip. Rejects with a `RateLimitConfigError` for a
   * limit without `usage`, and for more than 10,000 spans.
   *
   * @example
   * const from = Date.now() - 30 * DAY;
   * const { total } = await limiter.usage("llmTokens", { key: userId, from, to: Date.now() });
   */
  usage<const TConfig = undefined>(
    name: NameWith<UsageName<TLimits>, TConfig>,
    options: UsageOptions & OwnConfig<TConfig>,
  ): Promise<UsageReport>;

  /**
   * Writes the usage that this process has counted. Call `flushUsage` before a process ends by a signal.
   * A process that ends because it has nothing left to do flushes by itself. Rejects with a
   * `RateLimitStoreError` if the store fails. Usage that was not written is kept, and written with the
   * next flush. Usage that was written, but whose answer was lost, then counts twice.
   *
   * @example
   * process.once("SIGTERM", async () => {
   *   await limiter.flushUsage();
   *   process.exit();
   * });
   */
  flushUsage(): Promise<void>;
}
