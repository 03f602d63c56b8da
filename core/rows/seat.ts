/**
 * Seats: where callers stand in the line for the slots of a key. A seat is a row of two numbers:
 *
 * - `used`: minus the ticket of the seat's caller. `used` turns positive when a slot was handed over to
 *   the caller.
 * - `ts`: when the caller was last heard of. Of a caller who got a slot: the `ts` of that slot's row,
 *   which tells the caller which slot it is.
 *
 * Tickets are instants, so they follow each other. Each ticket has a nonce of 11 bits behind the point. An
 * instant has 41 bits until the year 2039 and 42 until 2109, so both fit in the 53 bits of a double.
 */
import type { Bucket } from "../config.js";
import type { ConcurrencyConfig } from "../limit-config.js";
import type { Row } from "./row.js";
import { fullAfter, RESERVED_PREFIX, type SideRows } from "./side-rows.js";
import { ttlOf } from "./slot.js";

/** The most callers that wait in line for the slots of one key. */
export const MAX_SEATS = 100;
/** The longest that a caller in line may be silent, ms: a caller that was killed holds up the line. */
const SEAT_TTL = 5000;

/** Nonces of tickets, after the point. */
const NONCES = 2 ** 11;

export const SEATS: SideRows = {
  prefix: `${RESERVED_PREFIX}line:`,
  configOf: (config) => (config.kind === "concurrency" ? seatBucket(config) : undefined),
  optionOf: ({ kind }) => (kind === "concurrency" ? 'kind: "concurrency"' : undefined),
};

/** The config that tells when a seat is full, and so says no more than a missing row. */
export function seatBucket(config: ConcurrencyConfig): Bucket {
  return fullAfter(ttlOf(config));
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

/** A ticket behind all tickets of the line, without its fraction. */
export function nextTicket(line: readonly (Row | null)[], now: number): number {
  const last = Math.max(0, ...line.map((row) => Math.floor(Math.abs(row?.used ?? 0))));
  return Math.max(Math.floor(now), last + 1);
}

/** Whether a caller waits in the seat, and was heard of within `seatTtl`. */
export function waits(row: Row | null, seatTtl: number, now: number): row is Row {
  return row !== null && row.used < 0 && now < row.ts + seatTtl;
}

/** When a seat no longer counts, epoch ms. A seat with a slot counts as long as the slot is held. */
export function seatEnd(
  { used, ts }: Row,
  { ttl, seatTtl }: { ttl: number; seatTtl: number },
): number {
  return ts + (used < 0 ? seatTtl : ttl);
}
