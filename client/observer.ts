/**
 * The live mirror, without a framework: holds the last snapshot of each limit that is looked at,
 * predicts from it with the server's own arithmetic, and tells when an answer changes. One stream
 * and one timer serve everyone.
 */
import type { RateLimitConfig } from "../core/config.js";
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { type ConnectionState, createConnection } from "./connection.js";
import { type CheckedRateLimit, predict, predictLeft, predictRefill } from "./prediction.js";
import { createServerClock } from "./server-clock.js";
import type { RateLimitItem, RateLimitTransport } from "./transport.js";

/**
 * Whether a call would pass. `retryAt` is epoch ms on this machine's clock: the very ms at which it
 * would, with nobody else consuming; `Infinity` for a count that never could.
 */
export type RateLimitStatus =
  | { readonly ok: true; readonly retryAt: undefined }
  | { readonly ok: false; readonly retryAt: number };

/** Where snapshots are kept between visits and shown to devtools. */
export interface SnapshotCache {
  get(item: RateLimitItem): RateLimitSnapshot | undefined;
  set(item: RateLimitItem, snapshot: RateLimitSnapshot): void;
}

export interface RateLimitObserverOptions {
  transport: RateLimitTransport;
  cache?: SnapshotCache | undefined;
  /** This machine's time, epoch ms. @default Date.now */
  clock?: () => number;
  /** ms between two polls while there is no stream. @default 5000 */
  pollInterval?: number;
}

export interface RateLimitObserver {
  /**
   * Follows a limit until the returned function is called. `onChange` is called after the status
   * for `count` or the connection has changed, and while `wantsLeft` says so after `left` has.
   *
   * @throws RateLimitInputError when `count` is negative or not finite.
   */
  observe(
    item: RateLimitItem,
    count: number,
    onChange: () => void,
    wantsLeft?: () => boolean,
  ): () => void;
  /** The same object until the answer changes; `undefined` while nothing is known. */
  status(item: RateLimitItem, count: number): RateLimitStatus | undefined;
  /** Whole tokens left, 0 while some are owed; follows refills once a second at most. */
  left(item: RateLimitItem): number | undefined;
  config(item: RateLimitItem): RateLimitConfig | undefined;
  /** What a call for `count` tokens at `at` (epoch ms, this machine's clock) would get. */
  check(item: RateLimitItem, at: number, count: number): CheckedRateLimit | undefined;
  readonly connection: ConnectionState;
  /** Takes a snapshot that came some other way, such as with a mutation's answer. */
  receive(snapshot: RateLimitSnapshot): void;
  /** Asks the server for everything that is followed. */
  refresh(): void;
  close(): void;
}

interface Entry {
  item: RateLimitItem;
  snapshot: RateLimitSnapshot | undefined;
  /** When, locally, `snapshot` arrived. */
  receivedAt: number;
  /** By each count that was asked for; an unchanged answer stays the same object. */
  statuses: Map<number, RateLimitStatus | undefined>;
  left: number | undefined;
  /** When, locally, `left` last changed. */
  leftSince: number;
  /** Whether somebody shows `left`, so that it must not change without a word. */
  leftShown: boolean;
  watchers: Set<Watcher>;
}

interface Watcher {
  count: number;
  onChange(): void;
  wantsLeft(): boolean;
}

const OK: RateLimitStatus = { ok: true, retryAt: undefined };
/** The longest time that a timer takes; longer ones would fire at once. */
const MAX_TIMEOUT = 2 ** 31 - 1;
/** How often a refill is shown at most, ms: some limits gain hundreds of tokens a second. */
const LEFT_INTERVAL = 1000;

export function createRateLimitObserver(options: RateLimitObserverOptions): RateLimitObserver {
  const { transport, cache, clock = () => Date.now(), pollInterval = 5000 } = options;
  const entries = new Map<string, Entry>();
  const serverClock = createServerClock();
  let connectionState: ConnectionState = "polling";
  let timer: ReturnType<typeof setTimeout> | undefined;
  let followed = "";
  let syncing = false;

  const connection = createConnection({
    transport,
    clock,
    pollInterval,
    onSnapshot: receive,
    onAnswer(snapshot, sentAt, receivedAt, pushed) {
      const known = entries.get(idOf(snapshot))?.snapshot;
      // Within one ms of the server, the stream has the last word: it tells of every change.
      const overtaken = pushed && known !== undefined && known.now >= snapshot.now;
      const moved = serverClock.roundTrip(sentAt, receivedAt, snapshot.now);
      if (!overtaken) accept(snapshot, receivedAt);
      if (moved) update(entries.values());
    },
    onState(state) {
      if (state === connectionState) return;
      connectionState = state;
      for (const entry of entries.values()) notify(entry, () => true);
    },
  });

  function receive(snapshot: RateLimitSnapshot): void {
    const receivedAt = clock();
    const moved = serverClock.push(receivedAt, snapshot.now);
    accept(snapshot, receivedAt);
    if (moved) update(entries.values());
  }

  function accept(snapshot: RateLimitSnapshot, receivedAt: number): void {
    const entry = entries.get(idOf(snapshot));
    if (entry === undefined) return;
    const known = entry.snapshot?.config;
    // An equal config stays the same object, so that nothing renders for its sake.
    const config = known && sameConfig(known, snapshot.config) ? known : snapshot.config;
    entry.snapshot = { ...snapshot, config };
    entry.receivedAt = receivedAt;
    cache?.set(entry.item, entry.snapshot);
    update([entry]);
  }

  /**
   * Looks anew at these limits, tells those whose answer changed, and sets the timer.
   *
   * @param paced whether time has only passed: then refills keep to their pace.
   */
  function update(some: Iterable<Entry>, paced = false): void {
    for (const entry of some) {
      const changed = new Set<number>();
      for (const [count, before] of entry.statuses) {
        if (evaluate(entry, count) !== before) changed.add(count);
      }
      // With a status that turns ok goes what is left: nobody shows "0 left" beside it.
      const early = paced && changed.size === 0 && clock() < entry.leftSince + LEFT_INTERVAL;
      const leftChanged = !early && countLeft(entry);
      notify(entry, ({ count, wantsLeft }) => changed.has(count) || (leftChanged && wantsLeft()));
    }
    arm();
  }

  function check({ snapshot }: Entry, at: number, count: number): CheckedRateLimit | undefined {
    const { offset } = serverClock;
    return snapshot && offset !== undefined ? predict(snapshot, offset, at, count) : undefined;
  }

  function evaluate(entry: Entry, count: number): RateLimitStatus | undefined {
    // A wrong count is thrown at whoever brings it: out of a timer it would stop everybody's news.
    validateCount(count);
    const checked = check(entry, clock(), count);
    const before = entry.statuses.get(count);
    const status = checked && statusOf(checked, before);
    entry.statuses.set(count, status);
    return status;
  }

  /** Sets `left` to what it is now. Returns whether it changed. */
  function countLeft(entry: Entry): boolean {
    const now = clock();
    const { offset } = serverClock;
    if (entry.snapshot === undefined || offset === undefined) return false;
    const left = predictLeft(entry.snapshot, offset, now);
    if (left === entry.left) return false;
    entry.left = left;
    entry.leftSince = now;
    return true;
  }

  function notify(entry: Entry, concerned: (watcher: Watcher) => boolean): void {
    // A copy, since who is told may come and go.
    for (const watcher of Array.from(entry.watchers)) if (concerned(watcher)) watcher.onChange();
  }

  /** One timer for the page, at the first instant at which something that is shown changes. */
  function arm(): void {
    clearTimeout(timer);
    const now = clock();
    const { offset } = serverClock;
    let next = Infinity;
    for (const entry of entries.values()) {
      for (const status of entry.statuses.values()) {
        next = Math.min(next, status?.retryAt ?? next);
      }
      entry.leftShown = false;
      for (const watcher of entry.watchers) entry.leftShown ||= watcher.wantsLeft();
      const { snapshot, left, leftSince, leftShown } = entry;
      if (leftShown && snapshot && left !== undefined && offset !== undefined) {
        const refill = predictRefill(snapshot, offset, now, left);
        // Counted from its own last change, or other limits' news would put it off for ever.
        next = Math.min(next, Math.max(refill, leftSince + LEFT_INTERVAL));
      }
    }
    if (next === Infinity) return;
    timer = setTimeout(
      () => update(entries.values(), true),
      Math.min(Math.max(0, next - now), MAX_TIMEOUT),
    );
  }

  /**
   * Sets timer and stream to who is looking now. Late, because mounting a page adds many limits in
   * one tick, and remounting takes some away and back.
   */
  function sync(): void {
    if (syncing) return;
    syncing = true;
    queueMicrotask(() => {
      syncing = false;
      for (const [id, entry] of entries) if (entry.watchers.size === 0) entries.delete(id);
      arm();
      const ids = [...entries.keys()].sort().join("\n");
      if (ids === followed) return;
      followed = ids;
      connection.follow(
        [...entries.values()].map((entry) => entry.item),
        (item) => (entries.get(idOf(item))?.receivedAt ?? -Infinity) > -Infinity,
      );
    });
  }

  function entryOf(item: RateLimitItem): Entry {
    const id = idOf(item);
    let entry = entries.get(id);
    if (entry === undefined) {
      const { name, key } = item;
      entry = {
        item: key === undefined ? { name } : { name, key },
        snapshot: undefined,
        receivedAt: -Infinity,
        statuses: new Map(),
        left: undefined,
        leftSince: -Infinity,
        leftShown: false,
        watchers: new Set(),
      };
      entries.set(id, entry);
      const cached = cache?.get(entry.item);
      // As old as it may be, it is a start; the server's clock was at least at its `now`.
      if (cached !== undefined) {
        serverClock.push(clock(), cached.now);
        entry.snapshot = cached;
      }
    }
    return entry;
  }

  return {
    observe(item, count, onChange, wantsLeft = () => false) {
      const entry = entryOf(item);
      if (!entry.statuses.has(count)) evaluate(entry, count);
      const watcher = { count, onChange, wantsLeft };
      entry.watchers.add(watcher);
      sync();
      return () => {
        entry.watchers.delete(watcher);
        if (![...entry.watchers].some((other) => other.count === count)) {
          entry.statuses.delete(count);
        }
        sync();
      };
    },
    status(item, count) {
      const entry = entries.get(idOf(item));
      if (entry === undefined) return undefined;
      if (!entry.statuses.has(count)) {
        evaluate(entry, count);
        sync();
      }
      return entry.statuses.get(count);
    },
    left(item) {
      const entry = entries.get(idOf(item));
      // Whoever starts to look sees what is left now, and from then on is told.
      if (entry?.leftShown === false) {
        countLeft(entry);
        entry.leftShown = true;
        sync();
      }
      return entry?.left;
    },
    config: (item) => entries.get(idOf(item))?.snapshot?.config,
    check(item, at, count) {
      const entry = entries.get(idOf(item));
      return entry && check(entry, at, count);
    },
    get connection() {
      return connectionState;
    },
    receive,
    refresh: () => connection.refresh(),
    close() {
      clearTimeout(timer);
      entries.clear();
      followed = "";
      connection.close();
    },
  };
}

function statusOf(
  { retryAt }: CheckedRateLimit,
  before: RateLimitStatus | undefined,
): RateLimitStatus {
  if (retryAt === undefined) return OK;
  return before?.retryAt === retryAt ? before : { ok: false, retryAt };
}

function idOf({ name, key }: RateLimitItem): string {
  return key === undefined ? name : `${name}\0${key}`;
}

function sameConfig(a: RateLimitConfig, b: RateLimitConfig): boolean {
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([option, value]) => right.get(option) === value);
}
