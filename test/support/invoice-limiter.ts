/** The limiter of the guide about invoices, in memory and on a clock that a test moves. */
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, DAY, memoryStore, MINUTE } from "../../server/index.js";

export const clock = createManualClock();

export const limiter = createRateLimiter({
  store: memoryStore(),
  limits: {
    llmTokens: {
      kind: "token bucket",
      rate: 40_000,
      period: MINUTE,
      holds: true,
      usage: { keep: 400 * DAY, changes: true },
    },
  },
  clock,
});
