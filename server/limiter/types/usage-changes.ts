/** The options and the result of `limiter.usageChanges`. */
import type { Usage } from "../../../core/usage.js";
import type { LimitConfigs } from "./names.js";

/** The names of the limits whose spans `usageChanges` tells. */
export type UsageChangesName<TLimits> = keyof {
  [
    TName in keyof TLimits & string as LimitConfigs[string] extends TLimits[TName]
      ? TName
      : TLimits[TName] extends { usage: { changes: true } }
        ? TName
        : never
  ]: unknown;
};

/** The options of `usageChanges`. */
export interface UsageChangesOptions {
  /**
   * The `next` of an earlier page, or an instant, epoch ms: spans that begin then or later.
   * @default all spans that are kept
   */
  since?: string | number | undefined;
  /** The most spans of a page, from 1 to 1,000. @default 100 */
  limit?: number | undefined;
  /**
   * How long after its end a span is told, by the clock of the store, ms: at least 2 minutes, and longer
   * than a transaction that counts usage may be open. What a transaction commits later is never told.
   * @default 2 minutes
   */
  delay?: number | undefined;
}

/** What a key has used of a limit in one span, to which nothing is added any more. */
export interface UsageChange<TName extends string = string> extends Usage {
  /** The same each time the span is told: of the limit, the key and the start of the span. */
  id: string;
  /** The limit. */
  name: TName;
  /** The key, as it is stored: hashed where there is a `hashKey`. */
  key: string;
  /** The start of the span, epoch ms. */
  start: number;
  /** The end of the span, epoch ms. */
  end: number;
}

/** A page of spans. */
export interface UsageChangePage<TName extends string = string> {
  /** In the order of time for each limit. */
  items: UsageChange<TName>[];
  /** The `since` of the next page, now or later. Keep it once the items are exported. */
  next: string;
  /** Whether more spans can be told now. */
  hasMore: boolean;
}
