/** What an observer takes and gives. How it does it is in `observer.ts`. */
import type { RateLimitConfig } from "../core/config.js";
import type { RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { ConnectionState } from "./connection.js";
import type { CheckedRateLimit, RateLimitStatus } from "./prediction.js";
import type { RateLimitItem, RateLimitTransport } from "./transport.js";

/** Where snapshots are kept between visits and shown to devtools. */
export interface SnapshotCache {
  get(item: RateLimitItem): RateLimitSnapshot | undefined;
  set(item: RateLimitItem, snapshot: RateLimitSnapshot): void;
}

export interface RateLimitObserverOptions<TName extends string = string> {
  transport: RateLimitTransport<TName>;
  cache?: SnapshotCache | undefined;
  /** This machine's time, epoch ms. @default Date.now */
  clock?: () => number;
  /**
   * ms since some fixed instant, whatever the system's clock is set to.
   * @default performance.now, or `clock` where that is given
   */
  monotonic?: () => number;
  /** ms between two polls while there is no stream. @default 5000 */
  pollInterval?: number | undefined;
}

/** @typeParam TName the limits' names, as the transport knows them. */
export interface RateLimitObserver<TName extends string = string> {
  /**
   * Follows a limit until the returned function is called. `onChange` is called after the status
   * for `count` or the connection has changed, and while `wantsLeft` says so after `left` has.
   *
   * @throws RateLimitInputError when `count` is negative or not finite.
   */
  observe(
    item: RateLimitItem<TName>,
    count: number,
    onChange: () => void,
    wantsLeft?: () => boolean,
  ): () => void;
  /** The same object until the answer changes; `undefined` while nothing is known. */
  status(item: RateLimitItem<TName>, count: number): RateLimitStatus | undefined;
  /** Whole tokens left, 0 while some are owed; follows refills once a second at most. */
  left(item: RateLimitItem<TName>): number | undefined;
  config(item: RateLimitItem<TName>): RateLimitConfig | undefined;
  /** What a call for `count` tokens at `at` (epoch ms, this machine's clock) would get. */
  check(item: RateLimitItem<TName>, at: number, count: number): CheckedRateLimit | undefined;
  readonly connection: ConnectionState;
  /**
   * Assumes that a call, about to be sent, takes `count` tokens, until the server tells of a later state.
   * Does nothing while nothing is known of the limit.
   *
   * @returns to be called with what became of the call: that it was charged, or that it was not,
   * which gives the tokens back if the server has not spoken since. Called again, it does nothing.
   * @throws RateLimitInputError when `count` is negative or not finite.
   */
  debit(item: RateLimitItem<TName>, count: number): (isCharged?: boolean) => void;
  /**
   * Told that a call is about to be sent: whether a debit stands for it. Each stands for one call,
   * which must not be taken for refused because of what it takes itself.
   */
  send(item: RateLimitItem<TName>): boolean;
  /** Takes a snapshot that came some other way, such as with a mutation's answer. */
  receive(snapshot: RateLimitSnapshot): void;
  /**
   * Takes the facts of a call that was refused, `error.data.rateLimit`: the same call is refused
   * until its `retryAfter` has passed. Asks the server for the whole state.
   *
   * @param count tokens that the call wanted. @default 1
   */
  refused(item: RateLimitItem<TName>, data: RateLimitErrorData, count?: number): void;
  /**
   * Looks at the time, asks the server for everything that is followed, and tries a lost stream
   * again at once. For when a page wakes up: it is visible, in focus or online again.
   *
   * @param item asks for this limit alone, after something has happened to it.
   */
  refresh(item?: RateLimitItem<TName>): void;
  close(): void;
}
