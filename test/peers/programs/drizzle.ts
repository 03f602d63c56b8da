import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import postgres from "postgres";
import { drizzleStore } from "trpc-rate-limit/drizzle";
import { createRateLimiter, HOUR } from "trpc-rate-limit/server";

const client = postgres(process.argv[2]!);
const db = drizzle(client);
const limiter = createRateLimiter({
  store: drizzleStore(db),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  await tx.execute(sql`SELECT 1`);
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
await client.end();
