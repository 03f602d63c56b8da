/** The options and the result of `limiter.usage`. */
import type { Usage } from "../../../core/usage.js";
import type { KeyOptions, LimitConfigs } from "./call-options.js";

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
  /** The end, epoch ms, above `from`. The last span is that of the ms before it. */
  to: number;
  /**
   * The length of an item, ms: a multiple of the limit's `usage.every`. Items are counted from the
   * first span, and the last one may be shorter.
   * @default the limit's `usage.every`
   */
  every?: number | undefined;
}

/** What was counted in one span, or in several that follow each other. */
export interface UsageItem extends Usage {
  /** The start of the first span, epoch ms. */
  start: number;
  /** The end of the last span, epoch ms. */
  end: number;
}

/** The result of `usage`. */
export interface UsageReport {
  /** In order, without gaps: also those in which nothing was counted. */
  items: UsageItem[];
  /** The sum of all items. */
  total: Usage;
}

export type { Usage } from "../../../core/usage.js";
