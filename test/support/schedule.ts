/** Random schedules of events for one limit on its server. `world.ts` carries them out. */
import fc from "fast-check";
import { DAY, HOUR, MINUTE } from "../../server/index.js";

const count = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.double({ min: 0.01, max: 3, noNaN: true }),
);
/** Above 0: the server writes nothing for a count of 0, so it rounds in fewer steps then. */
const some = count.filter((tokens) => tokens > 0);
/** The values that pick two shards, in thousandths. */
const dice = fc.tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 999 }));
/** How the observer learns what other callers did. */
const delivery = fc.constantFrom("asked", "pushed");

/** The events of one visitor's limit. */
export const anyEvent = fc.oneof(
  // Others take tokens, get some back, or an operator clears the limit.
  fc.record({ act: fc.constant("limit"), count, reserve: fc.boolean(), dice, delivery }),
  fc.record({ act: fc.constant("refund"), count, dice, delivery }),
  fc.record({ act: fc.constant("reset"), delivery }),
  // The visitor's own calls, which need no message: one that is sent, one that is denied unless the
  // limit is full, and one that is not sent in the end.
  fc.record({ act: fc.constant("send"), count: some, dice, isCrossed: fc.boolean() }),
  fc.record({ act: fc.constant("denial"), dice }),
  fc.record({ act: fc.constant("give back"), count }),
  // A call that never arrives: a later snapshot does not include it.
  fc.record({ act: fc.constant("debit"), count, delivery: fc.constant("asked") }),
  fc.record({
    act: fc.constant("pass"),
    ms: fc.oneof(
      fc.integer({ min: 0, max: 20_000 }),
      fc.constantFrom(0, 1, 6000, MINUTE, HOUR, DAY),
    ),
  }),
);

/** Steps of a clock: the visitor's, perhaps while the server cannot be asked, or the server's. */
export const anyClockChange = fc.oneof(
  fc.record({
    act: fc.constant("set visitor's"),
    // A smaller step counts as the clocks' own rounding.
    ms: fc.integer({ min: 251, max: 2 * HOUR }).map((ms) => (ms % 2 === 0 ? ms : -ms)),
    isDeaf: fc.boolean(),
  }),
  fc.record({
    act: fc.constant("set server's"),
    ms: fc.oneof(fc.constantFrom(-1, 1), fc.integer({ min: -2 * HOUR, max: 2 * HOUR })),
  }),
);

/** One type with the properties of all steps, so that they are easy to destructure. */
export interface Step {
  act: string;
  count?: number;
  reserve?: boolean;
  dice?: readonly [number, number];
  delivery?: string;
  ms?: number;
  isDeaf?: boolean;
  isCrossed?: boolean;
}
