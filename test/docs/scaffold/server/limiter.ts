import { createRateLimiter, MINUTE, prismaStore } from "trpc-rate-limit/server";
import { prisma } from "./prisma.js";

export const limiter = createRateLimiter({
  store: prismaStore(prisma),
  limits: { sendMessage: { kind: "token bucket", rate: 10, period: MINUTE, capacity: 3 } },
});
