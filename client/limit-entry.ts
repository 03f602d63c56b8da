/**
 * What is known of one limit that somebody looks at, and what was last said of it, so that only
 * changes are told.
 */
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { Time } from "./local-clock.js";
import type { RateLimitStatus } from "./observer-types.js";
import { type CheckedRateLimit, predict, predictLeft, predictRefill, take } from "./prediction.js";
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
  /** Whether the server has said anything during this visit. */
  heard: boolean;
  /** Whether the server is being asked about this limit alone. */
  asking: boolean;
  /** Whether it has to be asked once more then. */
  asksAgain: boolean;
  /** What `truth` does not know of yet, in order. */
  debits: Debit[];
  /** `truth` after `debits`. */
  snapshot: RateLimitSnapshot | undefined;
  /** By each count that was asked for; an unchanged answer stays the same object. */
  statuses: Map<number, RateLimitStatus | undefined>;
  left: number | undefined;
  /** When `left` last changed, on the monotonic clock. */
  leftSince: number;
  /** Whether somebody shows `left`, so that it must not change without a word. */
  leftShown: boolean;
  watchers: Set<Watcher>;
}

const OK: RateLimitStatus = { ok: true, retryAt: undefined };
/** How often a refill is shown at most, ms: some limits gain hundreds of tokens a second. */
const LEFT_INTERVAL = 1000;

export function createEntry({ name, key }: RateLimitItem): Entry {
  return {
    item: key === undefined ? { name } : { name, key },
    truth: undefined,
    heard: false,
    asking: false,
    asksAgain: false,
    debits: [],
    snapshot: undefined,
    statuses: new Map(),
    left: undefined,
    leftSince: -Infinity,
    leftShown: false,
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
  entry.snapshot = debits.reduce(
    (snapshot, { at, count }) => snapshot && take(snapshot, at, count),
    entry.truth,
  );
}

/** @param at epoch ms, this machine's. */
export function check(
  { snapshot }: Entry,
  { now, offset }: Time,
  count: number,
  at: number = now,
): CheckedRateLimit | undefined {
  return snapshot && offset !== undefined ? predict(snapshot, offset, at, count) : undefined;
}

export function evaluate(entry: Entry, time: Time, count: number): RateLimitStatus | undefined {
  // A wrong count is thrown at whoever brings it: out of a timer it would stop everybody's news.
  validateCount(count);
  const checked = check(entry, time, count);
  const before = entry.statuses.get(count);
  const status = checked && statusOf(checked, before);
  entry.statuses.set(count, status);
  return status;
}

/** Sets `left` to what it is now. Returns whether it changed. */
export function countLeft(entry: Entry, { now, monotonic, offset }: Time): boolean {
  if (entry.snapshot === undefined || offset === undefined) return false;
  const left = predictLeft(entry.snapshot, offset, now);
  if (left === entry.left) return false;
  entry.left = left;
  entry.leftSince = monotonic;
  return true;
}

/**
 * Looks anew at one limit.
 *
 * @param paced whether time has only passed: then refills keep to their pace.
 * @returns whom the change concerns.
 */
export function lookAnew(entry: Entry, time: Time, paced: boolean): Watcher[] {
  const { statuses, leftSince } = entry;
  const watchers = [...entry.watchers];
  for (const count of statuses.keys()) evaluate(entry, time, count);
  const changed = watchers.filter(({ count, told }) => told !== statuses.get(count));
  for (const watcher of changed) watcher.told = statuses.get(watcher.count);
  // With a status that turns ok goes what is left: nobody shows "0 left" beside it.
  const early = paced && changed.length === 0 && time.monotonic < leftSince + LEFT_INTERVAL;
  const leftChanged = !early && countLeft(entry, time);
  return watchers.filter(
    (watcher) => changed.includes(watcher) || (leftChanged && watcher.wantsLeft()),
  );
}

/** The first instant at which something of this limit that is shown changes. */
export function nextChange(entry: Entry, { now, monotonic, offset }: Time): number {
  let next = Infinity;
  for (const status of entry.statuses.values()) next = Math.min(next, status?.retryAt ?? next);
  entry.leftShown = false;
  for (const watcher of entry.watchers) entry.leftShown ||= watcher.wantsLeft();
  const { snapshot, left, leftSince, leftShown } = entry;
  if (!leftShown || !snapshot || left === undefined || offset === undefined) return next;
  const refill = predictRefill(snapshot, offset, now, left);
  // Counted from its own last change, or other limits' news would put it off for ever.
  return Math.min(next, Math.max(refill, now + leftSince + LEFT_INTERVAL - monotonic));
}

/** @param before what was said last: it stays the same object until that changes. */
export function statusOf({ retryAt }: CheckedRateLimit, before?: RateLimitStatus): RateLimitStatus {
  if (retryAt === undefined) return OK;
  return before?.retryAt === retryAt ? before : { ok: false, retryAt };
}
