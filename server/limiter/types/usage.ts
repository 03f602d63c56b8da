/** The options and the result of `limiter.usage`. */
import type { GivenKey, KnownKey, NameWith, OwnConfig } from "./call.js";
import type { Usage } from "../../../core/usage.js";
import type { KeyOptions } from "./call.js";
import type { LimitConfigs } from "./names.js";
import type { UsageChangePage, UsageChangesName, UsageChangesOptions } from "./usage-changes.js";

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

/** The options of `usage`: of whom, and of which time. */
export type UsageOptions = UsageOfKey & (UsageSpan | UsageMonth);

/** Of whom `usage` sums up. */
export interface UsageOfKey extends KeyOptions {
  /**
   * The user, team or address whose usage is asked for.
   * @default left out: all keys together, and the calls without a key
   */
  key?: string;
}

/** Usage from one instant to another. */
export interface UsageSpan {
  /** The start of the first span, epoch ms: a multiple of the limit's `usage.every`. */
  from: number;
  /** The end of the last span, epoch ms, above `from`: a multiple of the limit's `usage.every`. */
  to: number;
  /** Only in place of `from` and `to`. */
  month?: undefined;
  /** Only with `month`. */
  timeZone?: undefined;
  /**
   * The length of an item, ms: a multiple of the limit's `usage.every`. Items are counted from the
   * first span, and the last one may be shorter.
   * @default the limit's `usage.every`
   */
  every?: number | undefined;
}

/** The usage of a month of the calendar. */
export interface UsageMonth {
  /** The month, such as `"2030-04"`. */
  month: string;
  /**
   * The time zone of the month: an IANA name, such as `"Europe/Berlin"`. The month, and each of its days
   * with `every: "day"`, must begin where a span of the limit's `usage.every` begins: in Kolkata, which is
   * 5½ hours ahead, with 30 minutes and not with an hour.
   * @default "UTC"
   */
  timeZone?: string | undefined;
  /** The month has its own start. */
  from?: undefined;
  /** The month has its own end. */
  to?: undefined;
  /**
   * The length of an item: `"day"` for the days of the time zone, which may have 23 or 25 hours, or ms, a
   * multiple of the limit's `usage.every`.
   * @default the limit's `usage.every`
   */
  every?: number | "day" | undefined;
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

/** The options of `topUsage`. */
export interface TopUsageOptions extends Pick<UsageSpan, "from" | "to"> {
  /** What the keys are sorted by: calls that were denied, or tokens that were taken. */
  by: "denied" | "taken";
  /** The most keys of the answer, from 1 to 1,000. @default 20 */
  count?: number | undefined;
}

/** What one key has used of a limit. */
export interface TopUsageItem extends Usage {
  /**
   * The key, as it is stored: hashed where there is a `hashKey`. Absent for the calls without a key, with
   * what keys have used that `forget` has deleted.
   */
  key?: string | undefined;
}

/** The result of `topUsage`. */
export interface TopUsage {
  /** The keys with the most, the most first. A key with nothing of `by` is left out. */
  items: TopUsageItem[];
  /** The sum of all keys, and of the calls without a key. */
  total: Usage;
}

export type { Usage } from "../../../core/usage.js";

/** `usage`, `topUsage`, `usageChanges` and `flushUsage`. */
export interface UsageMethods<TLimits extends LimitConfigs> {
  /**
   * The usage of a limit with `usage`: calls granted and denied, tokens taken and given back, of a key or
   * of all keys together, in a month, or from `from` to `to`. Usage that this process has counted is
   * written first. Usage that other processes have summed up is there at most `flushUsage` later. Reads
   * some 2,000 rows per round trip. Rejects with a `RateLimitConfigError` for a limit without `usage`, for
   * bounds within a span of the limit's `usage.every`, and for more than 50,000 spans.
   *
   * @example
   * const april = { month: "2030-04", timeZone: "Europe/Berlin" };
   * const { total } = await limiter.usage("llmTokens", { key: userId, ...april });
   */
  usage<const TConfig = undefined, TKey = string>(
    name: NameWith<UsageName<TLimits>, TConfig>,
    ...[options]: KnownKey<TKey, [options: UsageOptions & OwnConfig<TConfig> & GivenKey<TKey>]>
  ): Promise<UsageReport>;

  /**
   * The keys that have used the most of a limit with `usage` from `from` to `to`. Usage that this process
   * has counted is written first. Reads all counters of the limit: on a SQL database by one scan,
   * of seconds for some three million rows, and on Redis by a walk over all keys of the server. Fails with a
   * `RateLimitStoreError` after 20 seconds, or after the limiter's `timeout` where that is longer. Rejects
   * with a `RateLimitConfigError` for a limit without `usage`, and for bounds within a span of the limit's
   * `usage.every`.
   *
   * @example
   * const lastDay = { from: Date.UTC(2030, 3, 1), to: Date.UTC(2030, 3, 2) };
   * const { items } = await limiter.topUsage("llmTokens", { ...lastDay, by: "denied", count: 10 });
   * for (const { key, denied } of items) console.log(key, denied);
   */
  topUsage(name: UsageName<TLimits>, options: TopUsageOptions): Promise<TopUsage>;

  /**
   * The spans in which keys have used something, for limits with `usage: { changes: true }`, in pages: each
   * span once it is over and nothing is added to it any more, with its totals and an `id` that is the same
   * each time. So an export that is repeated from an older cursor sends a meter nothing twice. Calls without
   * a key are left out. Rejects with a `RateLimitConfigError` where no limit tells its spans, and for a
   * cursor that is older than `usage.keep`.
   *
   * @example
   * const { items, next } = await limiter.usageChanges({ since: Date.UTC(2030, 3) });
   * for (const { id, key, taken, givenBack } of items) console.log(id, key, taken - givenBack);
   */
  usageChanges(options?: UsageChangesOptions): Promise<UsageChangePage<UsageChangesName<TLimits>>>;

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
