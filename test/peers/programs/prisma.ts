import { PrismaPg } from "@prisma/adapter-pg";
import { createRateLimiter, HOUR, prismaStore } from "trpc-rate-limit/server";
import { PrismaClient } from "./generated/wasm.js";

const adapter = new PrismaPg({ connectionString: process.argv[2]! });
const prisma = new PrismaClient({ adapter });
const limiter = createRateLimiter({
  store: prismaStore(prisma),
  limits: { few: { kind: "token bucket", rate: 3, period: HOUR } },
});

// All at once, so that some conflict.
const calls = Array.from({ length: 12 }, () =>
  limiter.transaction(async ({ tx, limit }) => {
    await tx.rateLimit.count();
    return limit("few", { key: "ann" });
  }),
);
const granted = (await Promise.all(calls)).filter(({ ok }) => ok).length;
const after = await limiter.limit("few", { key: "ann" });
console.log(`${granted === 3 ? "granted" : granted}, then ${after.ok ? "granted" : "denied"}`);
process.exit(0);
