/**
 * What is known of one limit that somebody looks at, and what was last said of it, so that only
 * changes are told.
 */
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import {
  leftAt,
  opensAt,
  predictStatus,
  type RateLimitStatus,
  refillsAt,
  take,
} from "./prediction.js";
import type { Time } from "./server-clock.js";
import type { RateLimitItem } from "./transport.js";

export interface Watcher {
  count: number;
  /** The status that it knows of. */
  told: RateLimitStatus | undefined;
  onChange(): void;
  wantsLeft(): boolean;
}

/** Tokens that a call is assumed to have taken, at an instant of the server's. */
export interface Debit {
  at: number;
  count: number;
  /** Whether the call has been answered, so that whatever is read later knows of it. */
  isCharged: boolean;
  /** Whether a call has been sent that it stands for. */
  isSent: boolean;
}

export interface Entry {
  item: RateLimitItem;
  /** What the server said last, or an earlier visit left behind. */
  truth: RateLimitSnapshot | undefined;
  /** The number of the last news of it, of all that the observer got. */
  news: number;
  /** What `truth` does not know of yet, in order. */
  debits: Debit[];
  /** `truth` after `debits`. */
  snapshot: RateLimitSnapshot | undefined;
  /** By each count, when the server grants it, by its clock: that is the same at every instant. */
  opens: Map<number, number>;
  /** By each count that was asked for; an unchanged answer stays the same object. */
  statuses: Map<number, RateLimitStatus>;
  left: number | undefined;
  /** When `left` last changed. */
  leftSince: number;
  /** Whether somebody shows `left`, so that it must not change without a word. */
  isLeftShown: boolean;
  /** The first instant at which something that is shown changes. */
  due: number;
  watchers: Set<Watcher>;
}

/** How often a refill is shown at most, ms: some limits gain hundreds of tokens a second. */
const LEFT_INTERVAL = 1000;

export function createEntry({ name, key }: RateLimitItem): Entry {
  return {
    item: key === undefined ? { name } : { name, key },
    truth: undefined,
    news: 0,
    debits: [],
    snapshot: undefined,
    opens: new Map(),
    statuses: new Map(),
    left: undefined,
    leftSince: -Infinity,
    isLeftShown: false,
    due: Infinity,
    watchers: new Set(),
  };
}

/** Names and keys hold no NUL, so no two items share an id. */
export function idOf({ name, key }: RateLimitItem): string {
  return key === undefined ? name : `${name}\0${key}`;
}

/** @param serverNow what time the server has, as far as is known. */
export function setTruth(entry: Entry, snapshot: RateLimitSnapshot, serverNow: number): void {
  const known = entry.truth?.config;
  // An equal config stays the same object, so that nothing renders for its sake.
  const isSame = JSON.stringify(known) === JSON.stringify(snapshot.config);
  entry.truth = isSame ? { ...snapshot, config: known! } : snapshot;
  // A debit outlives news that was read before it; one from the future is of a clock since set back.
  setDebits(
    entry,
    entry.debits.filter(({ at, isCharged }) => !isCharged && at > snapshot.now && at <= serverNow),
  );
}

export function setDebits(entry: Entry, debits: Debit[]): void {
  entry.debits = debits;
  entry.opens.clear();
  entry.snapshot = debits.reduce(
    (snapshot, { at, count }) => snapshot && take(snapshot, at, count),
    entry.truth,
  );
}

export function statusOf(entry: Entry, time: Time, count: number): RateLimitStatus | undefined {
  // A wrong count is thrown at whoever brings it: out of a timer it would stop everybody's news.
  validateCount(count);
  const { snapshot, opens, statuses } = entry;
  if (!snapshot) return undefined;
  if (!opens.has(count)) opens.set(count, opensAt(snapshot, count));
  const { now, offset } = time;
  const status = predictStatus(opens.get(count)! - offset, now, statuses.get(count));
  statuses.set(count, status);
  return status;
}

/** Sets `left` to what it is now. */
export function countLeft(entry: Entry, { now, offset }: Time): void {
  const left = entry.snapshot && leftAt(entry.snapshot, now + offset);
  // Refills would keep their pace from an instant to come, where the clock was set back.
  if (left === entry.left && entry.leftSince <= now) return;
  entry.left = left;
  entry.leftSince = now;
}

/**
 * Looks anew at one limit.
 *
 * @param paced whether time has only passed: then refills keep to their pace.
 * @returns whom the change concerns.
 */
export function lookAnew(entry: Entry, time: Time, paced: boolean): Watcher[] {
  const { left, leftSince } = entry;
  const watchers = [...entry.watchers];
  const turned = watchers.filter((watcher) => {
    const before = watcher.told;
    watcher.told = statusOf(entry, time, watcher.count);
    return watcher.told !== before;
  });
  // With a status that turns ok goes what is left: nobody shows "0 left" beside it.
  if (!paced || turned.length > 0 || time.now >= leftSince + LEFT_INTERVAL) countLeft(entry, time);
  entry.isLeftShown = watchers.some((watcher) => watcher.wantsLeft());
  entry.due = Math.min(
    nextRefill(entry, time),
    ...watchers.map(({ told }) => told?.retryAt ?? Infinity),
  );
  if (entry.left === left) return turned;
  return watchers.filter((watcher) => turned.includes(watcher) || watcher.wantsLeft());
}

/** When `left` is next to change, if anybody shows it. */
function nextRefill({ snapshot, left, leftSince, isLeftShown }: Entry, { offset }: Time): number {
  if (!isLeftShown || !snapshot || left === undefined) return Infinity;
  // Counted from its own last change, or other limits' news would put it off for ever.
  return Math.max(refillsAt(snapshot, left) - offset, leftSince + LEFT_INTERVAL);
}
