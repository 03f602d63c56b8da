/**
 * Slots: how many calls may run at a time. A slot is a row of two numbers, like a bucket of one token
 * that is full again after its lease. Its holder writes the row again and again, so the row only fills
 * when the holder has died.
 *
 * - `ts`: when the holder last wrote the row. The slot is free `lease` ms later.
 * - `value`: minus a tiny number, the nonce of the holder. It tells two holders of one instant apart.
 *   Where callers wait in line, it is 1024 less. The bucket then takes 1024 leases to fill, so a
 *   statement that takes tokens by itself never takes a slot from those who wait.
 *
 * No row, and a row with tokens, is a free slot.
 */
import type { RateLimitState } from "./calculate.js";
import type { ConcurrencyConfig, FixedWindowConfig, TokenBucketConfig } from "./config.js";

/** How long a slot stays held after its holder was last heard of, ms. */
export const DEFAULT_SLOT_LEASE = 30_000;
/** The longest lease, ms. Below 2^20, a bucket that lacks a millionth of its token lacks less than one ms. */
export const MOST_SLOT_LEASE = 600_000;

/** Nonces are whole, from 1 to this. */
export const MAX_NONCE = 2 ** 20 - 1;
/** The value of one nonce. A nonce less 1024 is still exact in a double. */
const UNIT = 2 ** -40;
const IN_LINE = 1024;

/** The least that entering may leave in a row: minus the largest nonce. */
export const SLOT_FLOOR = -(2 ** -20);

/** The lease of a limit of slots, ms. */
export function leaseOf({ lease }: ConcurrencyConfig): number {
  return lease?.ms ?? DEFAULT_SLOT_LEASE;
}

/**
 * One slot as a bucket, for stores that take tokens by themselves and for pruning. It fills in one ms
 * more than the lease: {@link SLOT_FLOOR} lets a millionth of a token be missing, and no slot may be
 * taken before its lease has ended.
 */
export function slotBucket(config: ConcurrencyConfig): TokenBucketConfig & { period: number } {
  return { kind: "token bucket", rate: 1, period: leaseOf(config) + 1, capacity: 1 };
}

/** The tokens to take from a free slot, so that its row then names the holder. */
export function tokensToEnter(nonce: number): number {
  return 1 + nonce * UNIT;
}

/**
 * The nonce of the holder that a plain take has let in. It is a little more than the caller's own where
 * the slot was that of a dead holder, in the ms in which it was full but for that holder's nonce. So
 * the row says it, and not the caller.
 *
 * @param value what the take has left.
 */
export function nonceOfTake(value: number): number {
  return -value / UNIT;
}

/** The `value` of a held slot. */
export function heldValue(nonce: number, isInLine: boolean): number {
  return -nonce * UNIT - (isInLine ? IN_LINE : 0);
}

/** Whether the row says that callers wait, or have waited, for the slots of its limit. */
export function isMarked(row: RateLimitState | null): boolean {
  return row !== null && row.value <= -IN_LINE / 2;
}

/** Whether the row was last written by the holder of this nonce, at one of these instants. */
export function isHolder(
  row: RateLimitState | null,
  nonce: number,
  writtenAt: readonly number[],
): row is RateLimitState {
  return (
    row !== null && row.value === heldValue(nonce, isMarked(row)) && writtenAt.includes(row.ts)
  );
}

/** When the slot is free, epoch ms. `-Infinity` where no caller has it. */
export function freeAt(row: RateLimitState | null, lease: number): number {
  return row === null || row.value > 0 ? -Infinity : row.ts + lease;
}

export function isFree(row: RateLimitState | null, lease: number, now: number): boolean {
  return now >= freeAt(row, lease);
}

/** The row with the mark that callers wait. A slot that is free stays so, but not for a plain take. */
export function marked(row: RateLimitState | null, lease: number, now: number): RateLimitState {
  if (isFree(row, lease, now)) return { value: -IN_LINE, ts: now - lease };
  return isMarked(row) ? row! : { value: row!.value - IN_LINE, ts: row!.ts };
}

/** The slots of one key, as they are at one instant. */
export interface SlotsHeld {
  /** How many are free. */
  value: number;
  /** When a holder last wrote one of them, epoch ms; 0 where none is held. It only changes with them. */
  ts: number;
  /** When the leases of those that are held end, whole epoch ms, ascending. */
  ends: number[];
}

export function slotsHeld(
  rows: readonly (RateLimitState | null)[],
  lease: number,
  now: number,
): SlotsHeld {
  const held = rows.filter((row) => row !== null && !isFree(row, lease, now));
  const ends = held.map((row) => Math.ceil(row!.ts + lease)).sort((a, b) => a - b);
  return {
    value: rows.length - held.length,
    ts: Math.max(0, ...held.map((row) => row!.ts)),
    ends,
  };
}

/**
 * The slots as windows that each bring one token: the config with which a page predicts when the next
 * slot can be free.
 */
export function slotsConfig(
  config: ConcurrencyConfig,
  ends: readonly number[],
): FixedWindowConfig & { period: number } {
  const { slots } = config;
  return {
    kind: "fixed window",
    rate: 1,
    period: leaseOf(config),
    capacity: slots,
    starts: ends,
    slots,
  };
}

/** Whole ms, above 0, until the next of the leases ends. */
export function waitForSlot(ends: readonly number[], lease: number, now: number): number {
  return Math.max(1, Math.ceil((ends[0] ?? now + lease) - now));
}
