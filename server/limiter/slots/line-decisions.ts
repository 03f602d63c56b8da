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
import { type Entered, heldBefore } from "./slot-decisions.js";
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

/** The slots and the line, as an attempt sees them. */
interface Look {
  draft: Draft;
  now: number;
  slots: readonly (Row | null)[];
  line: readonly (Row | null)[];
  /** The indexes of the slots that are free. */
  free: readonly number[];
  /** The caller's seat, if the caller waits in it. */
  waiting: Seat | undefined;
  /** The seats of the other callers that wait. */
  others: readonly Row[];
  /** Those of the callers that are before this caller. */
  ahead: readonly Row[];
}

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
    this.rows = [...limit.counted, ...this.#seats];
    this.#fraction = ticketFraction(random());
    this.#held = heldValue(nonce, limit.ttl);
  }

  attempt(draft: Draft, now: number): Entered {
    const look = this.#look(draft, now);
    return (
      this.#enterGiven(look) ??
      this.#takeOver(look) ??
      this.#enterInTurn(look) ??
      this.#wait(look) ??
      this.#denied(look)
    );
  }

  #look(draft: Draft, now: number): Look {
    const { rows, counted, ttl, seatTtl, seen } = this.limit;
    const slots = counted.map((row, shard) => (seen[shard] = draft.peek(row)));
    const line = this.#seats.map((row) => draft.peek(row));
    const { value } = slotsHeld(slots, ttl, now, rows.length);
    const all = slots.flatMap((slot, i) => (isFree(slot, ttl, now) ? [i] : []));
    const free = all.slice(0, value);
    const { seat } = this.caller;
    const own = seat && line[seat.shard];
    const waiting = seat !== undefined && own?.used === -seat.ticket ? seat : undefined;
    const others = line.filter((row, i): row is Row => {
      return i !== waiting?.shard && waits(row, seatTtl, now);
    });
    const ahead = waiting ? others.filter(({ used }) => used > -waiting.ticket) : others;
    return { draft, now, slots, line, free, waiting, others, ahead };
  }

  /** Enters the slot that the caller was given: by an earlier try whose answer was lost, or in line. */
  #enterGiven(look: Look): Entered | undefined {
    const { draft, slots, line, waiting } = look;
    const { seat } = this.caller;
    if (seat === undefined || waiting !== undefined) return undefined;
    const taken = slots.findIndex((slot) => isHolder(slot, this.#held, seat.enteredAt));
    if (taken !== -1) return this.#enter(look, taken, undefined);
    const own = line[seat.shard];
    if (own?.used !== seat.ticket) return undefined;
    const handed = handedValue(nonceOf(seat.ticket));
    const given = slots.findIndex((slot) => isHolder(slot, handed, [own.ts]));
    if (given !== -1) return this.#enter(look, given, seat);
    // The caller is too late: the slot was free again, and another caller has the slot.
    draft.write(this.#seats[seat.shard]!, null);
    return undefined;
  }

  /** Takes over the slot that an earlier call with the same id holds. */
  #takeOver({ draft, now, slots, free, waiting }: Look): Entered | undefined {
    const { counted, ttl, seen } = this.limit;
    if (!this.caller.isNamed) return undefined;
    const before = heldBefore(counted, slots, this.#held, ttl, now);
    if (before === undefined) return undefined;
    const { shard } = before.row;
    draft.write(before.row, before.next);
    seen[shard] = before.next;
    if (waiting !== undefined) draft.write(this.#seats[waiting.shard]!, null);
    const writtenAt = [...(this.caller.seat?.enteredAt ?? []), before.next.ts];
    const holder = { shard, value: this.#held, writtenAt };
    return { kind: "entered", holder, value: free.length, now };
  }

  #enterInTurn(look: Look): Entered | undefined {
    const { free, waiting, ahead } = look;
    return free.length > ahead.length ? this.#enter(look, free[0]!, waiting) : undefined;
  }

  /** @param left the seat that the caller leaves for the slot. */
  #enter({ draft, now, free, others }: Look, shard: number, left: Seat | undefined): Entered {
    const { rows, counted, seen } = this.limit;
    // Guards all slots, as in `EnterClaim`.
    if (this.caller.isNamed || counted.length > rows.length)
      for (const row of counted) draft.read(row);
    const next = { used: others.length > 0 ? inLine(this.#held) : this.#held, ts: now };
    draft.write(counted[shard]!, next);
    seen[shard] = next;
    if (left !== undefined) draft.write(this.#seats[left.shard]!, null);
    const writtenAt = this.caller.seat?.enteredAt ?? [];
    writtenAt.push(now);
    const value = free.filter((other) => other !== shard).length;
    return { kind: "entered", holder: { shard, value: this.#held, writtenAt }, value, now };
  }

  /** Keeps the caller's seat or takes one, or leaves the seat where the caller no longer waits. */
  #wait(look: Look): Entered | undefined {
    const { draft, now, line, waiting, ahead } = look;
    const { stays } = this.caller;
    if (waiting !== undefined) {
      const { used, ts } = line[waiting.shard]!;
      const row = this.#seats[waiting.shard]!;
      if (!stays) draft.write(row, null);
      else if (now > ts + this.limit.seatTtl / 3) draft.write(row, { used, ts: now });
    }
    if (!stays || (waiting === undefined && !this.#join(look))) return undefined;
    return { kind: "waiting", place: ahead.length + 1 };
  }

  /** @returns whether a seat was vacant. */
  #join({ draft, now, slots, line }: Look): boolean {
    const { counted, ttl } = this.limit;
    const vacant = line.findIndex((row) => row === null || now >= seatEnd(row, this.limit));
    if (vacant === -1) return false;
    const ticket = nextTicket(line, now) + this.#fraction;
    this.caller.seat = { shard: vacant, ticket, enteredAt: [] };
    draft.write(this.#seats[vacant]!, { used: -ticket, ts: now });
    // All slots are written, which also guards them: no slot may be released without a look at the line.
    for (const [i, row] of counted.entries()) draft.write(row, marked(slots[i]!, ttl, now));
    return true;
  }

  #denied({ now, slots, ahead }: Look): Entered {
    const { ttl, rows } = this.limit;
    const { value, ends } = slotsHeld(slots, ttl, now, rows.length);
    const retryAfter = waitForSlot(ends, ttl, now);
    return { kind: "denied", retryAfter, value: Math.max(0, value - ahead.length), ends, now };
  }
}
