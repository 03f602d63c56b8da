import { Kysely, PostgresDialect } from "kysely";
import pg from "pg";
import { kyselyStore, type RateLimitTable } from "trpc-rate-limit/kysely";
import { createRateLimiter, HOUR } from "trpc-rate-limit/server";

const pool = new pg.Pool({ connectionString: process.argv[2]! });
const db = new Kysely<{ RateLimit: RateLimitTable }>({ dialect: new PostgresDialect({ pool }) });
const limiter = createRateLimiter({
  store: kyselyStore(db),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  await tx.selectFrom("RateLimit").selectAll().execute();
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
await db.destroy();
