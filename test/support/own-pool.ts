/**
 * A process that takes a token by a pool of the store's own, and disconnects nothing. It ends when nothing
 * keeps it alive. Argument: the URL of the database.
 */
import { PrismaPg } from "@prisma/adapter-pg";
import { PrismaClient } from "../../prisma/generated/postgresql/client.js";
import { createRateLimiter, MINUTE, prismaStore } from "../../server/index.js";

// An idle connection of the pool would keep the process for a minute.
const settings = { connectionString: process.argv[2]!, idleTimeoutMillis: MINUTE };
const limiter = createRateLimiter({
  store: prismaStore(new PrismaClient({ adapter: new PrismaPg(settings) }), { pool: "own" }),
  limits: { few: { kind: "token bucket", rate: 10, period: MINUTE } },
});
const { ok } = await limiter.limit("few");
console.log(ok);
