/**
 * Follows limits, without a framework. The observer holds the last snapshot of each limit, predicts from
 * it with the server's own arithmetic, and notifies the watchers when an answer changes. One stream and
 * one timer serve all limits.
 */
import { validateCount } from "../core/count.js";
import type { RateLimitDenial } from "../core/errors.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import { createServerClock, type Time } from "./clocks.js";
import { createDebits } from "./debits.js";
import { explainDenials } from "./denial.js";
import { isSnapshot } from "./is-snapshot.js";
import { Entry, idOf, textOf } from "./limit-entry.js";
import { predict } from "./prediction.js";
import type {
  ConnectionState,
  RateLimitItem,
  RateLimitObserver,
  RateLimitObserverOptions,
  RateLimitTransport,
} from "./types.js";
import { createNotifier, notify } from "./notify-watchers.js";
import { isReplaced, isStreamOutdated, mustReopen } from "./stream-config.js";
import { createStreamOrPoll } from "./stream-or-poll.js";

/** Where a snapshot came from. */
interface SnapshotSource {
  /** `"received"`: the application refetched it, or a call was denied. */
  kind: "stream" | "received" | "answer";
  /** The sequence number of the question of an answer. */
  askedAt?: number;
}

/**
 * Follows limits without a framework: reads them from the server, predicts what the server would
 * answer, and calls `onChange` when that changes. Create one per client. Call `close` at the end.
 *
 * @example
 * import { createRateLimitObserver, createTRPCTransport } from "trpc-rate-limit/client";
 *
 * const transport = createTRPCTransport(trpcClient, "rateLimit");
 * const observer = createRateLimitObserver({ transport });
 * const item = { name: "sendMessage" } as const;
 * const stop = observer.observe(item, 1, () => console.log(observer.status(item, 1)));
 */
export function createRateLimitObserver<TName extends string = string>(
  options: RateLimitObserverOptions<TName>,
): RateLimitObserver<TName> {
  const { cache, clock = () => Date.now(), live = "stream", pollInterval = 5000 } = options;
  const transport: RateLimitTransport = options.transport;
  const { monotonic = options.clock ?? (() => performance.now()) } = options;
  const entries = new Map<string, Entry>();
  const find = (item: RateLimitItem) => entries.get(idOf(item));
  /** The time for one limit: by its cached snapshot until the server has told the time. */
  const timeOf = (entry?: Entry): Time => {
    const time = read();
    if (!entry || !Number.isNaN(time.offset)) return time;
    return { ...time, offset: entry.cachedOffset };
  };
  let connectionState: ConnectionState = "polling";
  /** Numbers all questions, charges and snapshots in the order in which they happen. */
  let sequence = 0;
  /** Only `inspect` reads the tally. */
  const tally = { streamed: 0, answered: 0, lastRoundTrip: NaN };
  const recorded = new WeakSet<RateLimitDenial>();
  let isSyncing = false;
  let hasWarned = false;

  const { read, roundTrip, push } = createServerClock(clock, monotonic, () => {
    // Notify later, since the caller that reads the clock may be rendering.
    queueMicrotask(() => update(entries.values()));
    connection.refresh();
  });

  const update = createNotifier(entries, timeOf, () => connection.refresh());

  const connection = createStreamOrPoll({
    transport,
    live,
    pollInterval,
    monotonic,
    isFresh: (item) => cache?.isFresh?.(item),
    onSnapshot(snapshot) {
      tally.streamed++;
      const entry = isSnapshot(snapshot) && find(snapshot);
      // Ask instead: the answer has the present state, too.
      if (entry && (isReplaced(entry, textOf(snapshot)) || isLate(snapshot))) return ask(snapshot);
      receive(snapshot, "stream");
    },
    async request(item) {
      const source: SnapshotSource = { kind: "answer", askedAt: ++sequence };
      const sentAt = monotonic();
      const snapshot = await transport.status(item);
      // Other data counts as no answer. The error is not shown.
      if (!isSnapshot(snapshot)) throw new TypeError();
      tally.answered++;
      tally.lastRoundTrip = monotonic() - sentAt;
      accept(snapshot, roundTrip(tally.lastRoundTrip, snapshot.now), source);
    },
    onRefused(item, error) {
      const entry = find(item);
      if (!entry) return;
      entry.error = error as Error;
      notify([...entry.watchers]);
      if (!hasWarned && isDevelopment()) {
        console.warn(`The server refuses to tell about rate limit "${item.name}":`, error);
      }
      hasWarned = true;
    },
    onState(state) {
      if (state === connectionState) return;
      connectionState = state;
      for (const { watchers } of entries.values()) notify([...watchers]);
    },
  });

  const openDebit = createDebits({
    timeOf,
    update,
    ask: ({ item }) => ask(item),
    isFollowed: (entry) => find(entry.item) === entry,
    isLive: () => connectionState === "live",
    tick: () => ++sequence,
  });

  function open(item: RateLimitItem): Entry {
    const known = find(item);
    if (known) return known;
    const entry = new Entry(item);
    entries.set(idOf(item), entry);
    const cached = cache?.get(entry.item);
    if (isSnapshot(cached)) {
      const { now } = read();
      // Not in the future: a denial must not last longer than it did when it was received.
      const updatedAt = Math.min(cache!.updatedAt?.(entry.item) ?? now, now);
      entry.cachedOffset = cached.now - updatedAt;
      entry.setServerSnapshot(cached, cached.now);
    }
    return entry;
  }

  /** Whether the snapshot may have come late. The server's clock may also have been set back. */
  function isLate(snapshot: RateLimitSnapshot): boolean {
    const entry = find(snapshot);
    // A cached snapshot may be from another clock.
    return !!entry?.sequence && snapshot.now < entry.serverSnapshot!.now;
  }

  function receive(snapshot: RateLimitSnapshot, kind: "stream" | "received"): void {
    if (isSnapshot(snapshot)) accept(snapshot, push(snapshot.now), { kind });
  }

  /** @param isClockCorrected whether the snapshot corrected the server's time, which concerns all limits. */
  function accept(
    snapshot: RateLimitSnapshot,
    isClockCorrected: boolean,
    { kind, askedAt }: SnapshotSource,
  ): void {
    const entry = find(snapshot);
    const isOtherConfig = entry?.config !== textOf(snapshot);
    // Notify of these changes, although the status can be the same as before.
    const isShownAnew =
      entry &&
      (entry.error ||
        (entry.config && (isOtherConfig || entry.serverSnapshot!.held !== snapshot.held)));
    // A snapshot that came after the question was asked is kept, also within the same ms of the server: a
    // push reports a change. An answer with another config replaces a push: the answer's context is newer.
    const isOld =
      askedAt &&
      entry?.config &&
      (isOtherConfig ? entry.answered : entry.sequence) > askedAt &&
      entry.serverSnapshot!.now >= snapshot.now;
    if (entry && !isOld) {
      const { now, offset, uncertainty } = read();
      entry.sequence = ++sequence;
      if (kind !== "stream") entry.answered = sequence;
      entry.error = undefined;
      const latest = now + offset + uncertainty;
      const isUnconfirmed = entry.setServerSnapshot(snapshot, latest, undefined, askedAt);
      if (kind !== "answer") {
        if (isUnconfirmed || isStreamOutdated(entry)) ask(snapshot);
      } else if (mustReopen(entry)) {
        connection.reopen();
      }
      cache?.set(entry.item, entry.serverSnapshot!);
    }
    if (isClockCorrected) update(entries.values());
    else if (entry) update([entry]);
    if (isShownAnew) notify([...entry.watchers]);
  }

  function ask(item: RateLimitItem): void {
    const entry = find(item);
    if (entry) connection.ask([entry.item]);
  }

  /**
   * Adjusts timer and stream to the current watchers. A microtask later, because mounting a page
   * adds many limits in one tick, and remounting removes some and adds them again.
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
    observe(item, count, onChange, wantsRemaining = () => false) {
      const entry = open(item);
      const lastStatus = entry.status(timeOf(entry), count);
      const watcher = { count, lastStatus, onChange, wantsRemaining };
      entry.watchers.add(watcher);
      sync();
      return () => {
        entry.removeWatcher(watcher);
        sync();
      };
    },
    // Computed anew, since the timer may be late, and from the cache where nothing is followed yet.
    status(item, count) {
      const entry = open(item);
      return entry.status(timeOf(entry), count);
    },
    remaining(item) {
      const entry = find(item);
      // The first reader gets the number of this instant, and is notified from then on.
      if (entry && !entry.isShown) {
        entry.recomputeRemaining(timeOf(entry));
        entry.isShown = true;
        sync();
      }
      return entry?.remaining;
    },
    config: (item) => find(item)?.serverSnapshot?.config,
    held: (item) => find(item)?.serverSnapshot?.held,
    check(item, at, count) {
      const entry = find(item);
      const snapshot = entry?.snapshot();
      return snapshot && predict(snapshot, timeOf(entry).offset, at, count);
    },
    error: (item) => find(item)?.error,
    get connection() {
      return connectionState;
    },
    debit(item, count) {
      validateCount(count);
      const entry = find(item);
      // The server writes nothing for a count of 0, so its row does not change.
      if (!entry?.serverSnapshot || count === 0) return () => {};
      return openDebit(entry, count);
    },
    claimDebit(item) {
      const unclaimed = find(item)?.unclaimed;
      const [debit] = unclaimed ?? [];
      return debit !== undefined && unclaimed!.delete(debit);
    },
    inspect: () => ({
      ...tally,
      ...read(),
      limits: Array.from(entries.values(), ({ item, serverSnapshot, debits, watchers }) => ({
        item,
        snapshot: serverSnapshot,
        debits: debits.size,
        counts: Array.from(watchers, ({ count }) => count),
      })),
    }),
    receive(snapshot) {
      if (!isSnapshot(snapshot)) return;
      if (isLate(snapshot)) ask(snapshot);
      else receive(snapshot, "received");
    },
    recordDenial(item, data, count) {
      explainDenials({ ...item, count }, data, (snapshot, denial) => {
        // A link and a hook may both report the same denial.
        if (recorded.has(denial) || !find(snapshot)) return;
        recorded.add(denial);
        receive(snapshot, "received");
        ask(snapshot);
      });
    },
    refresh(item) {
      if (item) return ask(item);
      update(entries.values());
      connection.refresh();
    },
    close() {
      entries.clear();
      update([]);
      follow();
    },
  };
  return observer;
}

/** Bundlers replace the condition; without a bundler there may be no `process`. */
function isDevelopment(): boolean {
  try {
    return (process.env as { NODE_ENV?: string }).NODE_ENV !== "production";
  } catch {
    return false;
  }
}
