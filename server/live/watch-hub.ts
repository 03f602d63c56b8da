/**
 * Live status for many readers at little cost. Each watched limit is read once for all its readers with
 * the same key and the same plan. A limit is read right after a change by this process. All limits are
 * read together once per tick, for changes by other processes. Nothing is read while there is no reader.
 *
 * A slow reader misses intermediate states and never the last one.
 */
import { MAX_TIMEOUT } from "../../core/durations.js";
import { keyOption } from "../../core/key-option.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { ChangeListener } from "../changes/change-channel.js";
import { OVERRIDES_DIGEST } from "../changes/overrides-digest.js";
import { planDigest } from "../changes/plan-digest.js";
import { WatchEntries, type WatchEntry, type WatchItem } from "./watch-entries.js";
import { type ReadSource, WatchReads } from "./watch-reads.js";

/** The parts of a limiter that the hub needs. */
export interface WatchSource<TName extends string> extends ReadSource<TName> {
  clock(): number;
  onChange(listener: ChangeListener): () => void;
}

export interface WatchHub<TName extends string> {
  /**
   * Yields a snapshot of each item at once, and a new snapshot after each change. Throws the error of
   * `configOf` for an item that cannot be read.
   */
  watch(
    items: readonly WatchItem<TName>[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RateLimitSnapshot<TName>, void, undefined>;
  /**
   * Calls `listener` when the plan of one of these keys may have changed, as long as there are readers.
   * Returns a function that removes `listener`.
   */
  onPlan(items: readonly WatchItem<TName>[], listener: () => void): () => void;
}

/** @param interval ms between two reads for the changes of other processes. */
export function createWatchHub<TName extends string>(
  limiter: WatchSource<TName>,
  interval: number,
): WatchHub<TName> {
  return new SharedHub(limiter, interval);
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
): WatchHub<TName> {
  const source: WatchSource<TName> = { ...limiter, onChange: () => () => {} };
  return {
    watch: (...watch) => new SharedHub(source, interval).watch(...watch),
    onPlan: () => () => {},
  };
}

/** An item that a reader follows, and its entry. */
interface Followed<TName extends string> {
  item: WatchItem<TName>;
  entry: WatchEntry<TName>;
  notify: () => void;
}

class SharedHub<TName extends string> implements WatchHub<TName> {
  readonly #entries = new WatchEntries<TName>();
  readonly #reads: WatchReads<TName>;
  /** The listeners to call when the plan of a key may have changed, by `planDigest`. */
  readonly #byPlan = new Map<string, Set<() => void>>();
  /** Ends the ticks. `undefined` while there is no reader. */
  #stop: (() => void) | undefined;

  constructor(
    private readonly limiter: WatchSource<TName>,
    private readonly interval: number,
  ) {
    this.#reads = new WatchReads(limiter, this.#entries);
  }

  async *watch(
    items: readonly WatchItem<TName>[],
    signal: AbortSignal | undefined,
  ): AsyncGenerator<RateLimitSnapshot<TName>, void, undefined> {
    // Check the items before they are followed: an item that cannot be read would fail the read of all
    // items.
    for (const { name, key, plan } of items) {
      this.limiter.configOf(name, { ...keyOption(key), plan });
    }
    const pending = new Set<WatchItem<TName>>();
    let wake: () => void = () => {};
    const followed = items.map((item): Followed<TName> => {
      const notify = () => {
        pending.add(item);
        wake();
      };
      return { item, notify, entry: this.#entries.addReader(item, notify) };
    });
    const onAbort = () => wake();
    signal?.addEventListener("abort", onAbort);
    try {
      this.#stop ??= this.#start();
      // Read again for each new reader: another process may have made a change since the last tick.
      this.#reads.refresh(followed.map(({ entry }) => entry));
      for (const { item, entry } of followed) if (entry.snapshot !== undefined) pending.add(item);
      while (!signal?.aborted) {
        const [item] = pending;
        if (item === undefined) {
          await new Promise<void>((resolve) => (wake = resolve));
          continue;
        }
        pending.delete(item);
        const { snapshot, failure } = this.#entries.of(item);
        if (failure !== undefined) throw failure.error;
        if (snapshot === undefined) continue;
        const { requested: key } = item;
        // Send the `now` of this moment: the state is still true, and a newer `now` is a better sample of
        // the clock.
        yield { ...snapshot, ...(key !== undefined && { key }), now: this.limiter.clock() };
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#leave(followed);
    }
  }

  onPlan(items: readonly WatchItem<TName>[], listener: () => void): () => void {
    const digests = new Set(items.map(({ key }) => planDigest(key)));
    for (const digest of digests) {
      const others = this.#byPlan.get(digest);
      if (others === undefined) this.#byPlan.set(digest, new Set([listener]));
      else others.add(listener);
    }
    return () => {
      for (const digest of digests) {
        const others = this.#byPlan.get(digest)!;
        others.delete(listener);
        if (others.size === 0) this.#byPlan.delete(digest);
      }
    };
  }

  #start(): () => void {
    const unsubscribe = this.limiter.onChange((digest) => this.#changed(digest));
    const pause = Math.min(this.interval, MAX_TIMEOUT);
    const ticker = setInterval(() => this.#reads.refresh(this.#entries.all()), pause);
    return () => {
      unsubscribe();
      clearInterval(ticker);
      this.#reads.stop();
    };
  }

  #changed(digest: string): void {
    // An override can concern all keys, and it is not known yet which limits it changes.
    const isOverride = digest === OVERRIDES_DIGEST;
    const changed = isOverride ? this.#entries.all() : this.#entries.changedBy(digest);
    if (changed !== undefined) this.#reads.refresh(changed);
    for (const listener of this.#byPlan.get(digest) ?? []) listener();
  }

  #leave(followed: readonly Followed<TName>[]): void {
    for (const { entry, notify } of followed) this.#entries.removeReader(entry, notify);
    if (!this.#entries.isEmpty) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
