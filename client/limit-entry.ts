/** The state of one limit in an observer, and the last status that each watcher got. */
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { Time } from "./clocks.js";
import { availableAt, predictStatus, refillsAt, remainingAt, take } from "./prediction.js";
import type { RateLimitItem, RateLimitStatus } from "./types.js";

export interface Watcher {
  count: number;
  /** The status that the watcher was last notified of. */
  lastStatus: RateLimitStatus | undefined;
  onChange(): void;
  wantsRemaining(): boolean;
}

/** Tokens that a call is assumed to have taken. */
export interface Debit {
  /** When, on the server's clock. */
  at: number;
  /** The same, if the server's clock is as far behind as it can be. */
  earliest: number;
  count: number;
  /** Set when the call has been charged, so that every later read includes it. */
  isCharged?: true;
  /** Set when a snapshot from about its time came, which may include the charge or not. */
  isDoubtful?: boolean;
}

export interface Entry {
  item: RateLimitItem;
  /** The last snapshot of the server, or one that the cache kept. */
  serverSnapshot?: RateLimitSnapshot;
  /** The config of `serverSnapshot`, as text. */
  config?: string;
  /** The config that the stream reported last, as text. It may be that of an older context. */
  streamed?: string;
  /** The value of `streamed` because of which the stream was opened anew last. */
  reopened?: string | undefined;
  /**
   * Server time minus this machine's when the cache got its snapshot, ms. It tells the age of that
   * snapshot, and counts for no other limit. `NaN` where nothing was cached.
   */
  cachedOffset: number;
  /** The sequence number of `serverSnapshot`, counted over all limits of the observer. */
  sequence: number;
  /** The debits that `serverSnapshot` does not include yet, in order. */
  debits: Set<Debit>;
  /** Those of `debits` that no call has claimed. */
  unclaimed: Set<Debit>;
  /** `serverSnapshot` after `debits`; `undefined` until {@link snapshotOf} computes it. */
  snapshot?: RateLimitSnapshot | undefined;
  /** By count: when the server grants it, on the server's clock. Time alone does not change it. */
  availableAt: Map<number, number>;
  /** By count: an unchanged status stays the same object. */
  statuses: Map<number, RateLimitStatus>;
  remaining?: number | undefined;
  /** When `remaining` last changed. */
  changedAt: number;
  /** Whether a watcher shows `remaining`, so that each change needs a notification. */
  isShown?: boolean;
  /** The first instant at which something that is shown changes. */
  nextChangeAt: number;
  watchers: Set<Watcher>;
  /** Why the server refuses to tell about the limit. */
  error?: Error | undefined;
}

/** How often a refill is shown at most, ms: some limits gain hundreds of tokens a second. */
const REFILL_INTERVAL = 1000;

export function createEntry({ name, key }: RateLimitItem): Entry {
  return {
    item: key === undefined ? { name } : { name, key },
    cachedOffset: NaN,
    sequence: 0,
    debits: new Set(),
    unclaimed: new Set(),
    availableAt: new Map(),
    statuses: new Map(),
    changedAt: -Infinity,
    nextChangeAt: Infinity,
    watchers: new Set(),
  };
}

/** Names and keys hold no NUL, so no two items share an id. */
export function idOf({ name, key }: RateLimitItem): string {
  return key === undefined ? name : `${name}\0${key}`;
}

/** The config of a snapshot, as text. The server writes equal configs alike. */
export function textOf({ config }: RateLimitSnapshot): string {
  return JSON.stringify(config);
}

/**
 * @param serverNow the server's time, as far as is known.
 * @param config `textOf` the snapshot.
 * @returns whether a call has been charged that the snapshot is too old for.
 */
export function setServerSnapshot(
  entry: Entry,
  snapshot: RateLimitSnapshot,
  serverNow: number,
  config: string = textOf(snapshot),
): boolean {
  // An equal config stays the same object, so that nothing renders because of it.
  entry.serverSnapshot =
    entry.config === config ? { ...snapshot, config: entry.serverSnapshot!.config } : snapshot;
  entry.config = config;
  let isUnconfirmed = false;
  for (const debit of entry.debits) {
    const { at, earliest, isCharged } = debit;
    const isOlder = snapshot.now < earliest;
    if (!isOlder) debit.isDoubtful = true;
    else if (isCharged) isUnconfirmed = true;
    // Keep a debit that is newer than the snapshot. Drop a debit from the future: its clock was set
    // back since.
    const isNewer = isCharged ? isOlder : at > snapshot.now;
    if (!isNewer || at > serverNow) drop(entry, debit);
  }
  forget(entry);
  return isUnconfirmed;
}

/** The server's snapshot after the debits. */
export function snapshotOf(entry: Entry): RateLimitSnapshot | undefined {
  if (!entry.snapshot) {
    entry.snapshot = entry.serverSnapshot;
    for (const debit of entry.debits) takeDebit(entry, debit);
  }
  return entry.snapshot;
}

function takeDebit(entry: Entry, { at, count }: Debit): void {
  entry.snapshot &&= take(entry.snapshot, at, count);
}

/** Adds one to the others without computing those again, since thousands may be open. */
export function addDebit(entry: Entry, debit: Debit): void {
  snapshotOf(entry);
  entry.availableAt.clear();
  takeDebit(entry, debit);
  entry.debits.add(debit);
  entry.unclaimed.add(debit);
}

/** Drops a debit as if it had never been there. All others are computed again at the next read. */
export function giveBack(entry: Entry, debit: Debit): void {
  drop(entry, debit);
  forget(entry);
}

function drop({ debits, unclaimed }: Entry, debit: Debit): void {
  debits.delete(debit);
  unclaimed.delete(debit);
}

function forget(entry: Entry): void {
  entry.snapshot = undefined;
  entry.availableAt.clear();
}

export function statusOf(entry: Entry, time: Time, count: number): RateLimitStatus | undefined {
  // Throw a wrong count at its caller. Thrown out of a timer, it would stop every notification.
  validateCount(count);
  const { availableAt: instants, statuses } = entry;
  const snapshot = snapshotOf(entry);
  if (!snapshot) return undefined;
  if (!instants.has(count)) instants.set(count, availableAt(snapshot, count));
  const { now, offset } = time;
  const status = predictStatus(instants.get(count)! - offset, now, statuses.get(count));
  statuses.set(count, status);
  return status;
}

export function recomputeRemaining(entry: Entry, { now, offset }: Time): void {
  const snapshot = snapshotOf(entry);
  const remaining = snapshot && remainingAt(snapshot, now + offset);
  // The second condition repairs an instant in the future, where the clock was set back.
  if (remaining === entry.remaining && entry.changedAt <= now) return;
  entry.remaining = remaining;
  entry.changedAt = now;
}

/**
 * Recomputes what is shown of one limit.
 *
 * @param isTimer whether only time has passed: then refills are shown once a second at most.
 * @returns the watchers to notify.
 */
export function recompute(entry: Entry, time: Time, isTimer: boolean): Watcher[] {
  const { remaining, changedAt } = entry;
  const watchers = [...entry.watchers];
  const changed = new Set<Watcher>();
  for (const watcher of watchers) {
    const before = watcher.lastStatus;
    watcher.lastStatus = statusOf(entry, time, watcher.count);
    if (watcher.lastStatus !== before) changed.add(watcher);
  }
  // A status that turns ok updates `remaining` too, so that no page shows "0 left" beside it.
  if (!isTimer || changed.size > 0 || time.now >= changedAt + REFILL_INTERVAL) {
    recomputeRemaining(entry, time);
  }
  entry.isShown = watchers.some((watcher) => watcher.wantsRemaining());
  entry.nextChangeAt = Math.min(
    nextRefill(entry, time),
    ...watchers.map(({ lastStatus }) => lastStatus?.retryAt ?? Infinity),
  );
  const isNew = entry.remaining !== remaining;
  return watchers.filter((watcher) => changed.has(watcher) || (isNew && watcher.wantsRemaining()));
}

/** When `remaining` changes next, if a watcher shows it. */
function nextRefill(entry: Entry, { offset }: Time): number {
  const { remaining } = entry;
  if (!entry.isShown || remaining === undefined) return Infinity;
  // Count from this limit's own last change: snapshots of other limits must not delay it.
  return Math.max(
    refillsAt(snapshotOf(entry)!, remaining) - offset,
    entry.changedAt + REFILL_INTERVAL,
  );
}
