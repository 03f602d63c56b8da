/**
 * Seats: where callers stand in the line for the slots of a key. A seat is a row of two numbers:
 *
 * - `value`: minus the ticket of its caller. It turns positive when a slot was handed over to the
 *   caller.
 * - `ts`: when the caller was last heard of. Of a caller who got a slot: the `ts` of that slot's row,
 *   which tells the caller which slot it is.
 *
 * Tickets are instants, so they follow each other. Each has a nonce of 11 bits behind the point. An
 * instant has 41 bits until the year 2039 and 42 until 2109, so both fit in the 53 bits of a double.
 */
import type { RateLimitState } from "../calculate.js";
import type { Bucket } from "../config.js";
import { describe, RateLimitConfigError } from "../errors.js";
import type { ConcurrencyConfig } from "../limit-config.js";
import { MAX_KEY_LENGTH } from "../validate-key.js";
import { ttlOf } from "./slot.js";

/** The most callers that wait in line for the slots of one key. */
export const MAX_SEATS = 100;
/** The longest that a caller in line may be silent, ms: a caller that was killed holds up the line. */
const SEAT_TTL = 5000;

/** Nonces of tickets, after the point. */
const NONCES = 2 ** 11;

const LINE = "trpc-rate-limit:line:";

/** The name of the seats of a limit. */
export function lineName(name: string): string {
  return `${LINE}${name}`;
}

/** @throws RateLimitConfigError when the name of the seats would be too long for a database. */
export function validateLineName(name: string): void {
  const most = MAX_KEY_LENGTH - LINE.length;
  if (name.length <= most) return;
  const message =
    `limits.${name} of kind "concurrency" needs a name of at most ${most} characters, because the ` +
    `rows of its line have a longer one; got ${describe(name)}`;
  throw new RateLimitConfigError(`limits.${name}`, name, { message });
}

/** When a seat says no more than a missing one, for `prune` and for stores that forget rows. */
export function seatBucket(config: ConcurrencyConfig): Bucket {
  const rate = 2 ** 64;
  return { kind: "fixed window", rate, capacity: rate, period: ttlOf(config), start: 0 };
}

/** How long a caller in line may be silent before its seat is free, ms. */
export function seatTtlOf(ttl: number): number {
  return Math.min(ttl, SEAT_TTL);
}

/**
 * The part of a ticket behind the point.
 *
 * @param random from 0 to below 1.
 */
export function ticketFraction(random: number): number {
  return Math.floor(random * NONCES) / NONCES;
}

/** The nonce of a slot that is handed to the caller with this ticket. */
export function nonceOf(ticket: number): number {
  return 1 + Math.round((ticket - Math.floor(ticket)) * NONCES);
}

/** A ticket behind those of the line, without its fraction. */
export function nextTicket(line: readonly (RateLimitState | null)[], now: number): number {
  const last = Math.max(0, ...line.map((row) => Math.floor(Math.abs(row?.value ?? 0))));
  return Math.max(Math.floor(now), last + 1);
}

/** Whether a caller waits in the seat, and was heard of lately. */
export function waits(
  row: RateLimitState | null,
  seatTtl: number,
  now: number,
): row is RateLimitState {
  return row !== null && row.value < 0 && now < row.ts + seatTtl;
}

/** When a seat no longer counts, epoch ms. A seat with a slot counts as long as the slot is held. */
export function seatEnd(
  { value, ts }: RateLimitState,
  { ttl, seatTtl }: { ttl: number; seatTtl: number },
): number {
  return ts + (value < 0 ? seatTtl : ttl);
}
