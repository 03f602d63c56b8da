/**
 * Slots: how many calls may run at a time. A slot is a row of two numbers, like a bucket of one token
 * that is full again after its `ttl`. Its holder writes the row again and again, so the row only fills
 * when the holder has died. The row has the name of its limit.
 *
 * - `ts`: when the holder last wrote the row. The slot is free a `ttl` later.
 * - `used`: a debt, which is minus the sum of three numbers. Each number has bits of its own, 51
 *   together. A double has 53, so the sum is exact, and no part of it can be taken for another part.
 *   - 2^-40 to 2^-11: the nonce of the holder. It tells two holders of one instant apart, and is the same
 *     for all calls that give the same id. In a slot that was handed over, it is at most 2^11.
 *   - 2^-10 to 2^9: the `ttl` of the holder in units of 1024 ms, and {@link OF_TTL}, together at most
 *     602. So callers whose config has another `ttl` wait by the holder's `ttl`. A slot that was handed
 *     over in line lacks this number. Its `ttl` is that of the reader.
 *   - 2^10, which is 1024: callers wait in line.
 *
 * With the second or the third number, the bucket takes longer to fill than any `ttl`. So a statement that
 * takes tokens by itself never takes the slot of a dead holder, nor a slot for which callers wait. Only a
 * decision that reads the row takes such a slot.
 *
 * No row, and a row that owes nothing, is a free slot.
 */
import type { ShownWindow } from "../config.js";
import type { ConcurrencyConfig, TokenBucketConfig } from "../limit-config.js";
import type { Row } from "./row.js";

/** How long a slot stays held after its holder was last heard of, ms. */
export const DEFAULT_SLOT_TTL = 30_000;
/** The longest `ttl`, ms. Below 2^20 ms, a millionth of the token is refilled in about one ms. */
export const MOST_SLOT_TTL = 600_000;

/** Nonces are whole, from 1 to this. */
export const MAX_NONCE = 2 ** 30 - 1;
/** The part of `used` that a nonce of 1 adds. */
const UNIT = 2 ** -40;
const IN_LINE = 1024;
/** The part of `used` that a ms of the `ttl` adds. */
const UNIT_OF_TTL = 2 ** -10;
/**
 * With this much added, a bucket of the shortest `ttl` takes longer to fill than any `ttl` takes to end:
 * (1 + 16 + 600,000 / 1024) × 1 s is above 600 s.
 */
const OF_TTL = 16;

/** How long the slots of a limit stay held after their holder was last heard of, ms. */
export function ttlOf({ ttl = DEFAULT_SLOT_TTL }: ConcurrencyConfig): number {
  return ttl;
}

/** One slot as a bucket, for stores that take tokens by themselves and for pruning. */
export function slotBucket(config: ConcurrencyConfig): TokenBucketConfig & { period: number } {
  return { kind: "token bucket", rate: 1, period: ttlOf(config) + 1, capacity: 1 };
}

/** The `used` that a holder writes. */
export function heldValue(nonce: number, ttl: number): number {
  return -nonce * UNIT - OF_TTL - ttl * UNIT_OF_TTL;
}

/** The `used` of a slot that was handed to a caller in line. That caller then writes its own. */
export function handedValue(nonce: number): number {
  return -nonce * UNIT;
}

/** The same `used`, with the mark that callers wait in line. */
export function inLine(value: number): number {
  return value - IN_LINE;
}

/** The `ttl` by which a row is held, ms; `undefined` where the row does not say it. */
function ttlIn({ used }: Row): number | undefined {
  const units = Math.floor((-used % IN_LINE) / UNIT_OF_TTL);
  const ttl = units - OF_TTL / UNIT_OF_TTL;
  return ttl > 0 ? ttl : undefined;
}

/** Whether the row says that callers wait, or have waited, for the slots of its limit. */
export function isMarked(row: Row | null): boolean {
  return row !== null && row.used <= -IN_LINE;
}

/** Whether the row is held under this number. All calls that give the same id share a number. */
export function isHeldAs(row: Row | null, value: number, ttl: number, now: number): row is Row {
  if (row === null || isFree(row, ttl, now)) return false;
  return row.used === (isMarked(row) ? inLine(value) : value);
}

/** Whether the row was last written by the holder of this number, at one of these instants. */
export function isHolder(row: Row | null, value: number, writtenAt: readonly number[]): row is Row {
  return (
    row !== null &&
    row.used === (isMarked(row) ? inLine(value) : value) &&
    writtenAt.includes(row.ts)
  );
}

/**
 * When the slot is free, epoch ms. `-Infinity` where no caller has the slot.
 *
 * @param ttl the `ttl` of a row that does not say its own, ms.
 */
export function freeAt(row: Row | null, ttl: number): number {
  if (row === null || row.used >= 0 || row.used === -IN_LINE) return -Infinity;
  return row.ts + (ttlIn(row) ?? ttl);
}

export function isFree(row: Row | null, ttl: number, now: number): boolean {
  return now >= freeAt(row, ttl);
}

/** The row with the mark that callers wait. A free slot stays free, but no plain take gets it. */
export function marked(row: Row | null, ttl: number, now: number): Row {
  if (isFree(row, ttl, now)) return { used: -IN_LINE, ts: now - ttl };
  return isMarked(row) ? row! : { used: inLine(row!.used), ts: row!.ts };
}

/** The slots of one key, as they are at one instant. */
export interface SlotsHeld {
  /** How many the caller may still enter. */
  value: number;
  /** When a holder last wrote one of the held slots, epoch ms; 0 where none is held. */
  ts: number;
  /**
   * When each of these slots can be entered if no holder renews, whole epoch ms, ascending. Where a larger
   * plan holds more slots than the caller's plan has, the first ends bring the caller nothing: with 3 held
   * and 1 allowed, only the third end is here.
   */
  ends: number[];
}

/**
 * @param rows of the slots that the caller's plan has, and of the slots that only larger plans have.
 * @param slots how many the caller's plan has.
 */
export function slotsHeld(
  rows: readonly (Row | null)[],
  ttl: number,
  now: number,
  slots: number,
): SlotsHeld {
  const held = rows.filter((row) => row !== null && !isFree(row, ttl, now));
  const ends = held.map((row) => Math.ceil(freeAt(row, ttl))).sort((a, b) => a - b);
  return {
    value: Math.max(0, slots - held.length),
    ts: Math.max(0, ...held.map((row) => row!.ts)),
    ends: ends.slice(Math.max(0, held.length - slots)),
  };
}

/**
 * The slots as windows that each bring one token: the config with which a page predicts when the next
 * slot can be free.
 */
export function slotsConfig(
  config: ConcurrencyConfig,
  ends: readonly number[],
): ShownWindow & { period: number } {
  const { slots } = config;
  return {
    kind: "fixed window",
    rate: 1,
    period: ttlOf(config),
    capacity: slots,
    starts: ends,
    slots,
  };
}

/** Whole ms, above 0, until the next of the slots is free if its holder does not renew it. */
export function waitForSlot(ends: readonly number[], ttl: number, now: number): number {
  return Math.max(1, Math.ceil((ends[0] ?? now + ttl) - now));
}
