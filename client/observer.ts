/**
 * The live mirror, without a framework: holds the last snapshot of each limit that is looked at,
 * predicts from it with the server's own arithmetic, and tells when an answer changes. One stream
 * and one timer serve everyone.
 */
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { createAlarm } from "./alarm.js";
import { type ConnectionState, createConnection } from "./connection.js";
import { claimDebit, placeDebit } from "./debits.js";
import {
  check,
  countLeft,
  type Entry,
  evaluate,
  lookAnew,
  nextChange,
  setTruth,
} from "./limit-entry.js";
import { createEntries } from "./limit-entries.js";
import { createLocalClock } from "./local-clock.js";
import type { RateLimitObserver, RateLimitObserverOptions } from "./observer-types.js";
import { snapshotOfRefusal } from "./refusal.js";
import { createServerClock } from "./server-clock.js";

export type * from "./observer-types.js";

export function createRateLimitObserver<TName extends string = string>(
  options: RateLimitObserverOptions<TName>,
): RateLimitObserver<TName> {
  const { transport, cache, clock = () => Date.now(), pollInterval = 5000 } = options;
  const { monotonic = options.clock ?? (() => performance.now()) } = options;
  const entries = createEntries((item) => {
    const cached = cache?.get(item);
    // As old as it may be, it is a start; the server's clock was at least at its `now`.
    if (cached !== undefined) serverClock.push(look().now, cached.now);
    return cached;
  });
  const serverClock = createServerClock();
  let connectionState: ConnectionState = "polling";
  let followed = "";
  let syncing = false;

  const look = createLocalClock(clock, monotonic, serverClock, () => {
    // Whoever looks may be rendering: the others are told once that is done.
    queueMicrotask(() => update(entries.all()));
    connection.refresh();
  });

  const alarm = createAlarm(
    look,
    () => update(entries.all(), true),
    () => connection.refresh(),
  );

  const connection = createConnection({
    transport,
    monotonic,
    pollInterval,
    onSnapshot: receive,
    onAnswer(snapshot, duration, overtaken) {
      const known = entries.get(snapshot)?.snapshot;
      // Within one ms of the server, other news has the last word: it tells of a change.
      const isOld = overtaken && known !== undefined && known.now >= snapshot.now;
      const { now } = look();
      const moved = serverClock.roundTrip(now - duration, now, snapshot.now);
      if (!isOld) accept(snapshot, now);
      if (moved) update(entries.all());
    },
    onState(state) {
      if (state === connectionState) return;
      connectionState = state;
      for (const { watchers } of entries.all()) {
        // A copy, since who is told may come and go.
        for (const watcher of Array.from(watchers)) watcher.onChange();
      }
    },
  });

  function receive(snapshot: RateLimitSnapshot): void {
    connection.overtake(snapshot);
    const { now } = look();
    const moved = serverClock.push(now, snapshot.now);
    accept(snapshot, now);
    if (moved) update(entries.all());
  }

  function accept(snapshot: RateLimitSnapshot, now: number): void {
    const entry = entries.get(snapshot);
    if (entry === undefined) return;
    setTruth(entry, snapshot, now + serverClock.offset!);
    entry.heard = true;
    cache?.set(entry.item, entry.truth!);
    update([entry]);
  }

  /** One request at a time, and one more after it where that may have been answered too early. */
  function ask(entry: Entry): void {
    entry.asksAgain = entry.asking;
    if (entry.asking || entries.get(entry.item) !== entry) return;
    entry.asking = true;
    void connection.ask(entry.item).finally(() => {
      entry.asking = false;
      if (entry.asksAgain) ask(entry);
    });
  }

  /** Looks anew at these limits, tells those whose answer changed, and sets the timer. */
  function update(some: Iterable<Entry>, paced = false): void {
    const time = look();
    for (const entry of some) {
      for (const { onChange } of lookAnew(entry, time, paced)) onChange();
    }
    arm();
  }

  /** One timer for the page, at the first instant at which something that is shown changes. */
  function arm(): void {
    const time = look();
    let due = Infinity;
    for (const entry of entries.all()) due = Math.min(due, nextChange(entry, time));
    alarm.set(due, time);
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
      const ids = entries.prune();
      arm();
      if (ids === followed) return;
      followed = ids;
      if (ids === "") transport.observers?.delete(observer);
      else transport.observers?.add(observer);
      connection.follow(
        [...entries.all()].map((entry) => entry.item),
        (item) => entries.get(item)?.heard === true,
      );
    });
  }

  const observer: RateLimitObserver = {
    observe(item, count, onChange, wantsLeft = () => false) {
      const entry = entries.open(item);
      const told = evaluate(entry, look(), count);
      const watcher = { count, told, onChange, wantsLeft };
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
      const entry = entries.get(item);
      if (entry === undefined) return undefined;
      if (!entry.statuses.has(count)) sync();
      // Anew, since the timer may be late.
      return evaluate(entry, look(), count);
    },
    left(item) {
      const entry = entries.get(item);
      // Whoever starts to look sees what is left now, and from then on is told.
      if (entry?.leftShown === false) {
        countLeft(entry, look());
        entry.leftShown = true;
        sync();
      }
      return entry?.left;
    },
    config: (item) => entries.get(item)?.snapshot?.config,
    check(item, at, count) {
      const entry = entries.get(item);
      return entry && check(entry, look(), count, at);
    },
    get connection() {
      return connectionState;
    },
    debit(item, count) {
      validateCount(count);
      const entry = entries.get(item);
      const { now, offset } = look();
      // The server writes nothing for a count of 0, so its row does not move.
      if (!entry?.snapshot || offset === undefined || count === 0) return () => {};
      return placeDebit(entry, now + offset, count, {
        onChange: (changed) => update([changed]),
        ask,
        isLive: () => connectionState === "live",
      });
    },
    send: (item) => claimDebit(entries.get(item)),
    receive,
    refused(item, data, count = 1) {
      const entry = entries.get(item);
      if (entry === undefined) return;
      receive(snapshotOfRefusal(item, data, count));
      // It may be the asking that was refused, and would be again and again.
      if (!entry.asking) ask(entry);
    },
    refresh(item) {
      update(entries.all());
      const entry = item && entries.get(item);
      if (entry) ask(entry);
      else if (!item) connection.refresh();
    },
    close() {
      entries.clear();
      arm();
      followed = "";
      connection.close();
      transport.observers?.delete(observer);
    },
  };
  return observer;
}
