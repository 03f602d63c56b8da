/** Generates random events for one limit. `world.ts` performs them. */
import fc from "fast-check";
import { DAY, HOUR, MINUTE } from "../../server/index.js";

const count = fc.oneof(
  fc.integer({ min: 0, max: 3 }),
  fc.double({ min: 0.01, max: 3, noNaN: true }),
);
/** The server writes nothing for a count of 0, so its rounding differs. */
const positiveCount = count.filter((tokens) => tokens > 0);
/** The random values that pick two shards, in thousandths. */
const dice = fc.tuple(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 0, max: 999 }));
/** How the observer receives the changes of other callers. */
const delivery = fc.constantFrom("polled", "pushed");

/** The events of one client's limit. */
export const anyEvent = fc.oneof(
  // Other callers take or refund tokens, or an operator resets the limit.
  fc.record({ act: fc.constant("limit"), count, reserve: fc.boolean(), dice, delivery }),
  fc.record({ act: fc.constant("refund"), count, dice, delivery }),
  fc.record({ act: fc.constant("reset"), delivery }),
  // The client's own calls. The client knows their effect without a message. `send` sends a call.
  // `denial` asks for the largest count, so it is denied unless the limit is full. `give back` debits a
  // call and then does not send it.
  fc.record({ act: fc.constant("send"), count: positiveCount, dice, isCrossed: fc.boolean() }),
  fc.record({ act: fc.constant("denial"), dice }),
  fc.record({ act: fc.constant("give back"), count }),
  // A call that never reaches the server. A later snapshot does not include it.
  fc.record({ act: fc.constant("debit"), count, delivery: fc.constant("polled") }),
  fc.record({
    act: fc.constant("pass"),
    ms: fc.oneof(
      fc.integer({ min: 0, max: 20_000 }),
      fc.constantFrom(0, 1, 6000, MINUTE, HOUR, DAY),
    ),
  }),
);

/** A step of the client's clock, perhaps while it is offline, or of the server's clock. */
export const anyClockChange = fc.oneof(
  fc.record({
    act: fc.constant("set client's"),
    // The observer treats smaller steps as rounding.
    ms: fc.integer({ min: 251, max: 2 * HOUR }).map((ms) => (ms % 2 === 0 ? ms : -ms)),
    isOffline: fc.boolean(),
  }),
  fc.record({
    act: fc.constant("set server's"),
    ms: fc.oneof(fc.constantFrom(-1, 1), fc.integer({ min: -2 * HOUR, max: 2 * HOUR })),
  }),
);

/** One type with the properties of all steps, so that a step can be destructured. */
export interface Step {
  act: string;
  count?: number;
  reserve?: boolean;
  dice?: readonly [number, number];
  delivery?: string;
  ms?: number;
  isOffline?: boolean;
  isCrossed?: boolean;
}
