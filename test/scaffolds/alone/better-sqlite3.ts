import Database from "better-sqlite3";
import { createRateLimiter, HOUR, sqliteStore } from "trpc-rate-limit/server";

const open = () => new Database(process.argv[2]!);
const limiter = createRateLimiter({
  store: sqliteStore(open(), { open }),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  tx.prepare("SELECT 1").get();
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
