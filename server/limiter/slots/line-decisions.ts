/**
 * The line of those who wait for a slot, first come, first served, over all processes. A seat is a row:
 *
 * - `value`: minus the caller's ticket. Tickets are instants, so they follow each other, with a nonce
 *   behind the point. It turns positive when a slot was handed over to the caller.
 * - `ts`: when the caller was last heard of. Of a caller who got a slot: the `ts` of that slot's row,
 *   which tells the caller which slot it is.
 *
 * Who joins marks all slots (see `core/slots.ts`), so that no caller passes the line: an entry that
 * finds the mark reads the line first, and a slot that is released is handed to the first in line.
 */
import type { RateLimitState } from "../../../core/calculate.js";
import {
  handedValue,
  heldValue,
  inLine,
  isFree,
  isHolder,
  marked,
  slotsHeld,
  waitForSlot,
} from "../../../core/slots.js";
import type { Decision, Outcome } from "../../store/store.js";
import type { Environment } from "../context.js";
import type { Entered, Holder } from "./slot-decisions.js";
import type { SlotsLimit } from "./slots-limit.js";

/** A caller's place in the line. */
export interface Seat {
  /** The index of its row. */
  shard: number;
  ticket: number;
  /** The instants at which it may have taken a slot, epoch ms. */
  enteredAt: number[];
}

/** What a caller in line has at hand between two decisions. */
export interface InLine {
  seat: Seat | undefined;
  /** Whether the caller goes on waiting. If not, it leaves the line. */
  stays: boolean;
}

type Row = RateLimitState | null;

/** Nonces of tickets, after the point. An instant with that fraction is exact until the year 2109. */
const NONCES = 2 ** 11;

function nonceOf(ticket: number): number {
  return 1 + Math.round((ticket - Math.floor(ticket)) * NONCES);
}

/** Looks where the caller stands, and enters if it is its turn. Joins the line if it stays. */
export function lineDecision(
  limit: SlotsLimit,
  caller: InLine,
  nonce: number,
  { clock, random }: Pick<Environment, "clock" | "random">,
): Decision<Entered> {
  const { rows, seats, lease, seatLease, seen } = limit;
  const fraction = Math.floor(random() * NONCES) / NONCES;
  // Not the nonce of the ticket: two callers who join and enter in the same ms may share that one,
  // and each would take the slot for its own.
  const held = heldValue(nonce, lease);

  return {
    rows: [...rows, ...seats],
    decide(states): Outcome<Entered> {
      const now = clock();
      const slots = states.slice(0, rows.length);
      const line = states.slice(rows.length);
      for (const [shard, state] of slots.entries()) seen[shard] = state;
      const writes: (Row | undefined)[] = states.map(() => undefined);
      const writeSeat = (at: number, row: Row) => void (writes[rows.length + at] = row);
      const free = slots.flatMap((slot, i) => (isFree(slot, lease, now) ? [i] : []));

      const { seat } = caller;
      const own = seat && line[seat.shard];
      const isWaiting = seat !== undefined && own?.value === -seat.ticket;
      const others = line.filter((row, i) => {
        const isOther = !(isWaiting && i === seat.shard);
        return row !== null && isOther && row.value < 0 && now < row.ts + seatLease;
      }) as RateLimitState[];

      /** @param at the seat that the caller leaves for the slot. */
      const enter = (shard: number, at: Seat | undefined): Outcome<Entered> => {
        const next = { value: others.length > 0 ? inLine(held) : held, ts: now };
        writes[shard] = seen[shard] = next;
        if (at !== undefined) writeSeat(at.shard, null);
        const writtenAt = seat?.enteredAt ?? [];
        writtenAt.push(now);
        const value = free.filter((other) => other !== shard).length;
        const holder: Holder = { shard, value: held, writtenAt };
        return { result: { kind: "entered", holder, value, now }, writes };
      };

      if (seat !== undefined && !isWaiting) {
        // The answer of an earlier try was lost.
        const taken = slots.findIndex((slot) => isHolder(slot, held, seat.enteredAt));
        if (taken !== -1) return enter(taken, undefined);
        if (own?.value === seat.ticket) {
          const handed = handedValue(nonceOf(seat.ticket));
          const given = slots.findIndex((slot) => isHolder(slot, handed, [own.ts]));
          if (given !== -1) return enter(given, seat);
          // Too late: the slot was free again, and another caller has it.
          writeSeat(seat.shard, null);
        }
      }

      const ahead = isWaiting ? others.filter(({ value }) => value > -seat.ticket) : others;
      const place = ahead.length + 1;
      if (free.length >= place) return enter(free[0]!, isWaiting ? seat : undefined);
      const denied = () => {
        const { value, ends } = slotsHeld(slots, lease, now);
        const retryAfter = waitForSlot(ends, lease, now);
        return {
          kind: "denied",
          retryAfter,
          value: Math.max(0, value - ahead.length),
          ends,
          now,
        } as const;
      };
      if (!caller.stays) {
        if (isWaiting) writeSeat(seat.shard, null);
        return { result: denied(), writes };
      }
      if (isWaiting) {
        if (now > own.ts + seatLease / 3) writeSeat(seat.shard, { value: own.value, ts: now });
        return { result: { kind: "waiting", place }, writes };
      }
      const vacant = line.findIndex((row) => row === null || now >= seatEnd(row, limit));
      if (vacant === -1) return { result: denied(), writes };
      const last = Math.max(0, ...line.map((row) => Math.floor(Math.abs(row?.value ?? 0))));
      const ticket = Math.max(Math.floor(now), last + 1) + fraction;
      caller.seat = { shard: vacant, ticket, enteredAt: [] };
      writeSeat(vacant, { value: -ticket, ts: now });
      // All of them are written, which also guards them: none may be released without a look at the line.
      for (const [i, slot] of slots.entries()) writes[i] = marked(slot, lease, now);
      return { result: { kind: "waiting", place }, writes };
    },
  };
}

/** When a seat no longer counts, epoch ms. A seat with a slot counts as long as the slot is held. */
function seatEnd({ value, ts }: RateLimitState, { lease, seatLease }: SlotsLimit): number {
  return ts + (value < 0 ? seatLease : lease);
}

/**
 * Gives a slot to the first in line, or deletes its row where no caller waits. The slot is held for the
 * caller from now on, for as long as a caller in line may be silent.
 */
export function handOver(
  limit: SlotsLimit,
  { shard, value, writtenAt }: Holder,
  { clock }: Pick<Environment, "clock">,
): Decision<"released" | "not held"> {
  const { rows, seats, lease, seatLease } = limit;
  return {
    rows: [rows[shard]!, ...seats],
    decide([slot, ...line]) {
      if (!isHolder(slot!, value, writtenAt)) return { result: "not held" };
      const now = clock();
      let first = -1;
      for (const [i, row] of line.entries()) {
        if (row === null || row.value >= 0 || now >= row.ts + seatLease) continue;
        if (first === -1 || row.value > line[first]!.value) first = i;
      }
      if (first === -1) return { result: "released", writes: [null, ...line.map(() => undefined)] };
      const ticket = -line[first]!.value;
      const ts = now - lease + seatLease;
      const next = { value: inLine(handedValue(nonceOf(ticket))), ts };
      return {
        result: "released",
        writes: [next, ...line.map((_, i) => (i === first ? { value: ticket, ts } : undefined))],
      };
    },
  };
}
