/**
 * The live mirror, without a framework: holds the last snapshot of each limit that is looked at,
 * predicts from it with the server's own arithmetic, and tells when an answer changes. One stream
 * and one timer serve everyone.
 */
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { type ConnectionState, createConnection } from "./connection.js";
import {
  check,
  countLeft,
  createEntry,
  type Entry,
  evaluate,
  idOf,
  lookAnew,
  nextChange,
  setSnapshot,
} from "./limit-entry.js";
import type { RateLimitObserver, RateLimitObserverOptions } from "./observer-types.js";
import { createServerClock } from "./server-clock.js";
import type { RateLimitItem } from "./transport.js";

export type * from "./observer-types.js";

/** The longest time that a timer takes; longer ones would fire at once. */
const MAX_TIMEOUT = 2 ** 31 - 1;

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
      for (const { watchers } of entries.values()) {
        // A copy, since who is told may come and go.
        for (const watcher of Array.from(watchers)) watcher.onChange();
      }
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
    setSnapshot(entry, snapshot, receivedAt);
    cache?.set(entry.item, entry.snapshot!);
    update([entry]);
  }

  /** Looks anew at these limits, tells those whose answer changed, and sets the timer. */
  function update(some: Iterable<Entry>, paced = false): void {
    for (const entry of some) {
      for (const watcher of lookAnew(entry, serverClock.offset, clock(), paced)) watcher.onChange();
    }
    arm();
  }

  /** One timer for the page, at the first instant at which something that is shown changes. */
  function arm(): void {
    clearTimeout(timer);
    const now = clock();
    let next = Infinity;
    for (const entry of entries.values()) {
      next = Math.min(next, nextChange(entry, serverClock.offset, now));
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
      entry = createEntry(item);
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
      if (!entry.statuses.has(count)) evaluate(entry, serverClock.offset, clock(), count);
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
        evaluate(entry, serverClock.offset, clock(), count);
        sync();
      }
      return entry.statuses.get(count);
    },
    left(item) {
      const entry = entries.get(idOf(item));
      // Whoever starts to look sees what is left now, and from then on is told.
      if (entry?.leftShown === false) {
        countLeft(entry, serverClock.offset, clock());
        entry.leftShown = true;
        sync();
      }
      return entry?.left;
    },
    config: (item) => entries.get(idOf(item))?.snapshot?.config,
    check(item, at, count) {
      const entry = entries.get(idOf(item));
      return entry && check(entry, serverClock.offset, at, count);
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
