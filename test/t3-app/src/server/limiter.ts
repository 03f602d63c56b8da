import { drizzleStore } from "trpc-rate-limit/drizzle";
import { createRateLimiter, HOUR, MINUTE } from "trpc-rate-limit/server";

import { db } from "~/server/db";
import { rateLimits } from "~/server/db/schema";

const createLimiter = () =>
  createRateLimiter({
    store: drizzleStore(db, { table: rateLimits }),
    limits: {
      createPost: { kind: "token bucket", rate: 6, period: MINUTE, capacity: 3 },
      readReport: { kind: "token bucket", rate: 2, period: HOUR },
      feedback: { kind: "token bucket", rate: 2, period: HOUR },
    },
  });

/** Next bundles route handlers and pages apart: without this, each has its own limiter. */
const globalForLimiter = globalThis as unknown as {
  limiter: ReturnType<typeof createLimiter> | undefined;
};

export const limiter = (globalForLimiter.limiter ??= createLimiter());
