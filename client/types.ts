/** The types that several files of the client share. This file imports nothing of the client. */
import type { ShownConfig } from "../core/config.js";
import type { RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";

/** A limit, and the key that the server is asked for. */
export interface RateLimitItem<TName extends string = string> {
  /** The limit. */
  name: TName;
  /** A key to ask the server for; the server decides whether to answer. @default the visitor's own */
  key?: string | undefined;
}

/** The tokens that a call takes. */
export interface LimitUse extends RateLimitItem {
  /** Tokens. @default 1 */
  count?: number | undefined;
}

/** The limit that the calls of a procedure take from. */
export interface LinkedLimit<TName extends string = string> extends LimitUse {
  name: TName;
  /**
   * Whether the server charges for every call, or only for calls that fail. With `"error"`, the link
   * debits nothing, and makes observers ask the server after a failure.
   * @default "call"
   */
  on?: "call" | "error" | undefined;
}

/**
 * How to treat a call that the server is known to deny.
 *
 * - `"send"`: the call is sent, and the server decides.
 * - `"reject"`: the call fails at once, without a request, with an error for `isRateLimitError`.
 * - `"wait"`: the call is held, and sent when its limit allows it, in order of arrival.
 */
export type WhenLimited = "send" | "reject" | "wait";

/**
 * The predicted answer to a call. `value` is the tokens that would remain, negative when there are not
 * enough. `now` is the server's time at that instant, epoch ms. `resetAt` of `trpc-rate-limit` takes the
 * prediction, and answers in the server's time: `resetAt(checked) - checked.now` is the wait, in ms.
 */
export interface CheckedRateLimit {
  /** The tokens that would remain; negative when there are not enough. */
  value: number;
  /** The instant of `value` on the server's clock, epoch ms; for a fixed window, the start of a window. */
  ts: number;
  /** The config by which it was calculated. */
  config: ShownConfig;
  /**
   * When the call would pass, epoch ms on this machine's clock; `undefined` if it would pass now.
   */
  retryAt: number | undefined;
  /**
   * While a denial has closed the bucket (`blockFor`): when the bucket opens, epoch ms on this machine's
   * clock. After a denial, until the server has told this instant, `value` may be below 0 instead.
   */
  closedUntil?: number | undefined;
  /** The server's time at that instant, epoch ms. */
  now: number;
}

/**
 * Whether a call would pass. `retryAt` is epoch ms on this machine's clock: the first ms at which
 * the call would pass if no other call took tokens; `Infinity` for a count that never could.
 */
export type RateLimitStatus =
  | { readonly ok: true; readonly retryAt: undefined }
  | { readonly ok: false; readonly retryAt: number };

/**
 * How an observer learns of changes. In each mode, the observer asks once for each limit when that limit
 * is first followed, and again when the page wakes up.
 *
 * - `"stream"`: one subscription for the whole page. Without a subscription, the observer polls.
 * - `"poll"`: asks every `pollInterval` and after each call, and never opens a subscription.
 * - `"off"`: asks after each call, and predicts otherwise. There is no interval. For hosts that charge
 *   for open connections and for every request.
 */
export type LiveMode = "stream" | "poll" | "off";

/**
 * - `"live"`: changes arrive as they happen;
 * - `"polling"`: there is no stream, so the observer asks, as {@link LiveMode} says;
 * - `"offline"`: the server does not answer at all.
 */
export type ConnectionState = "live" | "polling" | "offline";

/** The functions that a stream of a transport calls. */
export interface WatchHandlers {
  /** Called for every item when the stream is up, and then whenever an item changes. */
  onSnapshot(snapshot: RateLimitSnapshot): void;
  /** The stream is down and reconnects by itself. */
  onLost(): void;
  /** The stream has ended. The caller has to open another one. */
  onEnded(): void;
}

/** How an observer reaches the server. `createTRPCTransport` makes one of a tRPC client. */
export interface RateLimitTransport<TName extends string = string> {
  /** Reads one limit. Rejects with the server's error. */
  status(item: RateLimitItem<TName>): Promise<RateLimitSnapshot>;
  /** Opens one stream for all the items; returns a function that closes it. */
  watch(items: readonly RateLimitItem<TName>[], handlers: WatchHandlers): () => void;
  /** Where the router stands. `shareStream` shares the streams of one path only. @default none */
  readonly path?: string | undefined;
  /** The observers of this client. A `rateLimitLink` of the same client reads and notifies them. */
  readonly observers?: Set<RateLimitObserver>;
}

/** Keeps snapshots between visits and shows them to devtools. */
export interface SnapshotCache {
  /** The snapshot that is kept; `undefined` if there is none. */
  get(item: RateLimitItem): RateLimitSnapshot | undefined;
  /** Keeps a snapshot in place of the last one. */
  set(item: RateLimitItem, snapshot: RateLimitSnapshot): void;
  /**
   * When the snapshot was received, epoch ms on this machine's clock. Until the server answers, the age
   * of the snapshot says how long a denial in it still lasts. @default when the observer reads it
   */
  updatedAt?(item: RateLimitItem): number | undefined;
  /**
   * Whether the snapshot is so young that the server need not be asked when the limit is first
   * followed, such as one that came with the page. @default never
   */
  isFresh?(item: RateLimitItem): boolean | undefined;
}

/** The options of `createRateLimitObserver`. */
export interface RateLimitObserverOptions<TName extends string = string> {
  /** How the server is reached. */
  transport: RateLimitTransport<TName>;
  /** Keeps snapshots for later observers. @default none */
  cache?: SnapshotCache | undefined;
  /** This machine's time, epoch ms. @default Date.now */
  clock?: () => number;
  /**
   * ms since some fixed instant, whatever the system's clock is set to.
   * @default performance.now, or `clock` where that is given
   */
  monotonic?: () => number;
  /** How the observer learns of changes, see {@link LiveMode}. @default "stream" */
  live?: LiveMode | undefined;
  /** ms between two polls while there is no stream; more than 0. @default 5000 */
  pollInterval?: number | undefined;
}

/** One limit in an {@link ObserverInspection}. The observer's methods tell the rest. */
export interface InspectedLimit {
  /** The limit. */
  item: RateLimitItem;
  /** The last snapshot of the server, before the debits; `undefined` while there is none. */
  snapshot: RateLimitSnapshot | undefined;
  /** How many debits the snapshot does not include yet. */
  debits: number;
  /** The counts that are followed, one for each call of `observe` that has not ended. */
  counts: number[];
}

/** The state of an observer at one instant, as plain data, for developers. */
export interface ObserverInspection {
  /** This machine's time, epoch ms. */
  now: number;
  /** The server's time minus this machine's, whole ms; `NaN` while nothing is known. */
  offset: number;
  /** How far `offset` may be off, ms; `Infinity` where it is only a lower bound. */
  uncertainty: number;
  /** How long the last answered question took, ms; `NaN` before the first answer. */
  lastRoundTrip: number;
  /** How many snapshots the stream has brought. */
  streamed: number;
  /** How many snapshots the server has sent as answers to questions. */
  answered: number;
  /** The limits that are followed, in no particular order. */
  limits: InspectedLimit[];
}

/**
 * Follows limits, and predicts what the server would answer. See `createRateLimitObserver`.
 *
 * @typeParam TName the limits' names, as the transport knows them.
 */
export interface RateLimitObserver<TName extends string = string> {
  /**
   * Follows a limit until the returned function is called. `onChange` is called after the status
   * for `count`, the error or the connection has changed. While `wantsRemaining` returns true, `onChange`
   * is also called after `remaining` has changed.
   *
   * @throws RateLimitInputError when `count` is negative or not finite.
   */
  observe(
    item: RateLimitItem<TName>,
    count: number,
    onChange: () => void,
    wantsRemaining?: () => boolean,
  ): () => void;
  /** The same object until the answer changes; `undefined` while nothing is known. */
  status(item: RateLimitItem<TName>, count: number): RateLimitStatus | undefined;
  /** Whole tokens that remain, 0 while the limit is in debt; follows refills once a second at most. */
  remaining(item: RateLimitItem<TName>): number | undefined;
  /** The config of the limit; `undefined` while nothing is known. */
  config(item: RateLimitItem<TName>): ShownConfig | undefined;
  /**
   * Tokens that calls hold and have not settled yet, beside those that remain; `undefined` while nothing
   * is known, and for a limit without holds.
   */
  held(item: RateLimitItem<TName>): number | undefined;
  /**
   * Why the server refuses to tell about the limit, such as for want of a right to its key. Such a limit
   * is not polled. `refresh` asks the server again, and so does a change of the observed limits.
   */
  error(item: RateLimitItem<TName>): Error | undefined;
  /** Predicts the answer to a call for `count` tokens at `at` (epoch ms, this machine's clock). */
  check(item: RateLimitItem<TName>, at: number, count: number): CheckedRateLimit | undefined;
  /** How changes arrive from the server. */
  readonly connection: ConnectionState;
  /**
   * Assumes that a call which is about to be sent takes `count` tokens. The debit stands until
   * the server reports a state in which these tokens are gone, or any state that was read 1.5 s later.
   * Does nothing while nothing is known of the limit.
   *
   * @returns a function that settles the debit. `true` says that the call was charged. `false`
   * gives the tokens back, unless such a state was reported. A second call does nothing.
   * @throws RateLimitInputError when `count` is negative or not finite.
   */
  debit(item: RateLimitItem<TName>, count: number): (isCharged?: boolean) => void;
  /**
   * Claims a debit for a call that is about to be sent. Returns whether there was one. Each debit
   * stands for one call, and that call must not be denied because of its own debit.
   */
  claimDebit(item: RateLimitItem<TName>): boolean;
  /**
   * The state of the observer now, for developers: see `trpc-rate-limit/devtools`. `inspect` changes
   * nothing and notifies of nothing, so call it again to see changes.
   */
  inspect(): ObserverInspection;
  /**
   * Called where a hook of `trpc-rate-limit/react` keeps a call from being sent. The devtools set it, and
   * nothing else does.
   *
   * @param kept the denial that was predicted for a call; or how many calls the hook holds now.
   * @param about the tokens of the denied call; or what tells the hook apart from others.
   */
  onKept?(item: RateLimitItem, kept: RateLimitErrorData | number, about: unknown): void;
  /**
   * Takes a snapshot that came some other way, such as with a mutation's answer. If the snapshot is older
   * than the known one, asks the server instead.
   */
  receive(snapshot: RateLimitSnapshot): void;
  /**
   * Takes the facts of a denied call, `error.data.rateLimit`: the same call is denied until its
   * `retryAfter` has passed. If several limits denied the call, takes the facts of each limit. Asks the
   * server for the whole state.
   *
   * @param item the limit of the call whose key is known.
   * @param count tokens that the call wanted of this limit. @default 1
   */
  recordDenial(item: RateLimitItem<TName>, data: RateLimitErrorData, count?: number): void;
  /**
   * Reads the clock, asks the server for everything that is followed, and reopens a lost stream at
   * once. Call it when a page wakes up: when the page is visible, in focus or online again.
   *
   * @param item asks for this limit alone, after something has happened to the limit.
   */
  refresh(item?: RateLimitItem<TName>): void;
  /** Ends the stream, the polls and the timers. */
  close(): void;
}
