/**
 * The line of the callers that wait for a slot, first come, first served, over all processes. Each caller
 * has a seat (see `core/rows/seat.ts`). A caller that joins marks all slots (see `core/rows/slot.ts`), so
 * that no caller passes the line. An entry that finds the mark reads the line first, and a slot that is
 * released is handed to the first in line.
 */
import type { Row } from "../../../core/rows/row.js";
import { nextTicket, nonceOf, seatEnd, ticketFraction, waits } from "../../../core/rows/seat.js";
import {
  handedValue,
  heldValue,
  inLine,
  isFree,
  isHolder,
  marked,
  slotsHeld,
  waitForSlot,
} from "../../../core/rows/slot.js";
import type { RowId } from "../../store/store.js";
import type { Environment } from "../claims/environment.js";
import { type Claim, ClaimDecision, type Draft } from "../claims/draft.js";
import { type Entered, heldBefore, type Holder } from "./slot-decisions.js";
import type { SlotsLimit } from "./slots-limit.js";

/** A caller's place in the line. */
export interface Seat {
  /** The index of the seat's row. */
  shard: number;
  ticket: number;
  /** The instants at which the caller may have taken a slot, epoch ms. */
  enteredAt: number[];
}

/** The state of a caller in line between two decisions. */
export interface InLine {
  seat: Seat | undefined;
  /** Whether the caller goes on waiting. If not, the caller leaves the line. */
  stays: boolean;
  /** Whether the caller takes over a slot that has its nonce. */
  isNamed?: boolean;
}

type MaybeRow = Row | null;

/**
 * Looks at the caller's place, and enters if its turn has come. If not, the caller joins the line, or
 * leaves it where `stays` is false.
 */
export function lineDecision(
  limit: SlotsLimit,
  caller: InLine,
  nonce: number,
  { clock, random }: Pick<Environment, "clock" | "random">,
): ClaimDecision<Entered> {
  return new ClaimDecision(new LineClaim(limit, caller, nonce, random), clock);
}

class LineClaim implements Claim<Entered> {
  readonly rows: readonly RowId[];
  readonly #seats: readonly RowId[];
  /** The digits behind the point of the caller's ticket. */
  readonly #fraction: number;
  /**
   * The value that the caller writes to its slot. The value has a nonce of its own, and not the ticket's:
   * two callers that join and enter in the same ms may share a ticket's nonce, and each would take the
   * slot for its own.
   */
  readonly #held: number;

  constructor(
    private readonly limit: SlotsLimit,
    private readonly caller: InLine,
    nonce: number,
    random: () => number,
  ) {
    this.#seats = limit.seats();
    this.rows = [...limit.rows, ...this.#seats];
    this.#fraction = ticketFraction(random());
    this.#held = heldValue(nonce, limit.ttl);
  }

  attempt(draft: Draft, now: number): Entered {
    const { rows, ttl, seatTtl, seen } = this.limit;
    const slots = rows.map((row, shard) => (seen[shard] = draft.peek(row)));
    const line = this.#seats.map((row) => draft.peek(row));
    const free = slots.flatMap((slot, i) => (isFree(slot, ttl, now) ? [i] : []));

    const { seat, stays } = this.caller;
    const own = seat && line[seat.shard];
    const isWaiting = seat !== undefined && own?.used === -seat.ticket;
    const others = line.filter((row, i): row is Row => {
      return !(isWaiting && i === seat.shard) && waits(row, seatTtl, now);
    });
    /** @param left the seat that the caller leaves for the slot. */
    const enter = (shard: number, left: Seat | undefined): Entered => {
      // Guards all slots, as in `EnterClaim`.
      if (this.caller.isNamed) for (const row of rows) draft.read(row);
      const next = { used: others.length > 0 ? inLine(this.#held) : this.#held, ts: now };
      draft.write(rows[shard]!, next);
      seen[shard] = next;
      if (left !== undefined) draft.write(this.#seats[left.shard]!, null);
      const writtenAt = seat?.enteredAt ?? [];
      writtenAt.push(now);
      const value = free.filter((other) => other !== shard).length;
      return { kind: "entered", holder: { shard, value: this.#held, writtenAt }, value, now };
    };

    if (seat !== undefined && !isWaiting) {
      // The answer of an earlier try was lost.
      const taken = slots.findIndex((slot) => isHolder(slot, this.#held, seat.enteredAt));
      if (taken !== -1) return enter(taken, undefined);
      if (own?.used === seat.ticket) {
        const handed = handedValue(nonceOf(seat.ticket));
        const given = slots.findIndex((slot) => isHolder(slot, handed, [own.ts]));
        if (given !== -1) return enter(given, seat);
        // The caller is too late: the slot was free again, and another caller has the slot.
        draft.write(this.#seats[seat.shard]!, null);
      }
    }

    const before = this.caller.isNamed ? heldBefore(rows, slots, this.#held, ttl, now) : undefined;
    if (before !== undefined) {
      draft.write(before.row, before.next);
      seen[before.row.shard] = before.next;
      if (isWaiting) draft.write(this.#seats[seat.shard]!, null);
      const holder = {
        shard: before.row.shard,
        value: this.#held,
        writtenAt: [...(seat?.enteredAt ?? []), before.next.ts],
      };
      return { kind: "entered", holder, value: free.length, now };
    }

    const ahead = isWaiting ? others.filter(({ used }) => used > -seat.ticket) : others;
    const place = ahead.length + 1;
    if (free.length >= place) return enter(free[0]!, isWaiting ? seat : undefined);
    if (isWaiting) {
      const row = this.#seats[seat.shard]!;
      if (!stays) draft.write(row, null);
      else if (now > own.ts + seatTtl / 3) draft.write(row, { used: own.used, ts: now });
    }
    if (stays && (isWaiting || this.#join(draft, slots, line, now))) {
      return { kind: "waiting", place };
    }
    const { value, ends } = slotsHeld(slots, ttl, now);
    const retryAfter = waitForSlot(ends, ttl, now);
    return { kind: "denied", retryAfter, value: Math.max(0, value - ahead.length), ends, now };
  }

  /** @returns whether a seat was vacant. */
  #join(draft: Draft, slots: readonly MaybeRow[], line: readonly MaybeRow[], now: number): boolean {
    const { rows, ttl } = this.limit;
    const vacant = line.findIndex((row) => row === null || now >= seatEnd(row, this.limit));
    if (vacant === -1) return false;
    const ticket = nextTicket(line, now) + this.#fraction;
    this.caller.seat = { shard: vacant, ticket, enteredAt: [] };
    draft.write(this.#seats[vacant]!, { used: -ticket, ts: now });
    // All slots are written, which also guards them: no slot may be released without a look at the line.
    for (const [i, row] of rows.entries()) draft.write(row, marked(slots[i]!, ttl, now));
    return true;
  }
}

/**
 * Gives a slot to the first caller in line, or frees the slot where no caller waits. The slot is then
 * held for the first caller, for as long as a caller in line may be silent.
 */
export function handOver(
  limit: SlotsLimit,
  { shard, value, writtenAt }: Holder,
  { clock }: Pick<Environment, "clock">,
): ClaimDecision<"released" | "not held"> {
  const { rows, ttl, seatTtl } = limit;
  const row = rows[shard]!;
  const seats = limit.seats();
  const claim: Claim<"released" | "not held"> = {
    rows: [row, ...seats],
    attempt(draft, now) {
      if (!isHolder(draft.read(row), value, writtenAt)) return "not held";
      const line = seats.map((seat) => draft.peek(seat));
      const tickets = line.map((each) => (waits(each, seatTtl, now) ? -each.used : Infinity));
      const ticket = Math.min(...tickets);
      if (ticket === Infinity) {
        // The row keeps the mark, because a caller may join meanwhile. Measured and rejected: guarding
        // the seats, so that the row can be deleted (+5 ms and more on PostgreSQL).
        draft.write(row, marked(null, ttl, now));
        return "released";
      }
      const ts = now - ttl + seatTtl;
      draft.write(row, { used: inLine(handedValue(nonceOf(ticket))), ts });
      draft.write(seats[tickets.indexOf(ticket)]!, { used: ticket, ts });
      return "released";
    },
  };
  return new ClaimDecision(claim, clock);
}
