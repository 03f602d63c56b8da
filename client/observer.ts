/**
 * The live mirror, without a framework: holds the last snapshot of each limit that is looked at,
 * predicts from it with the server's own arithmetic, and tells when an answer changes. One stream
 * and one timer serve everyone.
 */
import { calculateRateLimit } from "../core/calculate.js";
import type { RateLimitConfig } from "../core/config.js";
import { mostSatisfiable } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { type ConnectionState, createConnection } from "./connection.js";
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

/** `value` is the tokens that would be left, negative when there are not enough. */
export interface CheckedRateLimit {
  value: number;
  config: RateLimitConfig;
  retryAt: number | undefined;
}

interface Entry {
  item: RateLimitItem;
  snapshot: RateLimitSnapshot | undefined;
  /** When, locally, `snapshot` arrived. */
  receivedAt: number;
  /** Last statuses by count, so that an unchanged answer is the same object. */
  statuses: Map<number, RateLimitStatus>;
  left: number | undefined;
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
    onAnswer(snapshot, sentAt, receivedAt) {
      const entry = entries.get(idOf(snapshot));
      const overtaken =
        entry?.snapshot !== undefined &&
        entry.receivedAt >= sentAt &&
        entry.snapshot.now > snapshot.now;
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

  function calculate({ snapshot }: Entry, at: number, count: number) {
    const { offset } = serverClock;
    if (snapshot === undefined || offset === undefined) return undefined;
    const { config } = snapshot;
    const { value, retryAfter } = calculateRateLimit(snapshot, config, at + offset, count);
    if (retryAfter === undefined) return { value, config, retryAt: undefined };
    const never = count > mostSatisfiable(config, false);
    return { value, config, retryAt: never ? Infinity : at + retryAfter };
  }

  /** Looks anew at these limits, tells those whose answer changed, and sets the timer. */
  function update(some: Iterable<Entry>): void {
    for (const entry of some) {
      const leftBefore = entry.left;
      entry.left = leftAt(entry, clock());
      const changed = new Set<number>();
      for (const count of new Set([...entry.watchers].map((watcher) => watcher.count))) {
        const before = entry.statuses.get(count);
        if (before !== evaluate(entry, count)) changed.add(count);
      }
      const leftChanged = entry.left !== leftBefore;
      notify(
        entry,
        ({ count, wantsLeft }) => changed.has(count) || (leftChanged && wantsLeft()),
      );
    }
    arm();
  }

  function evaluate(entry: Entry, count: number): RateLimitStatus | undefined {
    const checked = calculate(entry, clock(), count);
    if (checked === undefined) return undefined;
    const before = entry.statuses.get(count);
    const { retryAt } = checked;
    const status: RateLimitStatus =
      retryAt === undefined ? OK : before?.retryAt === retryAt ? before : { ok: false, retryAt };
    entry.statuses.set(count, status);
    return status;
  }

  function leftAt(entry: Entry, at: number): number | undefined {
    const held = calculate(entry, at, 0)?.value;
    return held === undefined ? undefined : Math.max(0, Math.floor(held));
  }

  function notify(entry: Entry, concerned: (watcher: Watcher) => boolean): void {
    for (const watcher of [...entry.watchers]) if (concerned(watcher)) watcher.onChange();
  }

  /** One timer for the page, at the first instant at which something that is shown changes. */
  function arm(): void {
    clearTimeout(timer);
    const now = clock();
    let next = Infinity;
    for (const entry of entries.values()) {
      let wantsLeft = false;
      for (const watcher of entry.watchers) {
        next = Math.min(next, entry.statuses.get(watcher.count)?.retryAt ?? next);
        wantsLeft ||= watcher.wantsLeft();
      }
      if (wantsLeft && entry.left !== undefined) {
        const refilled = calculate(entry, now, entry.left + 1)?.retryAt ?? now;
        next = Math.min(next, Math.max(refilled, now + LEFT_INTERVAL));
      }
    }
    if (next === Infinity) return;
    timer = setTimeout(
      () => update(entries.values()),
      Math.min(Math.max(0, next - now), MAX_TIMEOUT),
    );
  }

  /** Mounting a page adds many limits in one tick, and remounting takes some away and back. */
  function sync(): void {
    if (syncing) return;
    syncing = true;
    queueMicrotask(() => {
      syncing = false;
      for (const [id, entry] of entries) if (entry.watchers.size === 0) entries.delete(id);
      const ids = [...entries.keys()].sort().join("\n");
      if (ids === followed) return;
      followed = ids;
      connection.follow(
        [...entries.values()].map((entry) => entry.item),
        (item) => (entries.get(idOf(item))?.receivedAt ?? -Infinity) > -Infinity,
      );
      arm();
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
      const watcher = { count, onChange, wantsLeft };
      entry.watchers.add(watcher);
      evaluate(entry, count);
      entry.left = leftAt(entry, clock());
      arm();
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
      return entry.statuses.get(count) ?? evaluate(entry, count);
    },
    left: (item) => entries.get(idOf(item))?.left,
    config: (item) => entries.get(idOf(item))?.snapshot?.config,
    check(item, at, count) {
      const entry = entries.get(idOf(item));
      return entry && calculate(entry, at, count);
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

function idOf({ name, key }: RateLimitItem): string {
  return key === undefined ? name : `${name}\0${key}`;
}

function sameConfig(a: RateLimitConfig, b: RateLimitConfig): boolean {
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([option, value]) => right.get(option) === value);
}
