import mysql from "mysql2/promise";
import { createRateLimiter, HOUR, mysqlStore } from "trpc-rate-limit/server";

const pool = mysql.createPool(process.argv[2]!);
const limiter = createRateLimiter({
  store: mysqlStore(pool),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  await tx.query("SELECT 1");
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
await pool.end();
