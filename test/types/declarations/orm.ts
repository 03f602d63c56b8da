/** Exports of applications that contain their ORMs and frameworks. */
import { metrics } from "@opentelemetry/api";
import { drizzle } from "drizzle-orm/node-postgres";
import { Hono } from "hono";
import { Kysely, PostgresDialect } from "kysely";
import { Pool } from "pg";
import { drizzleStore } from "trpc-rate-limit/drizzle";
import { createRateLimitHono } from "trpc-rate-limit/hono";
import { kyselyStore, type RateLimitTable } from "trpc-rate-limit/kysely";
import { rateLimitMetrics } from "trpc-rate-limit/otel";
import { redisStore } from "trpc-rate-limit/redis";
import { createRateLimiter, ipKey, MINUTE, prismaStore, sqlStore } from "trpc-rate-limit/server";

const limits = { few: { kind: "token bucket", rate: 10, period: MINUTE } } as const;
const pool = new Pool();
export const kysely = new Kysely<{ RateLimit: RateLimitTable }>({
  dialect: new PostgresDialect({ pool }),
});
export const kyselyLimits = kyselyStore(kysely, { pool });
export const onKysely = createRateLimiter({ store: kyselyLimits, limits });
export const throughKysely = () => onKysely.transaction(async ({ tx }) => tx);

export const db = drizzle({ client: pool });
export const drizzleLimits = drizzleStore(db);
export const onDrizzle = createRateLimiter({ store: drizzleLimits, limits });
export const throughDrizzle = () => onDrizzle.transaction(async ({ tx }) => tx);

export const onPrisma = (client: Parameters<typeof prismaStore>[0]) => prismaStore(client);
export const ofDriver = (driver: Parameters<typeof sqlStore>[0]) => sqlStore(driver);
export const onRedis = (client: Parameters<typeof redisStore>[0]) => redisStore(client);

export const measured = rateLimitMetrics({ meter: metrics.getMeter("limits") });
export const hono = createRateLimitHono({ limiter: onDrizzle, key: () => ipKey("127.0.0.1") });
export const { rateLimited } = hono;
export const limited = rateLimited("few", { on: "error" });
export const app = new Hono().post("/", limited, (c) => c.json(c.var.rateLimit));
