import { createRateLimiter, HOUR, prismaStore } from "trpc-rate-limit/server";
import type { PrismaClient } from "./generated/index.js";

declare const prisma: PrismaClient;
const limiter = createRateLimiter({
  store: prismaStore(prisma),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  await tx.rateLimit.count();
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
