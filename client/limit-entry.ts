/**
 * What is known of one limit that somebody looks at, and what was last said of it, so that only
 * changes are told. The instants passed in are this machine's; `offset` is the server's lead.
 */
import type { RateLimitConfig } from "../core/config.js";
import { validateCount } from "../core/count.js";
import type { RateLimitSnapshot } from "../core/snapshot.js";
import type { RateLimitStatus } from "./observer-types.js";
import { type CheckedRateLimit, predict, predictLeft, predictRefill } from "./prediction.js";
import type { RateLimitItem } from "./transport.js";

export interface Watcher {
  count: number;
  onChange(): void;
  wantsLeft(): boolean;
}

export interface Entry {
  item: RateLimitItem;
  snapshot: RateLimitSnapshot | undefined;
  /** When `snapshot` arrived. */
  receivedAt: number;
  /** By each count that was asked for; an unchanged answer stays the same object. */
  statuses: Map<number, RateLimitStatus | undefined>;
  left: number | undefined;
  /** When `left` last changed. */
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
    snapshot: undefined,
    receivedAt: -Infinity,
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

export function setSnapshot(entry: Entry, snapshot: RateLimitSnapshot, receivedAt: number): void {
  const known = entry.snapshot?.config;
  // An equal config stays the same object, so that nothing renders for its sake.
  const config = known && sameConfig(known, snapshot.config) ? known : snapshot.config;
  entry.snapshot = { ...snapshot, config };
  entry.receivedAt = receivedAt;
}

export function check(
  { snapshot }: Entry,
  offset: number | undefined,
  at: number,
  count: number,
): CheckedRateLimit | undefined {
  return snapshot && offset !== undefined ? predict(snapshot, offset, at, count) : undefined;
}

export function evaluate(
  entry: Entry,
  offset: number | undefined,
  now: number,
  count: number,
): RateLimitStatus | undefined {
  // A wrong count is thrown at whoever brings it: out of a timer it would stop everybody's news.
  validateCount(count);
  const checked = check(entry, offset, now, count);
  const before = entry.statuses.get(count);
  const status = checked && statusOf(checked, before);
  entry.statuses.set(count, status);
  return status;
}

/** Sets `left` to what it is now. Returns whether it changed. */
export function countLeft(entry: Entry, offset: number | undefined, now: number): boolean {
  if (entry.snapshot === undefined || offset === undefined) return false;
  const left = predictLeft(entry.snapshot, offset, now);
  if (left === entry.left) return false;
  entry.left = left;
  entry.leftSince = now;
  return true;
}

/**
 * Looks anew at one limit.
 *
 * @param paced whether time has only passed: then refills keep to their pace.
 * @returns whom the change concerns.
 */
export function lookAnew(
  entry: Entry,
  offset: number | undefined,
  now: number,
  paced: boolean,
): Watcher[] {
  const changed = new Set<number>();
  for (const [count, before] of entry.statuses) {
    if (evaluate(entry, offset, now, count) !== before) changed.add(count);
  }
  // With a status that turns ok goes what is left: nobody shows "0 left" beside it.
  const early = paced && changed.size === 0 && now < entry.leftSince + LEFT_INTERVAL;
  const leftChanged = !early && countLeft(entry, offset, now);
  return [...entry.watchers].filter(
    ({ count, wantsLeft }) => changed.has(count) || (leftChanged && wantsLeft()),
  );
}

/** The first instant at which something of this limit that is shown changes. */
export function nextChange(entry: Entry, offset: number | undefined, now: number): number {
  let next = Infinity;
  for (const status of entry.statuses.values()) next = Math.min(next, status?.retryAt ?? next);
  entry.leftShown = false;
  for (const watcher of entry.watchers) entry.leftShown ||= watcher.wantsLeft();
  const { snapshot, left, leftSince, leftShown } = entry;
  if (!leftShown || !snapshot || left === undefined || offset === undefined) return next;
  const refill = predictRefill(snapshot, offset, now, left);
  // Counted from its own last change, or other limits' news would put it off for ever.
  return Math.min(next, Math.max(refill, leftSince + LEFT_INTERVAL));
}

function statusOf(
  { retryAt }: CheckedRateLimit,
  before: RateLimitStatus | undefined,
): RateLimitStatus {
  if (retryAt === undefined) return OK;
  return before?.retryAt === retryAt ? before : { ok: false, retryAt };
}

function sameConfig(a: RateLimitConfig, b: RateLimitConfig): boolean {
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([option, value]) => right.get(option) === value);
}
