/** The options and the result of `limitFirst`. */
import type { RateLimitResult } from "../../../core/decide.js";
import type { HoldingOptions, KeyOptions } from "./call-options.js";

/** One of the limits that may pay for a call of `limitFirst`. */
export interface LimitFirstItem extends KeyOptions {
  /** The limit. */
  name: string;
  /**
   * Tokens that the call costs here, where limits count in different units: finite and at least 0.
   * Not with `split`.
   * @default the `count` of the call
   */
  count?: number;
}

/**
 * The options of `limitFirst`. The id of `once` is charged once for all of the limits. With `hold`, all
 * of them need holds: `settle(names, { key, once }, actual)` ends those that paid.
 */
export interface LimitFirstOptions extends HoldingOptions {
  /** The key of the items that have none of their own; see `KeyOptions`. */
  key?: string;
  /** Tokens that the call costs: finite and at least 0, fractions included. @default 1 */
  count?: number;
  /**
   * Each limit gives what it has, in order, until the call has its tokens: all of them, or none is
   * taken. Of a whole `count`, each gives whole tokens.
   * @default false: one limit pays for the whole call
   */
  split?: boolean | undefined;
  /** Throw a `RateLimitError` exactly when the result would not be `ok`. @default false */
  throws?: boolean | undefined;
}

/** What one limit paid for a call. */
export interface PaidCount<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** The key of the bucket; absent for the bucket that all callers share. */
  key?: string;
  /** Tokens that it gave. */
  count: number;
}

/**
 * - `ok: true`: `paid` says which limits gave how many tokens, in order. `results` has one result for
 *   each limit that was asked, in order: those that did not pay are not `ok`. Limits after the last
 *   one that paid are not asked. If the store failed and a limit lets calls through then
 *   (`whenStoreFails: "allow"`), nothing was paid. Nor was it if the id of the call was charged before
 *   (`repeated`); `results` then has the first answers of the limits that paid.
 * - `ok: false`: nothing was taken. The same call passes after `retryAfter` whole ms, and never if
 *   that is 8e15 (`MAX_RETRY_AFTER`). `name` is the limit with the shortest wait. `results` has one
 *   result for each limit, with the wait that it alone would need.
 */
export type LimitFirstResult<TName extends string = string> =
  | { ok: true; paid: PaidCount<TName>[]; results: RateLimitResult[]; repeated?: true }
  | { ok: false; retryAfter: number; name: TName; results: RateLimitResult[] };

/** The options of `credit`. */
export interface CreditOptions {
  /** Whose balance; see `KeyOptions`. */
  key?: string;
  /** Credits to add: finite and at least 0. Whole numbers add up exactly. */
  count: number;
  /**
   * Adds the credits once, however often the call is repeated with the same id within `onceFor`: the
   * id of a payment, as a webhook sends it. The id and the key have at most 190 characters together.
   * @default none: each call adds its credits
   */
  once?: string | undefined;
}

/** The result of `credit`. */
export interface CreditResult {
  /** The balance, with the credits. */
  value: number;
  /**
   * The credits that this call has added: fewer than `count` where the balance has reached its
   * `capacity`, and 0 where its id was there before.
   */
  credited: number;
  /** The id of the call was there before: `value` is the balance that the first call got. */
  repeated?: true;
}

/** `unknown` for the config of credits. Any other one does not compile. */
export type OfCredits<TConfig> = "kind" extends keyof TConfig
  ? "credits" extends TConfig["kind"]
    ? unknown
    : NotCredits
  : unknown;

/** The name is here for the compiler's message. */
export interface NotCredits {
  /** What `credit` needs of a limit. */
  kind: "credits";
}
