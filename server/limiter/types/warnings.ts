/** Warnings that so much of a limit is used (`warnAt`). */
import type { KeyOptions } from "./call.js";
import type { LimitConfigs, TokensName } from "./names.js";

/** A key has crossed a level of a limit with `warnAt`. Plain JSON, the same each time that it is told. */
export interface RateLimitWarning<TName extends string = string> {
  /**
   * The same each time that this warning is told, and different from that of every other warning. For
   * services that refuse to send a mail twice.
   */
  id: string;
  /** The limit. */
  name: TName;
  /** The key, as it is stored: hashed where there is a `hashKey`. `undefined` for the shared bucket. */
  key: string | undefined;
  /** The level of `warnAt` that was crossed, such as 0.8. */
  level: number;
  /** The tokens that were used after the call. More than `of` where tokens were reserved or charged. */
  used: number;
  /** The capacity of the limit, or of the key's plan, then. */
  of: number;
  /** When the call was made, epoch ms by the clock of the limiter. */
  at: number;
}

/**
 * Is told of warnings. A warning counts as told once all listeners of a process have returned, or once the
 * promises that they returned have resolved.
 */
export type WarningListener<TName extends string = string> = (
  warning: RateLimitWarning<TName>,
) => unknown;

/** `onWarning` and `warnings`. */
export interface WarningMethods<TLimits extends LimitConfigs = LimitConfigs> {
  /**
   * Calls `listener` for each level that a key crosses, of all limits with `warnAt`. Returns a function
   * that ends the calls.
   *
   * A level is crossed once, whatever process makes the calls. Its warning is told by one of the processes
   * that listen, and told again after a minute if that process was killed or a listener has failed, until
   * it was told; each time with the same `id`. So a listener may get a warning twice, and a listener that
   * takes longer than a minute does. Crossings of this process are told at once, those of other processes
   * within 15 seconds; in a transaction, after the commit. A warning that nobody has listened to for 30
   * days is dropped.
   *
   * On Cloudflare Workers, give the limiter a `waitUntil`. Warnings that were not told are then told again
   * by the turns of `autoPrune`, and by `prune()`.
   *
   * @example
   * limiter.onWarning(async ({ id, key, name, level }) => {
   *   await fetch("https://example.com/warnings", {
   *     method: "POST",
   *     headers: { "idempotency-key": id },
   *     body: JSON.stringify({ key, text: `${level * 100} % of ${name} is used` }),
   *   });
   * });
   */
  onWarning(listener: WarningListener<TokensName<TLimits>>): () => void;

  /**
   * The warnings of a limit that were not told yet, the oldest first, at most 1,000; of one key, if there
   * is a `key`.
   *
   * @throws RateLimitConfigError for a limit without `warnAt`.
   *
   * @example
   * const waiting = await limiter.warnings("sendMessage");
   */
  warnings<TName extends TokensName<TLimits>>(
    name: TName,
    options?: KeyOptions,
  ): Promise<RateLimitWarning<TName>[]>;
}
