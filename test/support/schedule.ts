/** Random schedules of what happens to one limit on its server. See `world.ts` for how it happens. */
import fc from "fast-check";
import { DAY, HOUR, MINUTE } from "../../server/index.js";

const count = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.double({ min: 0.01, max: 3, noNaN: true }),
);
/** The server writes nothing for a call that takes nothing, so it rounds in fewer steps then. */
const some = count.filter((tokens) => tokens > 0);
/** What picks two shards, in thousandths. */
const dice = fc.tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 999 }));
/** How the observer hears of what others did. */
const news = fc.constantFrom("asked", "pushed");

/** What can happen to the limit of one visitor. */
export const anyEvent = fc.oneof(
  // Others take tokens, get some back, or an operator clears the limit.
  fc.record({ act: fc.constant("limit"), count, reserve: fc.boolean(), dice, news }),
  fc.record({ act: fc.constant("refund"), count, dice, news }),
  fc.record({ act: fc.constant("reset"), news }),
  // The visitor's own calls, which nobody has to tell of: those that are sent, one that is refused
  // for sure where the limit is not full, and one that is not sent in the end.
  fc.record({ act: fc.constant("send"), count: some, dice, isCrossed: fc.boolean() }),
  fc.record({ act: fc.constant("refusal"), dice }),
  fc.record({ act: fc.constant("give back"), count }),
  // And one that never arrives: what is read later does not know of it.
  fc.record({ act: fc.constant("debit"), count, news: fc.constant("asked") }),
  fc.record({
    act: fc.constant("pass"),
    ms: fc.oneof(
      fc.integer({ min: 0, max: 20_000 }),
      fc.constantFrom(0, 1, 6000, MINUTE, HOUR, DAY),
    ),
  }),
);

/** The clocks are set: the visitor's, perhaps while the server cannot be asked, or the server's. */
export const anyClockChange = fc.oneof(
  fc.record({
    act: fc.constant("set visitor's"),
    // Less than this is taken for the clocks' own rounding.
    ms: fc.integer({ min: 251, max: 2 * HOUR }).map((ms) => (ms % 2 === 0 ? ms : -ms)),
    isDeaf: fc.boolean(),
  }),
  fc.record({
    act: fc.constant("set server's"),
    ms: fc.oneof(fc.constantFrom(-1, 1), fc.integer({ min: -2 * HOUR, max: 2 * HOUR })),
  }),
);

/** One object with all that any of the steps has, so that they are easy to take apart. */
export interface Step {
  act: string;
  count?: number;
  reserve?: boolean;
  dice?: readonly [number, number];
  news?: string;
  ms?: number;
  isDeaf?: boolean;
  isCrossed?: boolean;
}
