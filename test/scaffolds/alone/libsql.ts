import { createClient } from "@libsql/client";
import { createRateLimiter, HOUR, sqliteStore } from "trpc-rate-limit/server";

const client = createClient({ url: process.argv[2]! });
const limiter = createRateLimiter({
  store: sqliteStore(client),
  limits: { few: { kind: "token bucket", rate: 1, period: HOUR } },
});

const first = await limiter.transaction(async ({ tx, limit }) => {
  await tx.execute("SELECT 1");
  return limit("few", { key: "ann" });
});
const second = await limiter.limit("few", { key: "ann" });
console.log(`${first.ok ? "granted" : "denied"}, then ${second.ok ? "granted" : "denied"}`);
client.close();
