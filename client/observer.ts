/**
 * The live mirror, without a framework: holds the last snapshot of each limit that is looked at,
 * predicts from it with the server's own arithmetic, and tells when an answer changes. One stream
 * and one timer serve everyone.
 */
import { validateCount } from "../core/count.js";
import type { RateLimitErrorData } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { type ConnectionState, createConnection } from "./connection.js";
import { claimDebit, placeDebit } from "./debits.js";
import { countLeft, createEntry, type Entry, idOf, setTruth, statusOf } from "./limit-entry.js";
import type { RateLimitObserver, RateLimitObserverOptions } from "./observer-types.js";
import { predict } from "./prediction.js";
import { snapshotOfRefusal } from "./refusal.js";
import { createServerClock } from "./server-clock.js";
import type { RateLimitItem, RateLimitTransport } from "./transport.js";
import { createUpdates, tell } from "./updates.js";

export type * from "./observer-types.js";

export function createRateLimitObserver<TName extends string = string>(
  options: RateLimitObserverOptions<TName>,
): RateLimitObserver<TName> {
  const { cache, clock = () => Date.now(), pollInterval = 5000 } = options;
  const transport: RateLimitTransport = options.transport;
  const { monotonic = options.clock ?? (() => performance.now()) } = options;
  const entries = new Map<string, Entry>();
  const find = (item: RateLimitItem) => entries.get(idOf(item));
  let connectionState: ConnectionState = "polling";
  /** How much the server has told. */
  let news = 0;
  const refusals = new WeakSet<RateLimitErrorData>();
  let isSyncing = false;

  const { look, roundTrip, push } = createServerClock(clock, monotonic, () => {
    // Whoever looks may be rendering: the others are told once that is done.
    queueMicrotask(() => update(entries.values()));
    connection.refresh();
  });

  const update = createUpdates(entries, look, () => connection.refresh());

  const connection = createConnection({
    transport,
    pollInterval,
    onSnapshot: receive,
    async request(item) {
      const [before, sentAt] = [news, monotonic()];
      const snapshot = await transport.status(item);
      accept(snapshot, roundTrip(monotonic() - sentAt, snapshot.now), before);
    },
    onState(state) {
      if (state === connectionState) return;
      connectionState = state;
      for (const { watchers } of entries.values()) tell([...watchers]);
    },
  });

  function open(item: RateLimitItem): Entry {
    const known = find(item);
    if (known) return known;
    const entry = createEntry(item);
    entries.set(idOf(item), entry);
    // As old as it may be, it is a start; the server's clock was at least at its `now`.
    const cached = cache?.get(entry.item);
    if (cached) {
      push(cached.now);
      setTruth(entry, cached, cached.now);
    }
    return entry;
  }

  function receive(snapshot: RateLimitSnapshot): void {
    accept(snapshot, push(snapshot.now));
  }

  /**
   * @param moved whether it told what time the server has, too, which concerns all the others.
   * @param before how much had been told when it was asked for.
   */
  function accept(snapshot: RateLimitSnapshot, moved: boolean, before: number = Infinity): void {
    const entry = find(snapshot);
    // Within one ms of the server, other news has the last word: it tells of a change.
    const isOld = entry?.truth && entry.news > before && entry.truth.now >= snapshot.now;
    if (entry && !isOld) {
      const { now, offset } = look();
      entry.news = ++news;
      setTruth(entry, snapshot, now + offset);
      cache?.set(entry.item, entry.truth!);
    }
    if (moved) update(entries.values());
    else if (entry) update([entry]);
  }

  function ask(item: RateLimitItem): void {
    const entry = find(item);
    if (entry) connection.ask([entry.item]);
  }

  /**
   * Sets timer and stream to who is looking now. Late, because mounting a page adds many limits in
   * one tick, and remounting takes some away and back.
   */
  function sync(): void {
    if (isSyncing) return;
    isSyncing = true;
    queueMicrotask(() => {
      isSyncing = false;
      for (const [id, { watchers }] of entries) {
        if (watchers.size === 0) entries.delete(id);
      }
      update(entries.values(), true);
      follow();
    });
  }

  function follow(): void {
    if (entries.size === 0) transport.observers?.delete(observer);
    else transport.observers?.add(observer);
    connection.follow(Array.from(entries.values(), ({ item }) => item));
  }

  const observer: RateLimitObserver = {
    observe(item, count, onChange, wantsLeft = () => false) {
      const entry = open(item);
      const { statuses, watchers } = entry;
      const watcher = { count, told: statusOf(entry, look(), count), onChange, wantsLeft };
      watchers.add(watcher);
      sync();
      return () => {
        watchers.delete(watcher);
        if (![...watchers].some((other) => other.count === count)) statuses.delete(count);
        sync();
      };
    },
    // Anew, since the timer may be late; and from the cache, where nobody is looking yet.
    status: (item, count) => statusOf(open(item), look(), count),
    left(item) {
      const entry = find(item);
      // Whoever starts to look sees what is left now, and from then on is told.
      if (entry?.isLeftShown === false) {
        countLeft(entry, look());
        entry.isLeftShown = true;
        sync();
      }
      return entry?.left;
    },
    config: (item) => find(item)?.snapshot?.config,
    check(item, at, count) {
      const snapshot = find(item)?.snapshot;
      return snapshot && predict(snapshot, look().offset, at, count);
    },
    get connection() {
      return connectionState;
    },
    debit(item, count) {
      validateCount(count);
      const entry = find(item);
      // The server writes nothing for a count of 0, so its row does not move.
      if (!entry?.snapshot || count === 0) return () => {};
      const { now, offset } = look();
      return placeDebit(
        entry,
        now + offset,
        count,
        () => update([entry]),
        // News of the charge may have come and been taken for older than the debit, where the
        // server's clock is believed to be ahead. Whatever is read from now on knows of it. And what
        // the debit gave way to may have been read before the charge, if it was no news of a change.
        (stands) => {
          if (stands || connectionState !== "live") ask(item);
        },
      );
    },
    send: (item) => claimDebit(find(item)),
    receive,
    refused(item, data, count = 1) {
      // A link and a hook may both tell of the same one.
      if (refusals.has(data) || !find(item)) return;
      refusals.add(data);
      receive(snapshotOfRefusal(item, data, count));
      ask(item);
    },
    refresh(item) {
      update(entries.values());
      if (item) ask(item);
      else connection.refresh();
    },
    close() {
      entries.clear();
      update([]);
      follow();
    },
  };
  return observer;
}
