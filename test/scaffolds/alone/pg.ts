import pg from "pg";
import { createRateLimiter, HOUR, pgStore } from "trpc-rate-limit/server";

const pool = new pg.Pool({ connectionString: process.argv[2]! });
const limiter = createRateLimiter({
  store: pgStore(pool),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  await tx.query("SELECT 1");
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
await pool.end();
