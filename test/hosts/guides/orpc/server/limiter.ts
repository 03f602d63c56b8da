import { createRateLimiter, DAY, memoryStore } from "trpc-rate-limit/server";

export const limiter = createRateLimiter({
  store: memoryStore(),
  limits: { sendMessage: { kind: "token bucket", rate: 3, period: 1000 * DAY } },
});
