/** Pages of the keys of a limit. */
import type { RateLimitConfig } from "../../../core/limit-config.js";
import type { NameWith, OwnConfig } from "./call.js";
import { namesOf } from "./known-options.js";
import type { LimitConfigs } from "./names.js";
import type { RateLimitOverride } from "./override-types.js";
import type { LimitValue } from "./read.js";

/** The options of `list`. */
export interface ListOptions {
  /** The limit's config, if the limiter does not know the limit, or in place of the limit's own config. */
  config?: RateLimitConfig | undefined;
  /**
   * The plan by which the items are shown, of a limit with plans.
   * @default the plan of each key, where the limiter's `plan` function says it and keys are not hashed;
   * else the largest plan
   */
  plan?: string | undefined;
  /** The `next` of the page before. @default the first page */
  after?: string | undefined;
  /** Items per page: whole, 1 to 1,000. @default 100 */
  count?: number | undefined;
  /**
   * Only the keys that are limited now: a call for one token would be denied, because the bucket has no
   * whole token or an override blocks the key. A page looks at some 20,000 rows at most. So a page may
   * have fewer items than `count`, or none, and still have a `next`. Blocked keys come first.
   * @default false: all keys that have rows
   */
  denied?: boolean | undefined;
}

/** One page of `list`. */
export interface LimitPage {
  /** One item per key that has rows, in the order of the store. */
  items: LimitItem[];
  /**
   * The `after` of the next page; `undefined` on the last one. The cursor is printable ASCII. The cursor
   * names the last key, so send it only to a browser that may see the items.
   */
  next: string | undefined;
}

/** The bucket of one key, as `list` shows it: the answer of `getValue`, and the key. */
export interface LimitItem extends LimitValue {
  /** The key of the rows, hashed where there is a `hashKey`; `undefined` for the shared bucket. */
  key: string | undefined;
  /** The limiter's clock when the state was read, epoch ms. */
  now: number;
  /** With `denied`: whole ms until a call for one token would pass; 8e15 for never. */
  retryAfter?: number;
  /** The plan by which the item is shown; absent where the plan is not known. */
  plan?: string;
  /**
   * The override of this key that is in force; absent where no override is in force, and for a limiter
   * without `overrides`.
   */
  override?: RateLimitOverride;
}

/** `list`. */
export interface ListMethods<TLimits extends LimitConfigs> {
  /**
   * A page of the buckets of a limit, for an administrator's view. Every key whose rows exist from the
   * first page to the last is listed exactly once. Full rows are listed until they are pruned. Each round
   * trip is bounded by `timeout`. Rejects with a `RateLimitInputError` for an `after` that is no `next`
   * of this method.
   *
   * @example
   * const { items, next } = await limiter.list("sendMessage");
   * for (const { key, value } of items) console.log(key, value);
   */
  list<const TConfig = undefined>(
    name: NameWith<keyof TLimits & string, TConfig>,
    options?: ListOptions & OwnConfig<TConfig>,
  ): Promise<LimitPage>;
}

export const LIST_OPTIONS = namesOf<ListOptions>({
  plan: true,
  config: true,
  after: true,
  count: true,
  denied: true,
});
