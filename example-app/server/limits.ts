/** The limits, named once; procedures, hooks and errors know these names. */
import { createRateLimiter, MINUTE, prismaStore } from "trpc-rate-limit/server";
import type { PrismaClient } from "../generated/prisma/client.js";

export function createLimiter(prisma: PrismaClient) {
  return createRateLimiter({
    store: prismaStore(prisma),
    limits: {
      sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 },
    },
  });
}
