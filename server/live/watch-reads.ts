/**
 * When the watched limits are read. All stale limits are read together, and one read at a time.
 *
 * | a read is   | it comes from | when                                           | a limit that changes |
 * | ----------- | ------------- | ---------------------------------------------- | -------------------- |
 * | `none`      | under way     | all limits are read, or the store has failed   | makes a read due     |
 * |             | due           | the last reader has left                       | makes a read due     |
 * | `due`       | none          | a limit changes, or the next tick comes        | is read, too         |
 * |             | under way     | a limit has changed meanwhile                  | is read, too         |
 * |             | under way     | a limit that has no rows any more made it fail | is read, too         |
 * | `under way` | due           | the last read ended 50 ms ago                  | is read after it     |
 */
import { calculateRateLimit, type RateLimitState } from "../../core/calculate.js";
import { type Bucket, shardConfig, type ShownConfig } from "../../core/config.js";
import { keyOption } from "../../core/key-option.js";
import type { RateLimitSnapshot } from "../../core/snapshot.js";
import type { WatchEntries, WatchEntry } from "./watch-entries.js";

/** Ms after a read within which changes wait for the next read, which reads them together. */
const COALESCE = 50;

interface KeyAndPlan {
  key?: string;
  plan?: string | undefined;
}

/** The parts of a limiter that read. */
export interface ReadSource<TName extends string> {
  /** Throws where `snapshots` would reject. Reads no row. */
  configOf(name: TName, options: KeyAndPlan): ShownConfig;
  snapshots(items: readonly (KeyAndPlan & { name: TName })[]): Promise<RateLimitSnapshot<TName>[]>;
}

export class WatchReads<TName extends string> {
  /** Runs while a read is due. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isUnderWay = false;
  /** When the last read ended, by the monotonic clock. */
  #readAt = -Infinity;

  constructor(
    private readonly source: ReadSource<TName>,
    private readonly entries: WatchEntries<TName>,
  ) {}

  /** These limits may have changed. */
  refresh(some: Iterable<WatchEntry<TName>>): void {
    for (const entry of some) entry.stale = true;
    if (this.#isUnderWay || this.#timer !== undefined) return;
    const wait = Math.max(0, this.#readAt + COALESCE - performance.now());
    this.#timer = setTimeout(() => void this.#read(), wait);
  }

  /** Gives up the read that is due. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Reads all stale limits at once. If the store fails, they stay stale until the next read. */
  async #read(): Promise<void> {
    this.#timer = undefined;
    this.#isUnderWay = true;
    const reading = this.#stale();
    for (const entry of reading) entry.stale = false;
    let isNewRead = false;
    try {
      const snapshots = await this.source.snapshots(reading);
      for (const [i, entry] of reading.entries()) show(entry, snapshots[i]!);
      isNewRead = this.#stale().length > 0;
    } catch {
      // A failed read does not end the streams: the readers predict from their last snapshots, and
      // the next tick tries again.
      for (const entry of reading) entry.stale = true;
      // A limit that has no rows any more for its key keeps the other limits from being read. Read them
      // again without it.
      for (const entry of reading) if (this.#isUnreadable(entry)) isNewRead = true;
    }
    this.#readAt = performance.now();
    this.#isUnderWay = false;
    if (isNewRead) this.refresh([]);
  }

  #stale(): WatchEntry<TName>[] {
    return [...this.entries.all()].filter(({ stale, failure }) => stale && !failure);
  }

  /** Whether a limit has no rows to read, because of its key. If so, ends the readers of the limit. */
  #isUnreadable(entry: WatchEntry<TName>): boolean {
    const { name, key, plan } = entry;
    try {
      this.source.configOf(name, { ...keyOption(key), plan });
      return false;
    } catch (error) {
      entry.failure = { error };
      for (const notify of entry.notify) notify();
      return true;
    }
  }
}

/** Notifies the readers of the entry, unless they predict the snapshot already. */
function show<TName extends string>(
  entry: WatchEntry<TName>,
  snapshot: RateLimitSnapshot<TName>,
): void {
  const before = entry.snapshot;
  entry.snapshot = snapshot;
  if (before !== undefined && agree(before, snapshot)) return;
  for (const notify of entry.notify) notify();
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
