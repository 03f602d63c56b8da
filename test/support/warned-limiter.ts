/** A limiter in memory for the guide about warnings. Its time passes only when a test advances it. */
import { createManualClock } from "../../core/testing.js";
import { createRateLimiter, memoryStore } from "../../server/index.js";

export const clock = createManualClock(Date.UTC(2030, 3, 12));
export const limiter = createRateLimiter({
  store: memoryStore(),
  clock,
  logger: false,
  limits: {
    pictures: { kind: "fixed window", rate: 500, period: "month", start: 0, warnAt: [0.8, 1] },
  },
});
