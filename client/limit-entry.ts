/** The state of one limit in an observer, and the last status that each watcher got. */
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { Time } from "./clocks.js";
import { availableAt, predictStatus, refillsAt, remainingAt, take } from "./prediction.js";
import { type Debit, UNCHARGED, openDebits } from "./reported-debits.js";
import type { SeenConfigs } from "./stream-config.js";
import type { RateLimitItem, RateLimitStatus } from "./types.js";

export interface Watcher {
  count: number;
  /** The status that the watcher was last notified of. */
  lastStatus: RateLimitStatus | undefined;
  onChange(): void;
  wantsRemaining(): boolean;
}

/** How often a refill is shown at most, ms: some limits gain hundreds of tokens a second. */
const REFILL_INTERVAL = 1000;

export class Entry implements SeenConfigs {
  readonly item: RateLimitItem;
  /** The last snapshot of the server, or one that the cache kept. */
  declare serverSnapshot?: RateLimitSnapshot;
  /** The config of `serverSnapshot`, as text. */
  declare config?: string;
  declare streamed?: string;
  declare reopened?: string | undefined;
  declare opened?: string | undefined;
  /**
   * Server time minus this machine's when the cache got its snapshot, ms. This offset tells the age of
   * that snapshot, and counts for no other limit. `NaN` where nothing was cached.
   */
  cachedOffset = NaN;
  /** The sequence number of `serverSnapshot`, counted over all limits of the observer. */
  sequence = 0;
  /** The sequence number of the last snapshot that no stream brought. */
  answered = 0;
  /** The debits that `serverSnapshot` does not include yet, in order. */
  readonly debits = new Set<Debit>();
  /** The debits in `debits` that no call has claimed. */
  readonly unclaimed = new Set<Debit>();
  declare remaining?: number | undefined;
  /** Whether a watcher shows `remaining`, so that each change needs a notification. */
  declare isShown?: boolean;
  /** The first instant at which something that is shown changes. */
  nextChangeAt = Infinity;
  readonly watchers = new Set<Watcher>();
  /** Why the server refuses to tell about the limit. */
  declare error?: Error | undefined;
  /** `serverSnapshot` after `debits`; `undefined` until it is computed. */
  #snapshot?: RateLimitSnapshot | undefined;
  /** When the server grants a count, on the server's clock, by count. Time alone changes no such instant. */
  readonly #availableAt = new Map<number, number>();
  /** The last status of a count, by count. An unchanged status stays the same object. */
  readonly #statuses = new Map<number, RateLimitStatus>();
  /** When `remaining` last changed. */
  #changedAt = -Infinity;

  constructor({ name, key }: RateLimitItem) {
    this.item = key === undefined ? { name } : { name, key };
  }

  /**
   * @param latest the server's time, if its clock is as far ahead as it can be.
   * @param config `textOf` the snapshot.
   * @param askedAt the sequence number of the question that the snapshot answers; absent without one.
   * @returns whether a call has been charged that the snapshot does not include.
   */
  setServerSnapshot(
    snapshot: RateLimitSnapshot,
    latest: number,
    config: string = textOf(snapshot),
    askedAt?: number,
  ): boolean {
    const isEqual = this.config === config;
    const before = isEqual ? this.serverSnapshot : undefined;
    const open = new Set(openDebits(this.debits, before, snapshot, askedAt));
    // An equal config stays the same object, so that nothing renders because of it.
    this.serverSnapshot =
      isEqual && !snapshot.config.starts
        ? { ...snapshot, config: this.serverSnapshot!.config }
        : snapshot;
    this.config = config;
    let isUnconfirmed = false;
    for (const debit of this.debits) {
      // A debit from the future is dropped: this machine's clock was set back since.
      if (!open.has(debit) || debit.earliest > latest) this.#drop(debit);
      else if (debit.chargedAt < UNCHARGED) isUnconfirmed = true;
    }
    this.#forget();
    return isUnconfirmed;
  }

  /** The server's snapshot after the debits. */
  snapshot(): RateLimitSnapshot | undefined {
    if (!this.#snapshot) {
      this.#snapshot = this.serverSnapshot;
      for (const debit of this.debits) this.#take(debit);
    }
    return this.#snapshot;
  }

  /** Adds a debit to the others without computing the others again, since thousands may be open. */
  addDebit(debit: Debit): void {
    this.snapshot();
    this.#availableAt.clear();
    this.#take(debit);
    this.debits.add(debit);
    this.unclaimed.add(debit);
  }

  /** Drops a debit as if it had never been there. All others are computed again at the next read. */
  giveBack(debit: Debit): void {
    this.#drop(debit);
    this.#forget();
  }

  status({ now, offset }: Time, count: number): RateLimitStatus | undefined {
    // Throw a wrong count at its caller. An error out of a timer would stop every notification.
    validateCount(count);
    const snapshot = this.snapshot();
    if (!snapshot) return undefined;
    const at = this.#availableAt.get(count) ?? availableAt(snapshot, count);
    this.#availableAt.set(count, at);
    const status = predictStatus(at - offset, now, this.#statuses.get(count));
    this.#statuses.set(count, status);
    return status;
  }

  /** Removes a watcher, and forgets the status of its count if no other watcher asks for that count. */
  removeWatcher(watcher: Watcher): void {
    this.watchers.delete(watcher);
    const { count } = watcher;
    if (![...this.watchers].some((other) => other.count === count)) this.#statuses.delete(count);
  }

  recomputeRemaining({ now, offset }: Time): void {
    const snapshot = this.snapshot();
    const remaining = snapshot && remainingAt(snapshot, now + offset);
    // The second condition repairs an instant in the future, where the clock was set back.
    if (remaining === this.remaining && this.#changedAt <= now) return;
    this.remaining = remaining;
    this.#changedAt = now;
  }

  /**
   * Recomputes what is shown of the limit.
   *
   * @param isTimer whether only time has passed: then refills are shown once a second at most.
   * @returns the watchers to notify.
   */
  recompute(time: Time, isTimer: boolean): Watcher[] {
    const { remaining } = this;
    const watchers = [...this.watchers];
    const changed = new Set<Watcher>();
    for (const watcher of watchers) {
      const before = watcher.lastStatus;
      watcher.lastStatus = this.status(time, watcher.count);
      if (watcher.lastStatus !== before) changed.add(watcher);
    }
    // A status that turns ok updates `remaining` too, so that no page shows "0 left" beside it.
    if (!isTimer || changed.size > 0 || time.now >= this.#changedAt + REFILL_INTERVAL) {
      this.recomputeRemaining(time);
    }
    this.isShown = watchers.some((watcher) => watcher.wantsRemaining());
    this.nextChangeAt = Math.min(
      this.#nextRefill(time),
      ...watchers.map(({ lastStatus }) => lastStatus?.retryAt ?? Infinity),
    );
    const isNew = this.remaining !== remaining;
    return watchers.filter((watcher) => {
      return changed.has(watcher) || (isNew && watcher.wantsRemaining());
    });
  }

  /** When `remaining` changes next, if a watcher shows it. */
  #nextRefill({ offset }: Time): number {
    if (!this.isShown || this.remaining === undefined) return Infinity;
    // Count from this limit's own last change: snapshots of other limits must not delay it.
    return Math.max(
      refillsAt(this.snapshot()!, this.remaining) - offset,
      this.#changedAt + REFILL_INTERVAL,
    );
  }

  #take({ at, count }: Debit): void {
    this.#snapshot &&= take(this.#snapshot, at, count);
  }

  #drop(debit: Debit): void {
    this.debits.delete(debit);
    this.unclaimed.delete(debit);
  }

  #forget(): void {
    this.#snapshot = undefined;
    this.#availableAt.clear();
  }
}

/**
 * Names and keys hold no NUL, so no two items share an id. An empty key, which the server refuses, has
 * another id than no key. In `bucketId`, the two are the same.
 */
export function idOf({ name, key }: RateLimitItem): string {
  return key === undefined ? name : `${name}\0${key}`;
}

/**
 * The config of a snapshot, as text. The server writes equal configs alike. A list of windows is left
 * out: it begins with the present window, so it changes although the config does not.
 */
export function textOf({ config }: RateLimitSnapshot): string {
  return JSON.stringify({ ...config, starts: 0 });
}
