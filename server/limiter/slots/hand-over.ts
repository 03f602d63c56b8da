/** Releases a slot for which callers may wait in line. */
import { nonceOf, waits } from "../../../core/rows/seat.js";
import { handedValue, inLine, isHolder, marked } from "../../../core/rows/slot.js";
import type { Environment } from "../claims/environment.js";
import { type Claim, ClaimDecision } from "../claims/draft.js";
import type { Holder } from "./slot-decisions.js";
import type { SlotsLimit } from "./slots-limit.js";

/**
 * Gives a slot to the first caller in line, or frees the slot where no caller waits. The slot is then
 * held for the first caller, for as long as a caller in line may be silent.
 */
export function handOver(
  limit: SlotsLimit,
  { shard, value, writtenAt }: Holder,
  { clock }: Pick<Environment, "clock">,
): ClaimDecision<"released" | "not held"> {
  const { counted, ttl, seatTtl } = limit;
  const row = counted[shard]!;
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
