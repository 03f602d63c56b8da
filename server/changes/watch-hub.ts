/**
 * Live status for many readers at little cost. Each watched limit is read once for all its readers with
 * the same key and the same plan. A limit is read right after a change by this process. All limits are
 * read together once per tick, for changes by other processes. Nothing is read while there is no reader.
 *
 * A slow reader misses intermediate states and never the last one.
 */
import { bucketId } from "../../core/bucket-id.js";
import { calculateRateLimit, type RateLimitState } from "../../core/calculate.js";
import { type Bucket, shardConfig, type ShownConfig } from "../../core/config.js";
import { MAX_TIMEOUT } from "../../core/durations.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import { planDigest } from "./plan-digest.js";
import { OVERRIDES_DIGEST } from "./overrides-digest.js";
import { changeDigest } from "./change-digest.js";
import type { ChangeListener } from "./change-channel.js";
import { keyOption } from "../../core/key-option.js";

/** Ms after a read within which changes wait for the next read, which reads them together. */
const COALESCE = 50;

interface KeyAndPlan {
  key?: string;
  plan?: string | undefined;
}

/** The parts of a limiter that the hub needs. */
export interface WatchSource<TName extends string> {
  clock(): number;
  /** Throws where `snapshots` would reject. Reads no row. */
  configOf(name: TName, options: KeyAndPlan): ShownConfig;
  onChange(listener: ChangeListener): () => void;
  snapshots(items: readonly (KeyAndPlan & { name: TName })[]): Promise<RateLimitSnapshot<TName>[]>;
}

export interface WatchItem<TName extends string> {
  name: TName;
  /** The key as the server resolved it. */
  key?: string;
  /** The plan as the server resolved it; `undefined` for a limit without plans. */
  plan: string | undefined;
  /** The key as the client asked for it, and as the snapshots name it. */
  requested: string | undefined;
}

interface Entry<TName extends string> {
  name: TName;
  key?: string;
  plan: string | undefined;
  snapshot: RateLimitSnapshot<TName> | undefined;
  /** Whether the database may hold a newer state than `snapshot`. */
  stale: boolean;
  /** Why the entry has no rows to read: its readers end with this error. */
  failure?: { error: unknown } | undefined;
  /** Called after each new snapshot; one per reader and item. */
  notify: Set<() => void>;
}

/** @param interval ms between two reads for the changes of other processes. */
export function createWatchHub<TName extends string>(
  limiter: WatchSource<TName>,
  interval: number,
) {
  type Snapshot = RateLimitSnapshot<TName>;
  const entries = new Map<string, Entry<TName>>();
  /** Several entries share a digest where callers have different plans of one limit. */
  const byDigest = new Map<string, Set<Entry<TName>>>();
  /** The listeners to call when the plan of a key may have changed, by `planDigest`. */
  const byPlan = new Map<string, Set<() => void>>();
  let stop: (() => void) | undefined;
  let flushing = false;
  let flushTimer: ReturnType<typeof setTimeout> | undefined;
  let lastFlush = -Infinity;

  function start(): () => void {
    const unsubscribe = limiter.onChange((digest) => {
      // An override can concern all keys, and it is not known yet which limits it changes.
      const changed = digest === OVERRIDES_DIGEST ? entries.values() : byDigest.get(digest);
      if (changed !== undefined) refresh(changed);
      for (const listener of byPlan.get(digest) ?? []) listener();
    });
    const pause = Math.min(interval, MAX_TIMEOUT);
    const ticker = setInterval(() => refresh(entries.values()), pause);
    return () => {
      unsubscribe();
      clearInterval(ticker);
      clearTimeout(flushTimer);
      flushTimer = undefined;
    };
  }

  function refresh(some: Iterable<Entry<TName>>): void {
    for (const entry of some) entry.stale = true;
    if (flushing || flushTimer !== undefined) return;
    const wait = Math.max(0, lastFlush + COALESCE - performance.now());
    flushTimer = setTimeout(() => void flush(), wait);
  }

  /** Reads all stale limits at once. If the store fails, they stay stale until the next read. */
  async function flush(): Promise<void> {
    flushTimer = undefined;
    flushing = true;
    const reading = [...entries.values()].filter(({ stale, failure }) => stale && !failure);
    for (const entry of reading) entry.stale = false;
    let isNewRead = false;
    try {
      const snapshots = await limiter.snapshots(reading);
      for (const [i, entry] of reading.entries()) {
        const before = entry.snapshot;
        const snapshot = snapshots[i]!;
        entry.snapshot = snapshot;
        if (before === undefined || !agree(before, snapshot)) {
          for (const notify of entry.notify) notify();
        }
      }
      isNewRead = [...entries.values()].some(({ stale, failure }) => stale && !failure);
    } catch {
      // A failed read does not end the streams: the readers predict from their last snapshots, and
      // the next tick tries again.
      for (const entry of reading) entry.stale = true;
      // A limit that has no rows any more for its key keeps the other limits from being read. Read them
      // again without it.
      for (const entry of reading) if (isUnreadable(entry)) isNewRead = true;
    }
    lastFlush = performance.now();
    flushing = false;
    if (isNewRead) refresh([]);
  }

  /** Whether a limit has no rows to read, because of its key. If so, ends the readers of the limit. */
  function isUnreadable(entry: Entry<TName>): boolean {
    const { name, key, plan } = entry;
    try {
      limiter.configOf(name, { ...keyOption(key), plan });
      return false;
    } catch (error) {
      entry.failure = { error };
      for (const notify of entry.notify) notify();
      return true;
    }
  }

  /**
   * Yields a snapshot of each item at once, and a new snapshot after each change. Throws the error of
   * `configOf` for an item that cannot be read.
   */
  async function* watch(
    items: readonly WatchItem<TName>[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<Snapshot, void, undefined> {
    // Check the items before they are followed: an item that cannot be read would fail the read of all
    // items.
    for (const { name, key, plan } of items) {
      limiter.configOf(name, { ...keyOption(key), plan });
    }
    const pending = new Set<WatchItem<TName>>();
    let wake: () => void = () => {};
    const followed = items.map((item) => {
      const notify = () => {
        pending.add(item);
        wake();
      };
      return { item, notify, entry: addReader(item, notify) };
    });
    const onAbort = () => wake();
    signal?.addEventListener("abort", onAbort);
    try {
      stop ??= start();
      // Read again for each new reader: another process may have made a change since the last tick.
      refresh(followed.map(({ entry }) => entry));
      for (const { item, entry } of followed) if (entry.snapshot !== undefined) pending.add(item);
      while (!signal?.aborted) {
        const [item] = pending;
        if (item === undefined) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        pending.delete(item);
        const { snapshot, failure } = entries.get(entryIdOf(item))!;
        if (failure !== undefined) throw failure.error;
        if (snapshot === undefined) continue;
        const { requested: key } = item;
        // Send the `now` of this moment: the state is still true, and a newer `now` is a better sample of
        // the clock.
        yield { ...snapshot, ...(key !== undefined && { key }), now: limiter.clock() };
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      for (const { entry, notify } of followed) removeReader(entry, notify);
    }
  }

  function addReader(item: WatchItem<TName>, notify: () => void): Entry<TName> {
    const { name, key, plan } = item;
    const id = entryIdOf(item);
    let entry = entries.get(id);
    if (entry === undefined) {
      entry = {
        name,
        ...keyOption(key),
        plan,
        snapshot: undefined,
        stale: true,
        notify: new Set(),
      };
      entries.set(id, entry);
      const digest = changeDigest(name, key);
      const others = byDigest.get(digest);
      if (others === undefined) byDigest.set(digest, new Set([entry]));
      else others.add(entry);
    }
    // A new reader shows that its key has rows again.
    entry.failure = undefined;
    entry.notify.add(notify);
    return entry;
  }

  function removeReader(entry: Entry<TName>, notify: () => void): void {
    entry.notify.delete(notify);
    if (entry.notify.size > 0) return;
    entries.delete(entryIdOf(entry));
    const digest = changeDigest(entry.name, entry.key);
    const others = byDigest.get(digest)!;
    others.delete(entry);
    if (others.size === 0) byDigest.delete(digest);
    if (entries.size > 0) return;
    stop?.();
    stop = undefined;
  }

  /**
   * Calls `listener` when the plan of one of these keys may have changed, as long as there are readers.
   * Returns a function that removes `listener`.
   */
  function onPlan(items: readonly WatchItem<TName>[], listener: () => void): () => void {
    const digests = new Set(items.map(({ key }) => planDigest(key)));
    for (const digest of digests) {
      const others = byPlan.get(digest);
      if (others === undefined) byPlan.set(digest, new Set([listener]));
      else others.add(listener);
    }
    return () => {
      for (const digest of digests) {
        const others = byPlan.get(digest)!;
        others.delete(listener);
        if (others.size === 0) byPlan.delete(digest);
      }
    };
  }

  return { watch, onPlan };
}

/**
 * Where each request owns its I/O, a stream cannot wait for the reads of another stream. There, each
 * stream has its own hub, and finds all changes by its own ticks.
 *
 * @param interval as in `createWatchHub`
 */
export function createHubPerStream<TName extends string>(
  limiter: WatchSource<TName>,
  interval: number,
): ReturnType<typeof createWatchHub<TName>> {
  const source: WatchSource<TName> = { ...limiter, onChange: () => () => {} };
  return {
    watch: (...watch) => createWatchHub(source, interval).watch(...watch),
    onPlan: () => () => {},
  };
}

type EntryId = Pick<WatchItem<string>, "name" | "key" | "plan">;

function entryIdOf({ name, key, plan = "" }: EntryId): string {
  return `${bucketId(name, key)}\0${plan}`;
}

/**
 * Whether a reader of `before` already predicts `after`, for the sum of the shards and for each shard.
 */
function agree(before: RateLimitSnapshot, after: RateLimitSnapshot): boolean {
  const { config, now } = after;
  // An override may have come or gone, and it can name another plan.
  if (before.plan !== after.plan) return false;
  if (before.config !== config && JSON.stringify(before.config) !== JSON.stringify(config))
    return false;
  const part = shardConfig(config);
  return (
    // The instants in `starts` and `lapses` are not calculated from the config. Leases that were renewed
    // end later.
    String(before.config.starts) === String(config.starts) &&
    before.held === after.held &&
    JSON.stringify(before.lapses) === JSON.stringify(after.lapses) &&
    isSame(before, after, config, now) &&
    (after.fullest ?? []).every((state, i) => isSame(before.fullest![i]!, state, part, now))
  );
}

function isSame(a: RateLimitState, b: RateLimitState, config: Bucket, now: number) {
  if (a.value === b.value && a.ts === b.ts) return true;
  const [predicted, actual] = [a, b].map((state) => calculateRateLimit(state, config, now));
  return Math.abs(predicted!.value - actual!.value) < 1e-9 && predicted!.ts === actual!.ts;
}
